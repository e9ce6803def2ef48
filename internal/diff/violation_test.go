package diff

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestViolations compares a resource with spec.suspend, and checks that fail.
func TestViolations(t *testing.T) {
	t.Parallel()
	declared := func(suspend string) *model.Claim {
		return &model.Claim{Declaration: "shop", Address: "a.yaml:1", Value: value(t, `{"spec":{"suspend":`+suspend+`}}`)}
	}
	suspended := model.Violation{Check: "flux/suspended", Severity: model.High, Path: "spec.suspend", Value: pointer(model.BoolOf(true)), Reason: "is suspended"}
	failed := model.Violation{Check: "flux/not-ready", Severity: model.Medium, Reason: "is not ready"}
	chance := model.Violation{Check: "helm/nondeterministic", Verdict: model.Nondeterministic, Severity: model.Medium, Path: "data.x", Reason: "calls rand"}
	for reason, tc := range map[string]struct {
		claims []*model.Claim
		live   []model.Violation
		gone   bool
		want   []string
	}{
		"declared so":               {claims: []*model.Claim{declared("true")}, live: []model.Violation{suspended}, want: []string{`violated flux/suspended high "is suspended" shop`}},
		"one finding for one edit":  {claims: []*model.Claim{declared("false")}, live: []model.Violation{suspended}, want: []string{`changed  high "nothing records what was last applied; is suspended" shop`}},
		"two checks":                {claims: []*model.Claim{declared("true")}, live: []model.Violation{failed, suspended}, want: []string{`violated flux/not-ready medium "is not ready" shop`, `violated flux/suspended high "is suspended" shop`}},
		"no declaration":            {live: []model.Violation{suspended}, want: []string{`violated flux/suspended high "is suspended" `}},
		"not live":                  {live: []model.Violation{suspended}, gone: true},
		"two checks of one field":   {live: []model.Violation{suspended, {Check: "other", Severity: model.Low, Path: "spec.suspend", Reason: "other"}}, want: []string{`violated flux/suspended high "is suspended" `, `violated other low "other" `}},
		"a check of the claim":      {claims: []*model.Claim{with(declared("true"), chance)}, want: []string{`nondeterministic helm/nondeterministic medium "calls rand" shop`}},
		"a check of a whole object": {claims: []*model.Claim{declared("false")}, live: []model.Violation{failed, suspended}, want: []string{`changed  high "nothing records what was last applied; is suspended" shop`, `violated flux/not-ready medium "is not ready" shop`}},
	} {
		s := model.Subject{Key: model.Key{Source: "prod", Kind: "k", ID: "x"}, Claims: tc.claims, Kind: &model.Kind{}}
		if !tc.gone {
			s.Live = &model.Resource{Key: s.Key, Value: value(t, `{"spec":{"suspend":true}}`), Violations: tc.live}
		}
		var got []string
		for _, o := range Compare(&s, Options{}) {
			of := ""
			if o.Claim != nil {
				of = o.Claim.Declaration
			}
			got = append(got, string(o.Verdict)+" "+o.Check+" "+string(o.Severity)+" \""+o.Reason+"\" "+of)
		}
		if diff := gocmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

func with(c *model.Claim, v model.Violation) *model.Claim {
	c.Violations = []model.Violation{v}
	return c
}
