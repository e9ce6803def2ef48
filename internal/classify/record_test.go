package classify

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestRecordsThatWereNotWrittenByApplying(t *testing.T) {
	t.Parallel()
	read := func(lineage string, serial int64, hash string) model.StateRead {
		return model.StateRead{Address: "a.tfstate", Lineage: lineage, Serial: serial, Hash: hash}
	}
	pulled := func(s model.StateRead, tool string) model.StateRead { s.Tool = tool; return s }
	good := read("l1", 12, "aa")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	writtenNow := read("l1", 13, "bb")
	writtenNow.Written = []time.Time{now}
	tests := []struct {
		reason string
		before []model.StateRead
		now    []model.StateRead
		path   string
		keeps  []model.StateRead
	}{
		{"the first reading is believed", nil, []model.StateRead{good}, "", []model.StateRead{good}},
		{"nothing was applied", []model.StateRead{good}, []model.StateRead{good}, "", []model.StateRead{good}},
		{"an apply raises the serial", []model.StateRead{good}, []model.StateRead{read("l1", 13, "bb")}, "", []model.StateRead{writtenNow}},
		{"a backup was put back", []model.StateRead{good}, []model.StateRead{read("l1", 9, "cc")}, "serial", []model.StateRead{good}},
		{"an editor does not raise the serial", []model.StateRead{good}, []model.StateRead{read("l1", 12, "dd")}, "sha256", []model.StateRead{good}},
		{"another state lies there now", []model.StateRead{good}, []model.StateRead{read("l2", 20, "ee")}, "lineage", []model.StateRead{good}},
		{"a new version of the CLI prints it differently", []model.StateRead{pulled(good, "tofu 1")}, []model.StateRead{pulled(read("l1", 12, "dd"), "tofu 2")}, "",
			[]model.StateRead{pulled(read("l1", 12, "dd"), "tofu 2")}},
		{"the same version prints other content", []model.StateRead{pulled(good, "tofu 1")}, []model.StateRead{pulled(read("l1", 12, "dd"), "tofu 1")}, "sha256",
			[]model.StateRead{pulled(good, "tofu 1")}},
		{"a new version of the CLI prints an older state", []model.StateRead{pulled(good, "tofu 1")}, []model.StateRead{pulled(read("l1", 9, "cc"), "tofu 2")}, "serial",
			[]model.StateRead{pulled(good, "tofu 1")}},
		{"the state is gone", []model.StateRead{good}, []model.StateRead{{Address: "a.tfstate"}}, "serial", []model.StateRead{good}},
		{"nothing was ever applied", nil, []model.StateRead{{Address: "a.tfstate"}}, "", nil},
		{"a state that was not read this time is remembered", []model.StateRead{good}, nil, "", []model.StateRead{good}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			result := Findings(Input{Now: now, Declarations: []model.Declaration{{Name: "infra", Governs: []string{"pve"}, States: test.now}},
				Records: map[string][]model.StateRead{"infra": test.before}})
			if diff := cmp.Diff(test.keeps, result.Records["infra"]); diff != "" {
				t.Errorf("records: %s", diff)
			}
			path := ""
			for _, f := range result.Current {
				path += f.Changes[0].Path
			}
			if path != test.path {
				t.Errorf("found %q, want %q", path, test.path)
			}
		})
	}
}

func TestRecordFindingsEndWhenTheRecordMovesOn(t *testing.T) {
	t.Parallel()
	state := func(serial int64) model.StateRead { return model.StateRead{Address: "a", Lineage: "l", Serial: serial} }
	declaration := func(states ...model.StateRead) []model.Declaration {
		return []model.Declaration{{Name: "infra", Governs: []string{"pve"}, States: states}}
	}
	records := map[string][]model.StateRead{"infra": {state(12)}}
	first := Findings(Input{Declarations: declaration(state(9)), Records: records})
	if len(first.Current) != 1 {
		t.Fatalf("found %v, want one finding", first.Current)
	}
	second := Findings(Input{Declarations: declaration(), Records: first.Records, Earlier: first.Current})
	if len(second.Remembered) != 1 {
		t.Errorf("a state that cannot be read proves nothing, remembered %v", second.Remembered)
	}
	third := Findings(Input{Declarations: declaration(state(13)), Records: second.Records, Earlier: first.Current})
	if len(third.Resolved) != 1 || len(third.Current) != 0 {
		t.Errorf("an apply went on from the good state, got %v and %v", third.Resolved, third.Current)
	}
}

func TestVersionsOfRecords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		reason                 string
		newest, version, plans string
		want                   string
		keeps                  string
	}{
		{"the first reading", "", "1.5.7", "", "", "1.5.7"},
		{"an upgrade", "1.5.7", "1.11.4", "", "", "1.11.4"},
		{"an older version after a newer one", "1.11.4", "1.5.7", "", "version 1.5.7 wrote the state after version 1.11.4", "1.11.4"},
		{"numbers are not compared as text", "1.9.8", "1.11.4", "", "", "1.11.4"},
		{"a prerelease is older", "1.12.0", "1.12.0-beta1", "", "version 1.12.0-beta1 wrote", "1.12.0"},
		{"prereleases have an order", "1.12.0-beta2", "1.12.0-beta1", "", "version 1.12.0-beta1 wrote", "1.12.0-beta2"},
		{"a release follows its prerelease", "1.12.0-rc1", "1.12.0", "", "", "1.12.0"},
		{"a program that does not show the version", "1.11.4", "", "1.5.7", "", "1.11.4"},
		{"an older program plans it", "1.11.4", "1.11.4", "1.5.7", "version 1.11.4 wrote the state, and the older version 1.5.7 plans it", "1.11.4"},
		{"a newer program plans it", "1.11.4", "1.11.4", "1.12.6", "", "1.11.4"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			record := model.StateRead{Address: "a", Lineage: "l", Serial: 2, Version: test.version, PlannedBy: test.plans}
			before := map[string][]model.StateRead{"infra": {{Address: "a", Lineage: "l", Serial: 1, Newest: test.newest}}}
			result := Findings(Input{Declarations: []model.Declaration{{Name: "infra", Governs: []string{"pve"}, States: []model.StateRead{record}}}, Records: before})
			var reasons []string
			for _, f := range result.Current {
				reasons = append(reasons, f.Reason)
				if f.Verdict != model.Violated || f.Severity != model.Low || f.Check != "terraform/cli-version" || f.Changes[0].Live.Str() != test.version {
					t.Errorf("finding %+v", f)
				}
			}
			if text := strings.Join(reasons, "; "); !strings.Contains(text, test.want) || (text == "") != (test.want == "") {
				t.Errorf("found %q, want %q", text, test.want)
			}
			if got := result.Records["infra"][0].Newest; got != test.keeps {
				t.Errorf("keeps %s, want %s", got, test.keeps)
			}
		})
	}
}
