package classify

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestAcceptanceOfExposed checks that an acceptance of an unmanaged resource ends when what the resource exposes changes.
func TestAcceptanceOfExposed(t *testing.T) {
	t.Parallel()
	whole := model.Kind{Name: "rule", Labels: "tags", Exposed: []model.ExposedField{{What: model.ExposesReach}},
		Schema: &model.Schema{Fields: map[string]*model.Schema{"hits": {Volatile: true}, "number": {Extra: model.Extra{Generated: true}}}}}
	parts := model.Kind{Name: "guest", Exposed: []model.ExposedField{{Path: "args", What: model.ExposesCode}, {Path: "net.bridges", What: model.ExposesReach}}}
	const rule = `{"port":443,"from":["10.0.0.0/8","0.0.0.0/0"],"tags":{"a":"b"},"hits":7,"number":1,"note":""}`
	const guest = `{"args":"-a","memory":1,"net":{"bridges":["b1"],"mtu":1}}`
	for _, tc := range []struct {
		reason      string
		kind        *model.Kind
		before, now string
		holds       bool
	}{
		{"nothing changed", &whole, rule, rule, true},
		{"it allows more", &whole, rule, `{"port":22,"from":["10.0.0.0/8","0.0.0.0/0"]}`, false},
		{"it allows others", &whole, rule, `{"port":443,"from":["10.0.0.0/8","192.168.0.0/16"]}`, false},
		{"only the order, labels and what the system sets", &whole, rule, `{"port":443,"from":["0.0.0.0/0","10.0.0.0/8"],"tags":{"c":"d"},"hits":9,"number":2}`, true},
		{"another network", &parts, guest, `{"args":"-a","memory":1,"net":{"bridges":["b2"],"mtu":1}}`, false},
		{"what is not exposed, and code", &parts, guest, `{"args":"-b","memory":2,"net":{"bridges":["b1"],"mtu":9}}`, true},
		{"a kind that exposes nothing", &model.Kind{Name: "disk"}, `{"size":1}`, `{"size":2}`, true},
	} {
		find := func(text string) model.Finding {
			var live model.Value
			if err := live.UnmarshalJSON([]byte(text)); err != nil {
				t.Fatal(err)
			}
			s := model.Subject{Key: model.Key{Source: "s", Kind: tc.kind.Name, ID: "1"}, Kind: tc.kind, Live: &model.Resource{Value: live}}
			return newFinding(&s, &model.Outcome{Verdict: model.Unmanaged}, &ignorer{})
		}
		before, now := find(tc.before), find(tc.now)
		if holds := before.Basis == now.Basis; holds != tc.holds {
			t.Errorf("%s: the acceptance holds %t, want %t", tc.reason, holds, tc.holds)
		}
	}
}
