package diff

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestAnEntryIsNoEvidenceForOtherValues has audit events with excepted fields, in which the
// resource has another value than the event left.
func TestAnEntryIsNoEvidenceForOtherValues(t *testing.T) {
	t.Parallel()
	actor := func(name string) model.Actor {
		return model.Actor{Name: name, At: time.Unix(60, 0), Confidence: model.Exact}
	}
	made := func(except ...string) model.AuditEvent {
		return model.AuditEvent{Action: model.Created, Excluded: except, Actor: actor("mara")}
	}
	edited := func(fields, except []string) model.AuditEvent {
		return model.AuditEvent{Fields: fields, Excluded: except, Actor: actor("jonas")}
	}
	const declared, live = `{"site":1}`, `{"site":2}`
	for _, tc := range []struct {
		reason string
		former string
		log    model.AuditEvent
		own    model.AuditEvent
		want   string
	}{
		{"who made it again made the field so", "4", made(), model.AuditEvent{Action: model.Deleted}, "mara"},
		{"who made it again made the field otherwise", "4", made("site"), model.AuditEvent{Action: model.Deleted}, "unknown"},
		{"who made it again made another field otherwise", "4", made("sites", "name"), model.AuditEvent{Action: model.Deleted}, "mara"},
		{"an edit of any field", "", edited(nil, nil), model.AuditEvent{Action: model.Deleted}, "jonas"},
		{"an edit of any other field", "", edited(nil, []string{"site"}), model.AuditEvent{Action: model.Deleted}, "unknown"},
		{"an edit above that excepts it", "", edited([]string{"site"}, []string{"site"}), model.AuditEvent{Action: model.Deleted}, "unknown"},
		{"the entry of an inventory that was edited", "", model.AuditEvent{Action: model.Deleted}, edited([]string{"site"}, nil), "jonas"},
		{"the entry of an inventory that holds another value by now", "", model.AuditEvent{Action: model.Deleted}, edited([]string{"site"}, []string{"site"}), "unknown"},
	} {
		claim := &model.Claim{ID: "6", ClaimMatching: model.ClaimMatching{Former: tc.former}, Value: value(t, declared), ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{tc.own}}}
		s := model.Subject{Key: model.Key{ID: "6"}, Live: &model.Resource{Value: value(t, live)}, Claims: []*model.Claim{claim}, AuditEvents: []model.AuditEvent{tc.log}}
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

func TestDeclarerIsNotTheActorOfAReplacedValue(t *testing.T) {
	t.Parallel()
	claim := &model.Claim{ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{{Action: model.Created, Excluded: []string{"nics[mac=a].vlan"}, Actor: model.Actor{Name: "mara", Confidence: model.Exact}}}}}
	for path, want := range map[string]string{"nics[mac=a].vlan": "unknown", "nics[mac=a]": "mara", "nics[mac=b].vlan": "mara", "nics[mac=a].vlan.id": "unknown"} {
		if got := claimAuthor(claim, path).Name; got != want {
			t.Errorf("%s is by %s, want %s", path, got, want)
		}
	}
}
