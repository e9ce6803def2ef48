package classify

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// endedAs returns a finding of an outcome that ended recently. The ID "first" stands for
// the one that a new finding of the outcome that is recalled gets.
func endedAs(id, text string) model.Finding {
	o := outcome(text)
	f := model.Finding{ID: id, Verdict: o.Verdict, Key: key, Changes: o.Changes, Resolved: earlier, FirstSeen: earlier}
	if o.Claim != nil {
		f.Declaration, f.Address = o.Claim.Declaration, o.Claim.Address
	}
	return f
}

// TestRecall decides which of the findings that ended recently comes back as a new one.
func TestRecall(t *testing.T) {
	t.Parallel()
	const first, other = "first", "other"
	for reason, tc := range map[string]struct {
		found  string
		recent []model.Finding
		want   string
	}{
		"none ended":                               {"changed d a", nil, ""},
		"the same":                                 {"changed d a", []model.Finding{endedAs(other, "changed d a")}, other},
		"other fields":                             {"changed d a", []model.Finding{endedAs(other, "changed d b")}, other},
		"another verdict":                          {"changed d a", []model.Finding{endedAs(other, "disputed d a")}, ""},
		"another verdict under the ID":             {"changed d a", []model.Finding{endedAs(first, "disputed d a")}, first},
		"another verdict and field under the ID":   {"changed d a", []model.Finding{endedAs(first, "disputed d b")}, ""},
		"another claim":                            {"changed d a", []model.Finding{endedAs(other, "changed d2 b")}, ""},
		"another claim, the same field":            {"changed d a", []model.Finding{endedAs(other, "changed d2 a")}, ""},
		"another declaration":                      {"changed d a", []model.Finding{endedAs(other, "changed e a")}, ""},
		"the whole":                                {"missing d", []model.Finding{endedAs(other, "missing d")}, other},
		"the whole, before a field":                {"codified d", []model.Finding{endedAs(first, "codified d a"), endedAs(other, "codified d")}, other},
		"a field, where only that ended":           {"codified d", []model.Finding{endedAs(first, "codified d a")}, first},
		"the field, before the whole":              {"codified d a", []model.Finding{endedAs(other, "codified d"), endedAs(first, "conflict d a")}, first},
		"the same field, before the ID":            {"changed d a", []model.Finding{endedAs(first, "disputed d a"), endedAs(other, "changed d a")}, other},
		"the ID, before another field":             {"changed d a", []model.Finding{endedAs(first, "disputed d a"), endedAs(other, "changed d b")}, first},
		"the same field, before another":           {"changed d a", []model.Finding{endedAs(first, "changed d b"), endedAs(other, "changed d a")}, other},
		"more of the same fields":                  {"changed d a b", []model.Finding{endedAs(first, "changed d a"), endedAs(other, "changed d a b")}, other},
		"a part of the field":                      {"changed d a", []model.Finding{endedAs(other, "changed d a.x")}, other},
		"unchecked":                                {"unchecked d", []model.Finding{endedAs(other, "unchecked d")}, other},
		"it was only unchecked":                    {"changed d a", []model.Finding{endedAs(first, "unchecked d")}, ""},
		"unmanaged":                                {"unmanaged -", []model.Finding{endedAs(other, "unmanaged -")}, other},
		"unmanaged by another declaration":         {"unmanaged not-e", []model.Finding{endedAs(other, "unmanaged not-d")}, ""},
		"unmanaged, and another resource's ending": {"unmanaged -", []model.Finding{{ID: other, Verdict: model.Unmanaged, Key: model.Key{Source: "s", Kind: key.Kind, ID: "p/b"}}}, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			in := newTale().input([]string{tc.found})
			fresh := Findings(in).Current[0].ID
			want := tc.want
			if want == first {
				want = fresh
			}
			for _, f := range tc.recent {
				if f.ID == first {
					f.ID = fresh
				}
				in.Recent = append(in.Recent, f)
			}
			for range 2 {
				got := Findings(in).Current[0]
				if came := slices.ContainsFunc(in.Recent, func(f model.Finding) bool { return f.ID == got.ID }); came != (want != "") || came && got.ID != want {
					t.Errorf("it is %s, want %q of %+v", got.ID, want, in.Recent)
				}
				slices.Reverse(in.Recent)
			}
		})
	}
}

// TestRecallDoesNotDependOnOthers holds that an open finding elsewhere does not change
// which finding comes back.
func TestRecallDoesNotDependOnOthers(t *testing.T) {
	t.Parallel()
	elsewhere := model.Finding{ID: "open", Verdict: model.Changed, Key: model.Key{Source: "s", Kind: key.Kind, ID: "p/b"}, Declaration: "d", FirstSeen: earlier}
	for _, text := range []string{"changed d a", "changed d2 a", "changed e a", "disputed d a", "missing d"} {
		in := newTale().input([]string{"changed d a"})
		in.Recent = []model.Finding{endedAs("ended", text)}
		alone := Findings(in).Current
		in.Earlier = []model.Finding{elsewhere}
		if diff := cmp.Diff(alone, Findings(in).Current); diff != "" {
			t.Errorf("%s ended (-alone +with another one open):\n%s", text, diff)
		}
	}
}

// TestClaimWhoseLinesMoved has a declaration with two claims on a resource, and an open
// finding of an address that none of them has any more: it may be either.
func TestClaimWhoseLinesMoved(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		address, found string
		same           bool
	}{
		"the first claim's":                     {"d:1", "changed d b", true},
		"the first claim's, on the second":      {"d:1", "changed d2 b", false},
		"the second claim's":                    {"d:2", "changed d2 b", true},
		"the second claim's, on the first":      {"d:2", "changed d b", false},
		"an address that is gone, on the first": {"d:9", "changed d b", true},
		"and on the second":                     {"d:9", "changed d2 b", true},
		"of another declaration":                {"d:9", "changed e b", false},
	} {
		in := newTale().input([]string{tc.found})
		f := endedAs("open", "changed d a")
		f.Address, f.Resolved = tc.address, time.Time{}
		in.Earlier = []model.Finding{f}
		if got := Findings(in).Current[0].ID == "open"; got != tc.same {
			t.Errorf("%s: the same finding: %t", reason, got)
		}
	}
}

// TestMergedIsNotMadeAgain has a missing resource that exists again with another claim's
// difference, while its own claim has moved to another resource. The missing finding is
// merged into the difference, and does not go on as the move as well.
func TestMergedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	in := newTale().input([]string{"changed e a"})
	missing, open := endedAs("missing", "missing d"), endedAs("open", "changed e a")
	missing.Resolved, open.Resolved = time.Time{}, time.Time{}
	in.Earlier = []model.Finding{missing, open}
	moved := model.Judged{Subject: &model.Subject{Key: model.Key{Source: "s", Kind: key.Kind, ID: "p/b"}},
		Outcomes: []model.Outcome{{Verdict: model.Moved, Claim: claims()[0]}}}
	in.Judged = append(in.Judged, moved)
	r := Findings(in)
	for _, f := range r.Current {
		if f.Key == key && f.ID != "missing" && f.ID != "open" || f.Key != key && (f.ID == "missing" || f.ID == "open") {
			t.Errorf("%s %s is %s", f.Key, f.Verdict, f.ID)
		}
	}
	if len(r.Resolved) != 1 || r.Resolved[0].MergedInto == "" {
		t.Errorf("resolved %+v, want one that was merged", r.Resolved)
	}
}
