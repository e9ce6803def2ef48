package classify

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

const network = "data.terraform_remote_state.net"

func TestDependenciesOfRecords(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(hours int) time.Time { return start.Add(time.Duration(hours) * time.Hour) }
	read := func(changed ...string) *model.DependencyRead {
		return &model.DependencyRead{Address: network, Changed: changed}
	}
	unread := &model.DependencyRead{Address: network, Unread: true}
	known := func(unread bool, read, since time.Time, changed ...string) []model.DependencyRead {
		return []model.DependencyRead{{Address: network, Unread: unread, Read: read, Changed: changed, Since: since}}
	}
	var never time.Time
	tests := []struct {
		reason string
		// scans are what each scan read, an hour apart; nil for a root without the data source.
		scans []*model.DependencyRead
		want  []model.DependencyRead
		notes int
	}{
		{"nothing changed", []*model.DependencyRead{read(), read()}, known(false, at(1), never), 0},
		{"it changed, and nothing was applied", []*model.DependencyRead{read(), read("vpc"), read("vpc", "zone")}, known(false, at(2), at(1), "vpc", "zone"), 1},
		{"an apply used what it returns", []*model.DependencyRead{read("vpc"), read()}, known(false, at(1), never), 0},
		{"it changed again after an apply", []*model.DependencyRead{read("vpc"), read(), read("vpc")}, known(false, at(2), at(2), "vpc"), 1},
		{"a failed reading is no change", []*model.DependencyRead{read(), unread}, known(true, at(0), never), 0},
		{"a failed reading does not end a change", []*model.DependencyRead{read("vpc"), unread, unread}, known(true, at(0), at(0), "vpc"), 1},
		{"it was never read", []*model.DependencyRead{unread}, known(true, never, never), 0},
		{"it is not declared any more", []*model.DependencyRead{read("vpc"), nil}, nil, 0},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			var records map[string][]model.StateRead
			for hour, d := range test.scans {
				state := model.StateRead{Address: "a", Lineage: "l", Serial: 1}
				if d != nil {
					state.Dependencies = []model.DependencyRead{*d}
				}
				records = Findings(Input{Now: at(hour), Records: records,
					Declarations: []model.Declaration{{Name: "infra", States: []model.StateRead{state}}}}).Records
				if d != nil && !d.Read.IsZero() {
					t.Error("the input was changed")
				}
			}
			if d := cmp.Diff(test.want, records["infra"][0].Dependencies); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if got := DependencyNotes(records["infra"]); len(got) != test.notes {
				t.Errorf("notes %v", got)
			}
		})
	}
}

func TestDependencyNotes(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	got := DependencyNotes([]model.StateRead{{Dependencies: []model.DependencyRead{{Address: "data.external.a"},
		{Address: network, Changed: []string{"vpc", "zone"}, Since: since}}}})
	want := []model.Note{{Address: network, Text: "what it returns has changed since the last apply, as first seen at 2026-03-01T12:00:00Z: vpc, zone"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestCausesOfDifferences(t *testing.T) {
	t.Parallel()
	claim := &model.Claim{ClaimApply: model.ClaimApply{Causes: map[string]string{
		"": "data.external.a (zones)", "tags": network + " (env)", "name": network + " (vpc)", "disk": network + " (vpc)"}}}
	const text = "it refers to data that has changed since the last apply: "
	tests := []struct {
		reason  string
		claim   *model.Claim
		verdict model.Verdict
		paths   []string
		want    string
	}{
		{"one attribute", claim, model.Pending, []string{"name"}, text + network + " (vpc)"},
		{"several attributes with one cause", claim, model.Bypassed, []string{"name", "disk[0].size"}, text + network + " (vpc)"},
		{"several causes", claim, model.Conflict, []string{"name", "tags.env"}, text + network + " (env); " + network + " (vpc)"},
		{"the whole resource", claim, model.Pending, nil, text + "data.external.a (zones)"},
		{"another attribute", claim, model.Pending, []string{"names"}, ""},
		{"a change of the live side", claim, model.Changed, []string{"name"}, ""},
		{"missing", claim, model.Missing, nil, ""},
		{"no cause", &model.Claim{}, model.Pending, []string{"name"}, ""},
		{"no claim", nil, model.Pending, []string{"name"}, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			f := model.Finding{Verdict: test.verdict}
			for _, path := range test.paths {
				f.Changes = append(f.Changes, model.Change{Path: path})
			}
			if got := causes(&f, test.claim); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestReasonNamesTheCause(t *testing.T) {
	t.Parallel()
	r := newPlannedRoot()
	r.scan(0, false, "Web", func(in *Input) {
		in.Judged[0].Outcomes[0].Claim.Causes = map[string]string{"name": network + " (vpc)"}
	})
	if got := r.result.Current[0].Reason; got != "it refers to data that has changed since the last apply: "+network+" (vpc)" {
		t.Errorf("reason %q", got)
	}
}
