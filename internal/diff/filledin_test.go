package diff

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestRuleFilledIn commits a field that no earlier commit declares, and that the system filled
// in.
func TestRuleFilledIn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, before, recorded string
		want                     model.Verdict
	}{
		"declared for the first time": {"the commit waits", `{"a":1}`, `{"a":1}`, model.Pending},
		"applied from a laptop":       {"the record has a value that no commit holds", `{"a":1}`, `{"a":1,"size":2}`, model.Bypassed},
		"declared before":             {"the commit waits", `{"a":1,"size":2}`, `{"a":1,"size":2}`, model.Pending},
		"always declared otherwise":   {"never applied as git has it", `{"a":1,"size":4}`, `{"a":1}`, model.Bypassed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := &model.Schema{Fields: map[string]*model.Schema{"size": {Extra: model.Extra{Derived: true}}}}
			c := &model.Claim{Declaration: "d", Value: value(t, `{"a":1,"size":3}`), Recorded: pointer(value(t, tc.recorded)),
				ClaimHistory: model.ClaimHistory{Evidence: declaredBefore(value(t, tc.before))}}
			s := &model.Subject{Claims: []*model.Claim{c}, Kind: &model.Kind{Schema: schema}, Live: &model.Resource{Value: value(t, `{"a":1,"size":2}`)}}
			outcomes := Compare(s, Options{})
			if len(outcomes) != 1 || outcomes[0].Verdict != tc.want || outcomes[0].Unproven {
				t.Errorf("%s: %+v, want %s", tc.reason, outcomes, tc.want)
			}
		})
	}
}
