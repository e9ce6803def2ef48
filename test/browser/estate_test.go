//go:build e2e

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// An estate is a cluster in a file, and the declarations in a folder.
type estate struct {
	// access is server.access of the configuration.
	access string
	// more is the rest of the configuration.
	more string
	live []map[string]any
	// declared are manifests.
	declared []map[string]any
}

// A configMap is a ConfigMap as written by its field manager.
func configMap(namespace, name, manager string, data map[string]any) map[string]any {
	fields := map[string]any{}
	for key := range data {
		fields["f:"+key] = map[string]any{}
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data, "metadata": map[string]any{
		"namespace": namespace, "name": name, "uid": "00000000-0000-4000-8000-" + fmt.Sprintf("%012x", len(namespace)*1000+len(name)), "creationTimestamp": "2026-03-01T10:00:00Z",
		"managedFields": []any{map[string]any{"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "2026-03-01T11:00:00Z",
			"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:data": fields}}}}}
}

// manifest returns the declaration of a ConfigMap.
func manifest(namespace, name string, data map[string]any) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": namespace, "name": name}, "data": data}
}

// drifted returns an estate of ConfigMaps, each of them changed by nina.
func drifted(n int) estate {
	var e estate
	for i := range n {
		name := fmt.Sprintf("config-%03d", i)
		e.declared = append(e.declared, manifest("shop", name, map[string]any{"feature": "on", "number": fmt.Sprint(i)}))
		e.live = append(e.live, configMap("shop", name, "nina", map[string]any{"feature": "off", "number": fmt.Sprint(i)}))
	}
	return e
}

// files returns the files with which a daemon serves the estate.
func (e estate) files(t *testing.T) map[string]string {
	t.Helper()
	access := e.access
	if access == "" {
		access = "{loopback: approver}"
	}
	namespace := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop"}}
	cluster, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": append([]map[string]any{namespace}, e.live...)})
	if err != nil {
		t.Fatal(err)
	}
	var manifests strings.Builder
	for _, object := range e.declared {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		manifests.WriteString("---\n" + string(text) + "\n")
	}
	return map[string]string{"cluster.json": string(cluster), "deploy/all.yaml": manifests.String(), "driftd.yaml": `state_dir: state
schedule: {every: 1h, jitter: 0s}
server: {listen: "$ADDRESS", access: ` + access + `}
sources:
  - {name: prod, type: kubernetes, settings: {dump: cluster.json}}
declarations:
  - {name: git, type: manifests, governs: [prod], settings: {dir: deploy}}
` + e.more}
}

// A found is a finding of the API.
type found struct{ ID, Resource, Verdict, Kind string }

// findings returns the open findings.
func (d *daemon) findings(ctx context.Context, t *testing.T) []found {
	t.Helper()
	_, body, err := d.get(ctx, "/api/v1/findings")
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Findings []found }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatalf("read findings: %v: %.500s", err, body)
	}
	return list.Findings
}

// findingPath returns the path of the page of a resource's finding.
func findingPath(t *testing.T, d *daemon, resource string) string {
	t.Helper()
	for _, f := range d.findings(t.Context(), t) {
		if f.Resource == resource {
			return "/findings/" + f.ID
		}
	}
	t.Fatalf("nothing is found about %s", resource)
	return ""
}
