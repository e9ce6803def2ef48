package diff

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestAnEntryIsNoEvidenceForOtherValues has entries of logs that except fields, since
// the resource holds another value there than they left.
func TestAnEntryIsNoEvidenceForOtherValues(t *testing.T) {
	t.Parallel()
	actor := func(name string) model.Actor {
		return model.Actor{Name: name, At: time.Unix(60, 0), Confidence: model.Exact}
	}
	made := func(except ...string) model.Trace {
		return model.Trace{Deed: model.Created, Except: except, Actor: actor("mara")}
	}
	edited := func(fields, except []string) model.Trace {
		return model.Trace{Fields: fields, Except: except, Actor: actor("jonas")}
	}
	const declared, live = `{"site":1}`, `{"site":2}`
	for _, tc := range []struct {
		reason string
		former string
		log    model.Trace
		own    model.Trace
		want   string
	}{
		{"who made it again made the field so", "4", made(), model.Trace{Deed: model.Deleted}, "mara"},
		{"who made it again made the field otherwise", "4", made("site"), model.Trace{Deed: model.Deleted}, "unknown"},
		{"who made it again made another field otherwise", "4", made("sites", "name"), model.Trace{Deed: model.Deleted}, "mara"},
		{"an edit of any field", "", edited(nil, nil), model.Trace{Deed: model.Deleted}, "jonas"},
		{"an edit of any other field", "", edited(nil, []string{"site"}), model.Trace{Deed: model.Deleted}, "unknown"},
		{"an edit above that excepts it", "", edited([]string{"site"}, []string{"site"}), model.Trace{Deed: model.Deleted}, "unknown"},
		{"the entry of an inventory that was edited", "", model.Trace{Deed: model.Deleted}, edited([]string{"site"}, nil), "jonas"},
		{"the entry of an inventory that holds another value by now", "", model.Trace{Deed: model.Deleted}, edited([]string{"site"}, []string{"site"}), "unknown"},
	} {
		claim := &model.Claim{ID: "6", Former: tc.former, Value: value(t, declared), Traces: []model.Trace{tc.own}}
		s := model.Subject{Key: model.Key{ID: "6"}, Live: &model.Resource{Value: value(t, live)}, Claims: []*model.Claim{claim}, Traces: []model.Trace{tc.log}}
		outcomes := Compare(&s, Options{})
		if len(outcomes) != 1 {
			t.Fatalf("%s: outcomes %+v", tc.reason, outcomes)
		}
		for _, c := range outcomes[0].Changes {
			who := outcomes[0].Actor
			if c.Actor != nil {
				who = *c.Actor
			}
			if c.Path == "site" && who.Name != tc.want {
				t.Errorf("%s: the site is by %s, want %s", tc.reason, who.Name, tc.want)
			}
		}
	}
}

func TestWhoDeclaredAFieldIsNotWhoseValueIsGone(t *testing.T) {
	t.Parallel()
	claim := &model.Claim{Traces: []model.Trace{{Deed: model.Created, Except: []string{"nics[mac=a].vlan"}, Actor: model.Actor{Name: "mara", Confidence: model.Exact}}}}
	for path, want := range map[string]string{"nics[mac=a].vlan": "unknown", "nics[mac=a]": "mara", "nics[mac=b].vlan": "mara", "nics[mac=a].vlan.id": "unknown"} {
		if got := claimAuthor(claim, path).Name; got != want {
			t.Errorf("%s is by %s, want %s", path, got, want)
		}
	}
}
