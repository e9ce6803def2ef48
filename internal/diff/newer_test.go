package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestNewerFields has fields that are newer than the table of defaults: a value in such a field
// may be a default.
func TestNewerFields(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu")}
	const why = "not every default of the field is known"
	const unowned = "no field manager, and not every default of the kind is known"
	for name, tt := range map[string]struct {
		reason, live  string
		owners        []model.Owner
		found, exempt string
	}{
		"nobody's":                              {"the system may have filled it in", `{"cpu":1,"port":2}`, []model.Owner{apply}, "", "port 2: " + unowned},
		"nobody's, below":                       {"it is part of a newer field", `{"cpu":1,"probe":{"path":"x"}}`, []model.Owner{apply}, "", "probe.path x: " + unowned},
		"nobody's, with defaults":               {"the schema has its default", `{"cpu":1,"mode":"x"}`, []model.Owner{apply}, "undeclared mode", ""},
		"a hand's":                              {"somebody wrote it", `{"cpu":1,"port":2}`, []model.Owner{apply, {Name: "hand", At: later, Fields: set("port")}}, "undeclared port", ""},
		"of the one who created":                {"it owns what the system filled in", `{"cpu":1,"port":2}`, []model.Owner{{Name: "helm", Delivers: true, At: created, Fields: set("cpu", "port")}}, "", "port 2 helm: " + why},
		"of the one who created, with defaults": {"it is not the default", `{"cpu":1,"mode":"x"}`, []model.Owner{{Name: "helm", Delivers: true, At: created, Fields: set("cpu", "mode")}}, "undeclared mode", ""},
		"no record":                             {"the system may have filled it in", `{"cpu":1,"port":2}`, nil, "", "port 2: the object has no record of its writers, and the value may be a default"},
		"no record, an old field":               {"somebody wrote it", `{"cpu":1,"args":["x"]}`, nil, "undeclared args", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judgeWith(t, `{"cpu":1}`, tt.live, tt.owners, func(s *model.Subject) {
				for _, field := range []string{"port", "probe", "mode"} {
					s.Kind.Schema.Fields[field].Newer = true
				}
			})
			got := ""
			for _, o := range j.Outcomes {
				got += string(o.Verdict) + " " + o.Changes[0].Path
			}
			if diff := cmp.Diff(tt.found+" | "+tt.exempt, got+" | "+exempted(j)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}
