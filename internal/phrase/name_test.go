package phrase

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestNamesStandBesideIDs(t *testing.T) {
	t.Parallel()
	names := map[string]string{"22": "201 storage", "23": "backup", "24": "", "25": "eth0 (mgmt)", "26": "no such object", "27": "a → b", "28": "a\x1b[31m\u202e", "29": "recorded 4", "30": "running", "31": "23"}
	for name, tc := range map[string]struct {
		reason string
		values []*model.Value
		want   []string
	}{
		"numbers":  {"each ID has its name", []*model.Value{number(22), number(23)}, []string{"22 (201 storage)", "23 (backup)"}},
		"texts":    {"so has an ID that is a text", []*model.Value{text("23"), nil}, []string{"23 (backup)", "(absent)"}},
		"unknown":  {"an unknown name is left out", []*model.Value{number(1), number(23)}, []string{"1", "23 (backup)"}},
		"gone":     {"no object has the ID", []*model.Value{number(24)}, []string{"24 (no such object)"}},
		"list":     {"a list has the known names after it", []*model.Value{list(23, 1, 24)}, []string{"[23,1,24] (23 backup, 24 no such object)"}},
		"brackets": {"a name cannot pass for the end of the names", []*model.Value{number(25)}, []string{`25 ("eth0 (mgmt)")`}},
		"reserved": {"a name cannot pass for a missing object", []*model.Value{number(26)}, []string{`26 ("no such object")`}},
		"arrow":    {"nor for two values", []*model.Value{number(27)}, []string{`27 ("a → b")`}},
		"label":    {"nor for another side", []*model.Value{number(29), number(30)}, []string{`29 ("recorded 4")`, `30 ("running")`}},
		"id":       {"nor for an ID", []*model.Value{number(31)}, []string{`31 ("23")`}},
		"escapes":  {"all of it is visible", []*model.Value{number(28)}, []string{`28 (a\x1b[31m\u202e)`}},
		"pretends": {"nor can a value for one with a name", []*model.Value{text("23 (backup)"), number(23)}, []string{`"23 (backup)"`, "23 (backup)"}},
		"map":      {"a map is no reference", []*model.Value{tree("22", model.IntOf(22))}, []string{`{"name":"22","value":22}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, textsOf(names, tc.values...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNamesInFields(t *testing.T) {
	t.Parallel()
	f := &model.Finding{Verdict: model.Conflict, Changes: []model.Change{{Path: "vlan", Declared: number(22), Recorded: number(23), Live: number(24),
		Names: map[string]string{"22": "storage", "23": "backup", "24": ""}}}}
	fields := Clock{}.Fields(f, 1)
	plain := func(s string) string { return s }
	if got, want := fields[0].Inline(plain), "22 (storage) → 24 (no such object) (recorded 23 (backup))"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f.Verdict, f.Changes[0].Claims = model.Disputed, []model.ClaimedValue{{Declaration: "a", Value: *number(22)}, {Declaration: "b", Value: *number(23)}}
	fields = Clock{}.Fields(f, 1)
	if got, want := fields[0].Inline(plain), "a 22 (storage), b 23 (backup), live 24 (no such object)"; got != want {
		t.Errorf("a dispute: got %q, want %q", got, want)
	}
	f.Verdict, f.Changes[0].Claims = model.Changed, nil
	fields = Clock{}.Fields(f, 1)
	sheet := NewSheet(f.Verdict, &f.Changes[0], &fields[0])
	if got := sheet.All[0].Text; got != "22 (storage)" {
		t.Errorf("the sheet has %q", got)
	}
	f.Changes[0].Secret = true
	if shown := f.Public().Changes[0]; shown.Names != nil {
		t.Errorf("a secret change has the names %v", shown.Names)
	}
}

func list(ids ...int64) *model.Value {
	items := make([]model.Value, len(ids))
	for i, id := range ids {
		items[i] = model.IntOf(id)
	}
	v := model.ListOf(items...)
	return &v
}
