package kubernetes_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestAdmissionOnlyOnWrite verifies that the answer of a write names what admission changed that the dry run did not show.
func TestAdmissionOnlyOnWrite(t *testing.T) {
	t.Parallel()
	metadata := func(o map[string]any) map[string]any { return o["metadata"].(map[string]any) }
	podSpec := func(o map[string]any) map[string]any {
		return o["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	}
	tests := map[string]struct {
		reason string
		admit  func(map[string]any)
		create bool
		want   string
	}{
		"patch as it is":     {reason: "nothing interferes"},
		"patch, more":        {reason: "a field of a pod", admit: func(o map[string]any) { podSpec(o)["hostNetwork"] = true }, want: "spec.template.spec.hostNetwork"},
		"patch, other value": {reason: "a field of the plan", admit: func(o map[string]any) { podSpec(o)["containers"].([]any)[0].(map[string]any)["image"] = "evil:2" }, want: container + ".image"},
		"patch, many":        {reason: "a message is short", admit: func(o map[string]any) { o["a"], o["b"], o["c"], o["d"] = 1, 1, 1, 1 }, want: "a b c"},
		"patch, revision": {reason: "a controller sets it", admit: func(o map[string]any) {
			metadata(o)["annotations"] = map[string]any{"deployment.kubernetes.io/revision": "2"}
		}},
		"create as it is":    {reason: "the UID is another one than in the dry run", create: true, admit: func(o map[string]any) { metadata(o)["uid"] = "another" }},
		"create, more":       {reason: "a field of a pod", create: true, admit: func(o map[string]any) { podSpec(o)["hostNetwork"] = true }, want: "spec"},
		"create, undeclared": {reason: "the dry run did not have it", create: true, admit: func(o map[string]any) { metadata(o)["annotations"] = map[string]any{"a": "b"} }, want: "metadata.annotations.a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := newFake(t), webSubject()
			f.objects[webPath] = web
			if tt.create {
				delete(f.objects, webPath)
				s.Finding.Verdict, s.Finding.Changes = model.Missing, nil
			}
			c := mustPlan(t, f.actuator(t), s)
			if err := c.Rehearse(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.mu.Lock()
			f.before = func(_ http.ResponseWriter, r *http.Request) bool {
				if f.admit = nil; r.URL.Query().Get("dryRun") == "" {
					f.admit = tt.admit
				}
				return false
			}
			f.mu.Unlock()
			receipt, err := c.Write(t.Context())
			if got := strings.Join(receipt.Unexpected, " "); err != nil || got != tt.want {
				t.Errorf("%s: Write() = %s, %v, want %s", tt.reason, got, err, tt.want)
			}
		})
	}
}
