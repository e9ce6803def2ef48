package diff

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestAppliedSinceTheRecord has a server-side apply that keeps the annotation of an earlier
// client-side apply, which does not record the fields that were applied since.
func TestAppliedSinceTheRecord(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	kubectl := model.Owner{Name: "kubectl-client-side-apply", Records: true, At: at, Fields: set("b")}
	apply := func(after time.Duration) model.Owner {
		return model.Owner{Name: "deployer", Applies: true, At: at.Add(after), Fields: set("a")}
	}
	update := model.Owner{Name: "helm", Delivers: true, At: at.Add(time.Hour), Fields: set("a")}
	for name, tc := range map[string]struct {
		reason                   string
		declared, recorded, live string
		owner                    model.Owner
		want                     model.Verdict
	}{
		"applied as declared":      {"nothing differs", `{"a":2,"b":1}`, `{"a":1,"b":1}`, `{"a":2,"b":1}`, apply(time.Hour), ""},
		"in the same second":       {"times have no fractions", `{"a":2,"b":1}`, `{"a":1,"b":1}`, `{"a":2,"b":1}`, apply(0), ""},
		"added since":              {"the record lacks it", `{"a":2,"b":1}`, `{"b":1}`, `{"a":2,"b":1}`, apply(time.Hour), ""},
		"removed since":            {"the record has it still", `{"b":1}`, `{"a":1,"b":1}`, `{"b":1}`, apply(time.Hour), ""},
		"git newer":                {"not a conflict with an old record", `{"a":3,"b":1}`, `{"a":1,"b":1}`, `{"a":2,"b":1}`, apply(time.Hour), model.Changed},
		"applied by hand":          {"the record shows that another value was applied before", `{"a":1,"b":1}`, `{"a":1,"b":1}`, `{"a":2,"b":1}`, apply(time.Hour), model.Changed},
		"applied before":           {"the record is newer", `{"a":2,"b":1}`, `{"a":1,"b":1}`, `{"a":2,"b":1}`, apply(-time.Hour), model.Codified},
		"updated by a named tool":  {"a name proves nothing", `{"a":2,"b":1}`, `{"a":1,"b":1}`, `{"a":2,"b":1}`, update, model.Codified},
		"removed by a named tool":  {"a name proves nothing", `{"b":1}`, `{"a":1,"b":1}`, `{"b":1}`, update, model.Codified},
		"conflict of a named tool": {"a name proves nothing", `{"a":3,"b":1}`, `{"a":1,"b":1}`, `{"a":2,"b":1}`, update, model.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorded := value(t, tc.recorded)
			s := &model.Subject{Key: model.Key{Source: "s", Kind: "k", ID: "x"},
				Live:   &model.Resource{Value: value(t, tc.live), LastApplied: &recorded, Owners: []model.Owner{kubectl, tc.owner}, OwnersFrom: "managedFields"},
				Claims: []*model.Claim{{Declaration: "git", Value: value(t, tc.declared)}}}
			var got model.Verdict
			if out := Compare(s, Options{}); len(out) > 0 {
				got = out[0].Verdict
			}
			if got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
