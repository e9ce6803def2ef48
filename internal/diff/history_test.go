package diff

import (
	"fmt"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// aspectOf returns the port of a claim as an aspect: declared as 2 and live as 1, which was
// applied when 1 was declared.
func aspectOf(e *model.Evidence) *aspect {
	s := &model.Subject{Live: &model.Resource{}, Claims: []*model.Claim{{ClaimHistory: model.ClaimHistory{Evidence: e}}}}
	return walkAt(s, "port").aspect(nil, model.IntOf(2), model.IntOf(1), model.IntOf(1))
}

// TestHistory tests each property of the values that earlier scans read with a pair of similar
// cases.
func TestHistory(t *testing.T) {
	t.Parallel()
	at := func(moment time.Time) string {
		if moment.IsZero() {
			return "-"
		}
		return fmt.Sprint(moment.Sub(created).Hours())
	}
	for _, tc := range []struct {
		reason         string
		declared, live []string
		looked         float64
		// times are since, before, declaredSince and heldUntil, in hours.
		times string
		flags string
	}{
		{
			reason: "no scan before",
			times:  "- - - -", flags: "live moved, declared moved",
		},
		{
			reason: "only the live side was read",
			live:   []string{`3 {"port":1}`},
			times:  "3 - - -", flags: "declared moved",
		},
		{
			reason:   "only the declaration was read",
			declared: []string{`3 {"port":2}`},
			times:    "- - 3 -", flags: "live moved",
		},
		{
			reason:   "both are as they were",
			declared: []string{`5 {"port":2}`, `4 {"port":2}`}, live: []string{`3 {"port":1}`, `2 {"port":1}`},
			times: "2 - 4 -", flags: "known",
		},
		{
			reason:   "the live side moved in this scan",
			declared: []string{`5 {"port":2}`}, live: []string{`3 {"port":7}`},
			times: "- 3 5 -", flags: "known, live moved, prior 7",
		},
		{
			reason:   "the live side moved in this scan, after the last look",
			declared: []string{`2 {"port":2}`}, live: []string{`3 {"port":7}`}, looked: 6,
			times: "- 6 2 -", flags: "known, live moved, prior 7",
		},
		{
			reason:   "the last look was before the live side moved",
			declared: []string{`2 {"port":2}`}, live: []string{`4 {"port":1}`, `3 {"port":7}`}, looked: 6,
			times: "4 3 2 -", flags: "known, prior 7",
		},
		{
			reason:   "an older look does not count",
			declared: []string{`2 {"port":2}`}, live: []string{`3 {"port":7}`}, looked: 1,
			times: "- 3 2 -", flags: "known, live moved, prior 7",
		},
		{
			reason:   "the declaration moved in this scan",
			declared: []string{`5 {"port":1}`}, live: []string{`3 {"port":1}`},
			times: "3 - - -", flags: "known, declared moved, held, declared before",
		},
		{
			reason:   "the live value was declared until the declaration changed",
			declared: []string{`5 {"port":2}`, `2 {"port":1}`}, live: []string{`3 {"port":1}`},
			times: "3 - 5 5", flags: "known, held, declared before",
		},
		{
			reason:   "another value was declared before, never the live one",
			declared: []string{`5 {"port":2}`, `2 {"port":9}`}, live: []string{`3 {"port":1}`},
			times: "3 - 5 -", flags: "known, declared before",
		},
		{
			reason:   "the newest time of the live value counts",
			declared: []string{`8 {"port":2}`, `6 {"port":1}`, `4 {"port":2}`, `2 {"port":1}`}, live: []string{`3 {"port":1}`},
			times: "3 - 8 8", flags: "known, held, declared before",
		},
		{
			reason:   "the live side left the declared value",
			declared: []string{`2 {"port":2}`}, live: []string{`4 {"port":1}`, `3 {"port":2}`},
			times: "4 3 2 -", flags: "known, left, prior 2",
		},
		{
			reason:   "the live side left the value before it was declared",
			declared: []string{`5 {"port":2}`}, live: []string{`4 {"port":1}`, `3 {"port":2}`},
			times: "4 3 5 -", flags: "known",
		},
		{
			reason:   "the live side left the declared value in this scan",
			declared: []string{`5 {"port":2}`}, live: []string{`3 {"port":2}`},
			times: "- 3 5 -", flags: "known, live moved, left, prior 2",
		},
		{
			reason:   "the live value came while it was declared",
			declared: []string{`5 {"port":2}`, `1 {"port":1}`}, live: []string{`4 {"port":1}`, `3 {"port":7}`},
			times: "4 3 5 5", flags: "known, held, declared before",
		},
		{
			reason:   "the live value came when it was declared no more",
			declared: []string{`5 {"port":2}`, `1 {"port":1}`}, live: []string{`6 {"port":1}`, `3 {"port":7}`},
			times: "6 3 5 5", flags: "known, held, declared before, prior 7",
		},
		{
			reason:   "the resource was gone before",
			declared: []string{`2 {"port":2}`}, live: []string{`4 {"port":1}`, `3 gone`},
			times: "4 3 2 -", flags: "known",
		},
		{
			reason:   "the resource was not declared before",
			declared: []string{`5 {"port":2}`, `2 gone`}, live: []string{`3 {"port":1}`},
			times: "3 - 5 -", flags: "known, declared before",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			e := &model.Evidence{Declared: observations(t, tc.declared...), Live: observations(t, tc.live...)}
			if tc.looked > 0 {
				e.LastRead = hour(tc.looked)
			}
			m := aspectOf(e).history()
			if got := at(m.since) + " " + at(m.before) + " " + at(m.declaredSince) + " " + at(m.heldUntil); got != tc.times {
				t.Errorf("since, before, declaredSince and heldUntil are %s, want %s", got, tc.times)
			}
			flags := ""
			for _, f := range []struct {
				name string
				set  bool
			}{{"known", m.known}, {"live moved", m.liveMoved}, {"declared moved", m.declaredMoved}, {"left", m.left}, {"held", m.held},
				{"declared before", m.declaredBefore}, {"prior " + m.prior.Text(), m.moved}} {
				if f.set && flags != "" {
					flags += ", "
				}
				if f.set {
					flags += f.name
				}
			}
			if flags != tc.flags {
				t.Errorf("%s, want %s", flags, tc.flags)
			}
		})
	}
}

// TestLiveWhileDeclared checks whether a scan read the value as live while it was declared.
func TestLiveWhileDeclared(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		memory history
		want   bool
	}{
		{"nothing was read", history{}, false},
		{"never declared", history{since: hour(1)}, false},
		{"never declared, and declared until", history{since: hour(1), heldUntil: hour(2)}, false},
		{"never live", history{held: true}, false},
		{"never live, declared until", history{held: true, heldUntil: hour(2)}, false},
		{"live, and declared until this scan", history{held: true, since: hour(1)}, true},
		{"live before it was declared otherwise", history{held: true, since: hour(1), heldUntil: hour(2)}, true},
		{"live when it was declared otherwise", history{held: true, since: hour(2), heldUntil: hour(2)}, false},
		{"live after it was declared otherwise", history{held: true, since: hour(3), heldUntil: hour(2)}, false},
	} {
		if got := tc.memory.liveWhileDeclared(); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// TestRevertedTo checks whether an older version was restored after a newer one was live. Only
// known versions of the ref count.
func TestRevertedTo(t *testing.T) {
	t.Parallel()
	v := func(text string) model.Version { return model.Version{Value: pointer(value(t, text))} }
	branch, unknown, unknownOld := v(`{"port":3}`), v(`{"port":3}`), v(`{"port":1}`)
	branch.Branch, unknown.Unknown, unknownOld.Unknown = "feature/x", []string{"cpu"}, []string{"cpu"}
	three, one := model.IntOf(3), model.IntOf(1)
	for _, tc := range []struct {
		reason   string
		versions []model.Version
		memory   history
		want     bool
	}{
		{"a newer version was live", []model.Version{v(`{"port":2}`), v(`{"port":3}`), v(`{"port":1}`)}, history{moved: true, prior: three}, true},
		{"the newest version was live", []model.Version{v(`{"port":3}`), v(`{"port":1}`)}, history{moved: true, prior: three}, true},
		{"an older version was live", []model.Version{v(`{"port":2}`), v(`{"port":1}`), v(`{"port":3}`)}, history{moved: true, prior: three}, false},
		{"no other value was live", []model.Version{v(`{"port":3}`), v(`{"port":1}`)}, history{prior: three}, false},
		{"the same value was live", []model.Version{v(`{"port":3}`), v(`{"port":1}`)}, history{moved: true, prior: one}, false},
		{"the earlier live value was never declared", []model.Version{v(`{"port":2}`), v(`{"port":1}`)}, history{moved: true, prior: three}, false},
		{"a branch declares the earlier live value", []model.Version{branch, v(`{"port":1}`)}, history{moved: true, prior: three}, false},
		{"the earlier live value may be that of an unknown version", []model.Version{unknown, v(`{"port":1}`)}, history{moved: true, prior: three}, false},
		{"the live value may be that of an unknown version", []model.Version{v(`{"port":3}`), unknownOld}, history{moved: true, prior: three}, false},
		{"the live value was never declared", []model.Version{v(`{"port":3}`), v(`{"port":2}`)}, history{moved: true, prior: three}, false},
		{"the newest time of each counts", []model.Version{v(`{"port":1}`), v(`{"port":3}`), v(`{"port":1}`)}, history{moved: true, prior: three}, false},
		{"no versions", nil, history{moved: true, prior: three}, false},
	} {
		if got := aspectOf(&model.Evidence{Past: model.Past{Versions: tc.versions}}).reverted(tc.memory); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// TestWasLive checks whether a scan read the resource as live at a time or later. It was live
// until the scan that did not find it.
func TestWasLive(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		live   []string
		want   bool
	}{
		{"nothing was read", nil, false},
		{"it never was", []string{`9 gone`, `1 gone`}, false},
		{"it was, in the last scan", []string{`1 {}`}, true},
		{"it was, until later", []string{`6 gone`, `1 {}`}, true},
		{"it was, until then", []string{`5 gone`, `1 {}`}, false},
		{"it was, until before", []string{`4 gone`, `1 {}`}, false},
		{"it was, and went twice", []string{`6 gone`, `4 {}`, `3 gone`, `1 {}`}, true},
	} {
		if got := wasLive(&model.Evidence{Live: observations(t, tc.live...)}, hour(5)); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// TestIntroduced returns the commit since which the ref declares the resource. It is unknown if
// the history has a gap or an expression.
func TestIntroduced(t *testing.T) {
	t.Parallel()
	has, hasNot := func(hash string) model.Version { return by(t, hash, "ann", `{}`) }, by(t, "c0", "bob", "")
	branch, unknownBranch, unknown := has("b1"), has("b1"), has("c1")
	branch.Branch, unknownBranch.Branch, unknownBranch.Unknown, unknown.Unknown = "x", "x", []string{""}, []string{"port"}
	for _, tc := range []struct {
		reason   string
		gap      string
		versions []model.Version
		want     string
	}{
		{"no versions", "", nil, ""},
		{"since it is declared", "", []model.Version{has("c2"), has("c1"), hasNot}, "c1"},
		{"since the first commit", "", []model.Version{has("c2"), has("c1")}, "c1"},
		{"it is declared no more", "", []model.Version{hasNot, has("c1")}, ""},
		{"declared again", "", []model.Version{has("c3"), hasNot, has("c1")}, "c3"},
		{"a cut history that shows where it began", "cut", []model.Version{has("c1"), hasNot}, "c1"},
		{"a cut history that does not", "cut", []model.Version{has("c1")}, ""},
		{"an expression", "", []model.Version{has("c2"), unknown, hasNot}, ""},
		{"a branch", "", []model.Version{branch, has("c1"), hasNot}, "c1"},
		{"an expression on a branch", "", []model.Version{unknownBranch, has("c1"), hasNot}, "c1"},
		{"a cut history, absent on a branch alone", "cut", []model.Version{has("c1"), {Branch: "x"}}, ""},
	} {
		got := introduced(&model.Evidence{Past: model.Past{Gap: tc.gap, Versions: tc.versions}})
		if got.Hash != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got.Hash, tc.want)
		}
	}
	seen := has("c1")
	seen.From.Seen = hour(7)
	if got := introduced(&model.Evidence{Past: model.Past{Versions: []model.Version{seen, hasNot}}}); !got.When.Equal(hour(7)) {
		t.Errorf("a commit that driftd saw at hour 7 is of %s", got.When)
	}
}

// TestRuledWhole checks that only a resource that is to be removed or created is ruled on as a
// whole.
func TestRuledWhole(t *testing.T) {
	t.Parallel()
	was := &model.Evidence{Declared: observations(t, `1 {"port":1}`), Live: observations(t, `1 {"port":1}`)}
	live := &model.Resource{Value: value(t, `{"port":1}`)}
	declared, recorded := value(t, `{"port":1}`), value(t, `{"port":1}`)
	for _, tc := range []struct {
		reason string
		live   *model.Resource
		claim  model.Claim
		want   string
	}{
		{"to be replaced, and no history", live, model.Claim{Value: declared}, "pending waits"},
		{"to be replaced, declared and live before", live, model.Claim{Value: declared, ClaimHistory: model.ClaimHistory{Evidence: was}}, "pending waits"},
		{"to be made, and no history", nil, model.Claim{Value: declared}, "pending waits"},
		{"to be made, declared and live before", nil, model.Claim{Value: declared, ClaimHistory: model.ClaimHistory{Evidence: was}},
			"bypassed applied and declared, and destroyed by an apply that no commit holds"},
		{"to be made, and recorded", nil, model.Claim{Value: declared, Recorded: &recorded, ClaimHistory: model.ClaimHistory{Evidence: was}}, "pending waits"},
		{"to be removed, and no history", live, model.Claim{}, "pending? pending or bypassed: its history was not read; waits"},
		{"to be removed, never declared", live, model.Claim{ClaimHistory: model.ClaimHistory{Evidence: &model.Evidence{}}}, "bypassed applied, and declared by no commit; waits"},
		{"neither declared nor live", nil, model.Claim{}, "pending waits"},
		{"neither declared nor live, declared before", nil, model.Claim{ClaimHistory: model.ClaimHistory{Evidence: was}}, "pending waits"},
	} {
		tc.claim.Pending = "waits"
		ruled, _ := ruleWhole(&model.Subject{Live: tc.live}, &tc.claim)
		got := string(ruled.Verdict)
		if ruled.Unproven {
			got += "?"
		}
		if got += " " + ruled.Reason; got != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
	}
}
