package kube

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNames(t *testing.T) {
	t.Parallel()
	names := NewNames([]string{"kubernetes/Certificate.cert-manager.io", "kubernetes/Event.acme.io", "kubernetes/Deployment.apps", "proxmox/qemu"})
	for _, tc := range []struct {
		reason, name string
		want         []string
	}{
		{"a short name", "deploy", []string{"kubernetes/Deployment.apps"}},
		{"a plural", "deployments", []string{"kubernetes/Deployment.apps"}},
		{"a plural with its group", "deployments.apps", []string{"kubernetes/Deployment.apps"}},
		{"a kind, in any case", "DEPLOYMENT", []string{"kubernetes/Deployment.apps"}},
		{"a kind with its group", "Ingress.networking.k8s.io", []string{"kubernetes/Ingress.networking.k8s.io"}},
		{"a kind of the core group", "svc", []string{"kubernetes/Service"}},
		{"a custom resource by its plural", "certificates", []string{"kubernetes/Certificate.cert-manager.io"}},
		{"several kinds", "events", []string{"kubernetes/Event", "kubernetes/Event.events.k8s.io", "kubernetes/Event.acme.io"}},
		{"a group makes it unique", "event.acme.io", []string{"kubernetes/Event.acme.io"}},
		{"a kind of another system", "qemu", nil},
		{"an unknown name", "deplyo", nil},
		{"no name", "", nil},
	} {
		if diff := cmp.Diff(tc.want, names.Kinds(tc.name)); diff != "" {
			t.Errorf("%s: Kinds(%q) (-want +got):\n%s", tc.reason, tc.name, diff)
		}
	}
	if all := names.All(); !slices.IsSorted(all) || !slices.Contains(all, "netpol") || !slices.Contains(all, "certificates") {
		t.Errorf("All() = %v", all)
	}
}

// TestNamesOfAPIServer compares the kinds and their plurals with the embedded schemas, in
// which the last part of a path is the plural.
func TestNamesOfAPIServer(t *testing.T) {
	t.Parallel()
	document, err := builtinSchemas()
	if err != nil {
		t.Fatal(err)
	}
	names := NewNames(nil)
	for _, p := range document.At("paths").Fields() {
		gvk, ok := p.Value.At("post").Get("x-kubernetes-group-version-kind")
		_, full := versionAndKind(gvk)
		name := p.Name[strings.LastIndexByte(p.Name, '/')+1:]
		// Subresources and reviews are not stored, so there are no findings about them.
		if !ok || strings.HasSuffix(p.Name, "{name}/"+name) || strings.HasSuffix(name, "reviews") || name == "bindings" {
			continue
		}
		if !slices.Contains(names.Kinds(name), full) {
			t.Errorf("Kinds(%q) = %v, without %s", name, names.Kinds(name), full)
		}
	}
}
