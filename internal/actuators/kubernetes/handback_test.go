package kubernetes_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/reconcile"
)

func TestHandBackPatch(t *testing.T) {
	t.Parallel()
	entry := func(manager, operation, subresource, fields string) string {
		return `{"manager":"` + manager + `","operation":"` + operation + `","subresource":"` + subresource + `","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":` + fields + `}`
	}
	const image, replicas = `{"f:spec":{"f:image":{}}}`, `{"f:spec":{"f:replicas":{}}}`
	tests := map[string]struct {
		reason  string
		entries []string
		to      string
		// want are the entries afterwards, manager operation fields; nil means that there is no patch.
		want []string
	}{
		"to the declarer": {reason: "it gets what driftd wrote", to: "git",
			entries: []string{entry("git", "Apply", "", replicas), entry("kubectl-edit", "Update", "", replicas), entry("driftd", "Update", "", image)},
			want:    []string{`git Apply {"f:spec":{"f:image":{},"f:replicas":{}}}`, `kubectl-edit Update {"f:spec":{"f:replicas":{}}}`}},
		"without defaults": {reason: "the declarer does not set them", to: "git",
			entries: []string{entry("git", "Apply", "", replicas), entry("driftd", "Update", "", `{"f:spec":{".":{},"f:image":{},"f:policy":{},"f:ports":{".":{},"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:protocol":{}}}}}`)},
			want:    []string{`git Apply {"f:spec":{"f:image":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}},"f:replicas":{}}}`}},
		"nothing left": {reason: "it was done before", to: "git", entries: []string{entry("git", "Apply", "", replicas)}},
		"other entries of the name": {reason: "only what an update of the object left is driftd's", to: "git",
			entries: []string{entry("git", "Apply", "", replicas), entry("driftd", "Apply", "", image), entry("driftd", "Update", "scale", image)}},
		"no declarer any more": {reason: "it would own nothing but these fields, and the next apply would remove them", to: "git",
			entries: []string{entry("git", "Update", "", replicas), entry("driftd", "Update", "", image)}, want: []string{`git Update {"f:spec":{"f:replicas":{}}}`}},
		"to nobody": {reason: "it is applied by the client", entries: []string{entry("kubectl", "Update", "", replicas), entry("driftd", "Update", "", image)},
			want: []string{`kubectl Update {"f:spec":{"f:replicas":{}}}`}},
		"the last entry": {reason: "without one, all fields would get an owner", entries: []string{entry("driftd", "Update", "", image)},
			want: []string{`driftd Update {"f:metadata":{"f:generateName":{}}}`}},
		"the last entry again": {reason: "it was done before", entries: []string{entry("driftd", "Update", "", `{"f:metadata":{"f:generateName":{}}}`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o unstructured.Unstructured
			text := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","resourceVersion":"7","managedFields":[` + strings.Join(tt.entries, ",") + `]},"spec":{"image":"x","replicas":1}}`
			if err := o.UnmarshalJSON([]byte(text)); err != nil {
				t.Fatal(err)
			}
			patch, err := kubernetes.HandBackPatch(&o, reconcile.Plan{HandBack: tt.to, Changes: []reconcile.FieldChange{
				{Path: "spec.image", New: optional(`"x"`)}, {Path: "spec.ports[port=80,protocol=TCP]", New: optional(`{"port":80}`)}, {Path: "spec.gone", Old: optional("1")}}})
			if err != nil || (patch == nil) != (tt.want == nil) {
				t.Fatalf("%s: got %s, %v", tt.reason, patch, err)
			}
			if patch == nil {
				return
			}
			var operations []struct {
				Op, Path string
				Value    json.RawMessage
			}
			if err := json.Unmarshal(patch, &operations); err != nil {
				t.Fatal(err)
			}
			var entries []struct {
				Manager, Operation string
				FieldsV1           json.RawMessage
			}
			if err := json.Unmarshal(operations[0].Value, &entries); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range entries {
				got = append(got, e.Manager+" "+e.Operation+" "+string(e.FieldsV1))
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") || operations[1].Path != "/metadata/resourceVersion" || string(operations[1].Value) != `"7"` {
				t.Errorf("%s: got %s and %s %s", tt.reason, got, operations[1].Path, operations[1].Value)
			}
		})
	}
}

// TestHandBackAgain checks that a hand-back begins anew if the object changed in between.
func TestHandBackAgain(t *testing.T) {
	t.Parallel()
	for name, conflicts := range map[string]int{"at first": 2, "always": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testHandBack(t, conflicts)
		})
	}
}

func testHandBack(t *testing.T, conflicts int) {
	t.Helper()
	f := newFake(t)
	f.objects[webPath] = strings.Replace(web, `"managedFields":[`, `"managedFields":[{"manager":"driftd","operation":"Update","apiVersion":"apps/v1","fieldsV1":{"f:spec":{"f:paused":{}}}},`, 1)
	a := f.actuator(t)
	patches := 0
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch {
			return false
		}
		if patches++; patches > conflicts {
			return false
		}
		status(w, http.StatusConflict, "the object has been modified")
		return true
	}
	err := a.HandBack(t.Context(), webFinding().Key, reconcile.Plan{UID: "u1", HandBack: "git"})
	if (err != nil) != (conflicts > 2) || patches > 5 {
		t.Errorf("HandBack() = %v after %d patches", err, patches)
	}
	f.before = nil
	if err := a.HandBack(t.Context(), webFinding().Key, reconcile.Plan{UID: "u1", HandBack: "git"}); err != nil || strings.Contains(f.objects[webPath], `"driftd"`) {
		t.Errorf("HandBack() = %v: %s", err, f.objects[webPath])
	}
	if err := a.HandBack(t.Context(), webFinding().Key, reconcile.Plan{UID: "another", HandBack: "git"}); err != nil {
		t.Errorf("HandBack() of another object = %v", err)
	}
}
