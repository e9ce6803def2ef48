package diff

import (
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestRuleWhole tests resources that are pending as a whole with different evidence.
func TestRuleWhole(t *testing.T) {
	t.Parallel()
	branch := version(t, `{"port":1}`, "b0b0", "", 0)
	branch.Branch = "feature/x"
	removed := []model.Version{{From: model.Commit{Hash: "c2"}}, version(t, `{"port":1}`, "c1", "c2", 2)}
	ruledWhole := map[string]model.Ruling{"": {Verdict: model.Bypassed}}
	for name, tc := range map[string]struct {
		reason         string
		declared, live string
		created        float64
		recorded       bool
		planned, lost  bool
		evidence       *model.Evidence
		want           string
	}{
		"to be destroyed, declared before": {reason: "the commit that removes it waits", live: `{"port":1}`, recorded: true,
			evidence: declaredBefore(value(t, `{"port":1}`)), want: "pending: waits"},
		"to be destroyed, never declared": {reason: "made by an apply that no commit holds", live: `{"port":1}`, recorded: true,
			evidence: &model.Evidence{}, want: "bypassed: applied, and declared by no commit; waits"},
		"to be destroyed, on a branch": {reason: "applied from a branch", live: `{"port":1}`, recorded: true,
			evidence: &model.Evidence{Past: model.Past{Versions: []model.Version{branch}}},
			want:     "bypassed: applied from feature/x (commit b0b0), which is not merged; waits"},
		"to be destroyed, on a branch that may be applied": {reason: "the setting", live: `{"port":1}`, recorded: true,
			evidence: &model.Evidence{Past: model.Past{Versions: []model.Version{branch}}, ApplyBeforeMerge: true}, want: "pending: waits"},
		"to be destroyed, seen declared": {reason: "memory outlives a force-push", live: `{"port":1}`, recorded: true,
			evidence: &model.Evidence{Declared: observations(t, `2 gone`, `1 {"port":1}`)}, want: "pending: waits"},
		"to be destroyed, made again after it was gone": {reason: "an old checkout was applied", live: `{"port":1}`, recorded: true, created: 900,
			evidence: &model.Evidence{Past: model.Past{Versions: removed}, Declared: observations(t, `2 gone`, `1 {"port":1}`), Live: observations(t, `900 {"port":1}`, `3 gone`, `1 {"port":1}`)},
			want:     "bypassed: made again after driftd saw it gone, and declared by no commit since; waits"},
		"to be destroyed, created long after its removal": {reason: "an old checkout was applied before the first scan", live: `{"port":1}`, recorded: true, created: 3.5,
			evidence: &model.Evidence{Past: model.Past{Versions: removed}, DeployWindow: time.Hour},
			want:     "bypassed: made after c2 had removed it; waits"},
		"to be destroyed, created within the window": {reason: "the pipeline was slow", live: `{"port":1}`, recorded: true, created: 2.5,
			evidence: &model.Evidence{Past: model.Past{Versions: removed}, DeployWindow: time.Hour}, want: "pending: waits"},
		"to be destroyed, declared and removed between two scans": {reason: "the pipeline of the removal is under way", live: `{"port":1}`, recorded: true, created: 9.95,
			evidence: &model.Evidence{Past: model.Past{Versions: []model.Version{{From: model.Commit{Hash: "c3"}}, version(t, `{"port":1}`, "c2", "c3", 10), version(t, "", "c1", "c2", 9.9)}},
				DeployWindow: time.Hour, Declared: observations(t, `2 gone`, `1 {"port":1}`), Live: observations(t, `3 gone`, `1 {"port":1}`)},
			want: "pending: waits"},
		"to be destroyed, bypassed before": {reason: "the ruling stands while it is live", live: `{"port":1}`, recorded: true,
			evidence: &model.Evidence{Past: model.Past{Versions: removed}, Live: observations(t, `900 {"port":1}`), Rulings: ruledWhole},
			want:     "bypassed: made after c2 had removed it; waits"},
		"to be destroyed, and the ref cannot be read": {reason: "it may be declared by now", live: `{"port":1}`, recorded: true, created: 900,
			evidence: &model.Evidence{Past: model.Past{Gap: "down"}, Behind: true, Declared: observations(t, `2 gone`, `1 {"port":1}`), Live: observations(t, `900 {"port":1}`, `3 gone`)},
			want:     "pending?: pending or bypassed: down; waits"},
		"to be destroyed, history cut": {reason: "nothing tells", live: `{"port":1}`, recorded: true,
			evidence: &model.Evidence{Past: model.Past{Gap: "cut"}}, want: "pending?: pending or bypassed: cut; waits"},
		"to be destroyed, perhaps by an expression": {reason: "nothing tells", live: `{"port":1}`, recorded: true,
			evidence: &model.Evidence{Past: model.Past{Versions: []model.Version{{Unknown: []string{""}, From: model.Commit{Hash: "abc"}}}}},
			want:     "pending?: pending or bypassed: commit abc may declare it by an expression; waits"},
		"to be destroyed, not asked": {reason: "nothing tells", live: `{"port":1}`, recorded: true,
			want: "pending?: pending or bypassed: its history was not read; waits"},
		"to be destroyed, never declared, apply before merge": {reason: "no branch declares it", live: `{"port":1}`, recorded: true,
			evidence: &model.Evidence{ApplyBeforeMerge: true}, want: "bypassed: applied, and declared by no commit; waits"},
		"to be made again, declared since it went": {reason: "it was gone before", declared: `{"port":1}`,
			evidence: &model.Evidence{Declared: observations(t, `4 {"port":1}`, `2 gone`), Live: observations(t, `3 gone`, `1 {"port":1}`)}, want: "pending: waits"},
		"to be made": {reason: "it never was", declared: `{"port":1}`, evidence: &model.Evidence{}, want: "pending: waits"},
		"to be made again": {reason: "it was live and declared when it went", declared: `{"port":1}`,
			evidence: &model.Evidence{Declared: observations(t, `1 {"port":1}`), Live: observations(t, `3 gone`, `1 {"port":1}`)},
			want:     "bypassed: applied and declared, and destroyed by an apply that no commit holds"},
		"to be made again, gone in this scan": {reason: "the last scan saw it", declared: `{"port":1}`,
			evidence: &model.Evidence{Declared: observations(t, `2 {"port":2}`, `1 {"port":1}`), Live: observations(t, `1 {"port":1}`)},
			want:     "bypassed: applied and declared, and destroyed by an apply that no commit holds"},
		"to be made again, gone from the record": {reason: "only the record lists what a plan reads", declared: `{"port":1}`, planned: true,
			evidence: &model.Evidence{Declared: observations(t, `1 {"port":1}`), Live: observations(t, `3 gone`, `1 {"port":1}`)},
			want:     "bypassed: applied and declared, and not in the record any more: destroyed by an apply that no commit holds, or removed from the record by hand"},
		"to be made again, and the record is lost": {reason: "it may still exist", declared: `{"port":1}`, planned: true, lost: true,
			evidence: &model.Evidence{Declared: observations(t, `1 {"port":1}`), Live: observations(t, `3 gone`, `1 {"port":1}`)},
			want:     "pending?: pending or bypassed: there is no record of what was applied: it may be lost"},
		"to be made, and there is no record yet": {reason: "the first apply has not come", declared: `{"port":1}`, planned: true, lost: true,
			evidence: &model.Evidence{Declared: observations(t, `1 {"port":1}`)}, want: "pending: waits"},
		"to be made again, declared again": {reason: "a revert of its removal", declared: `{"port":1}`,
			evidence: &model.Evidence{Declared: observations(t, `5 {"port":1}`, `2 gone`, `1 {"port":1}`), Live: observations(t, `3 gone`, `1 {"port":1}`)},
			want:     "pending: waits"},
		"to be made again, declared again in this scan": {reason: "a revert of its removal", declared: `{"port":1}`,
			evidence: &model.Evidence{Declared: observations(t, `2 gone`, `1 {"port":1}`), Live: observations(t, `3 gone`, `1 {"port":1}`)},
			want:     "pending: waits"},
		"to be made again, removed and declared between two scans": {reason: "the pipeline of the removal destroyed it", declared: `{"port":1}`,
			evidence: &model.Evidence{Past: model.Past{Versions: []model.Version{version(t, `{"port":1}`, "c3", "", 0), version(t, "", "c2", "c3", 10), version(t, `{"port":1}`, "c1", "c2", 9.9)}},
				Declared: observations(t, `1 {"port":1}`), Live: observations(t, `1 {"port":1}`)}, want: "pending: waits"},
		"to be made again, bypassed before": {reason: "the ruling stands while it is gone", declared: `{"port":1}`,
			evidence: &model.Evidence{Declared: observations(t, `1 {"port":1}`), Live: observations(t, `3 gone`), Rulings: ruledWhole},
			want:     "bypassed: applied and declared, and destroyed by an apply that no commit holds"},
		"to be made again, and the ref cannot be read": {reason: "it may be declared no more by now", declared: `{"port":1}`,
			evidence: &model.Evidence{Past: model.Past{Gap: "down"}, Behind: true, Declared: observations(t, `1 {"port":1}`), Live: observations(t, `3 gone`, `1 {"port":1}`)},
			want:     "pending?: pending or bypassed: down"},
		"to be made, recorded": {reason: "Terraform itself lost sight of it: not an apply", declared: `{"port":1}`, recorded: true,
			evidence: &model.Evidence{Declared: observations(t, `1 {"port":1}`), Live: observations(t, `1 {"port":1}`)}, want: "pending: waits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &model.Claim{Declaration: "d", ClaimApply: model.ClaimApply{Pending: "waits"}, ClaimHistory: model.ClaimHistory{Evidence: tc.evidence, AuditEvents: []model.AuditEvent{{Actor: model.Actor{Name: "committer", Confidence: model.Likely}}}}}
			if c.Lost = tc.lost; tc.planned {
				c.Source = model.LiveSource("d")
			}
			s := &model.Subject{Claims: []*model.Claim{c}}
			if tc.declared != "" {
				c.Value = value(t, tc.declared)
			}
			if tc.recorded {
				c.Recorded = pointer(value(t, `{"port":1}`))
			}
			if tc.live != "" {
				s.Live = &model.Resource{Value: value(t, tc.live), Created: hour(tc.created)}
			}
			outcomes := Compare(s, Options{})
			if len(outcomes) != 1 {
				t.Fatalf("%s: %+v, want one outcome", tc.reason, outcomes)
			}
			got := string(outcomes[0].Verdict)
			if outcomes[0].Unproven {
				got += "?"
			}
			if got += ": " + outcomes[0].Reason; got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
			if committed := strings.HasPrefix(got, "pending: "); committed != (outcomes[0].Actor.Name == "committer") {
				t.Errorf("%s: by %s", tc.reason, outcomes[0].Actor.Name)
			}
		})
	}
}

// TestMissedByScans tests the search for a version between two scans with the values that git
// declared and that driftd read before.
func TestMissedByScans(t *testing.T) {
	t.Parallel()
	v := func(text string, until float64) model.Version { return version(t, text, "c", "d", until) }
	unknown := v(`{}`, 5)
	unknown.Unknown = []string{"port"}
	branch := v(`{"port":2}`, 5)
	branch.Branch = "feature/x"
	for reason, tc := range map[string]struct {
		versions []model.Version
		declared []model.Observation
		want     bool
	}{
		"the value that driftd reads since before": {[]model.Version{v(`{"port":1}`, 9), v(`{"port":2}`, 5)}, observations(t, `1 {"port":2}`), true},
		"further back":                                         {[]model.Version{v(`{"port":1}`, 9), v(`{"port":7}`, 6), v(`{"port":2}`, 5)}, observations(t, `1 {"port":2}`), true},
		"another field changed since":                          {[]model.Version{v(`{"port":1}`, 9), v(`{"port":2}`, 5)}, observations(t, `9.5 {"cpu":1,"port":2}`, `1 {"port":2}`), true},
		"driftd read it after the version was superseded":      {[]model.Version{v(`{"port":1}`, 9), v(`{"port":2}`, 5)}, observations(t, `9.5 {"port":2}`), false},
		"driftd read it when the version was superseded":       {[]model.Version{v(`{"port":1}`, 9), v(`{"port":2}`, 5)}, observations(t, `9 {"port":2}`), false},
		"driftd read the version itself":                       {[]model.Version{v(`{"port":1}`, 9), v(`{"port":2}`, 5)}, observations(t, `9.5 {"port":2}`, `5 {"port":1}`, `1 {"port":2}`), false},
		"driftd read the version itself last":                  {[]model.Version{v(`{"port":1}`, 9), v(`{"port":2}`, 5), v(`{"port":1}`, 3)}, observations(t, `1 {"port":1}`), false},
		"driftd read something that was never declared before": {[]model.Version{v(`{"port":1}`, 9), v(`{"port":7}`, 5)}, observations(t, `1 {"port":2}`), false},
		"what was declared before is not known":                {[]model.Version{v(`{"port":1}`, 9), unknown}, observations(t, `1 {}`), false},
		"only a branch declared it before":                     {[]model.Version{v(`{"port":1}`, 9), branch}, observations(t, `1 {"port":2}`), false},
		"it was not declared before":                           {[]model.Version{v(`{"port":1}`, 9), v("", 5)}, observations(t, `1 gone`), true},
		"a field that was not declared before":                 {[]model.Version{v(`{"port":1}`, 9), v(`{}`, 5)}, observations(t, `1 {}`), true},
		"the resource was not declared, the field was not":     {[]model.Version{v(`{"port":1}`, 9), v(`{}`, 5)}, observations(t, `1 gone`), false},
		"driftd read nothing":                                  {[]model.Version{v(`{"port":1}`, 9), v(`{"port":2}`, 5)}, nil, false},
		"the version is not there":                             {[]model.Version{v(`{"port":2}`, 5)}, observations(t, `1 {"port":2}`), false},
	} {
		s := subject(value(t, `{"port":2}`), &model.Resource{Value: value(t, `{"port":1}`)})
		s.Claims[0].Evidence = &model.Evidence{Past: model.Past{Versions: tc.versions}, Declared: tc.declared}
		w := newWalk(s, s.Claims[0], s.Live.Value, Options{})
		w.path = path{fieldSegment("port")}
		a := w.aspect(nil, model.IntOf(2), model.IntOf(1), model.IntOf(1))
		older, _, _ := a.versions()
		if got := a.missedVersion(older); got != tc.want {
			t.Errorf("%s: %t, want %t", reason, got, tc.want)
		}
	}
}

// TestReportedOnce compares two claims that agree: the first one is reported, unless the other
// one's history is worse.
func TestReportedOnce(t *testing.T) {
	t.Parallel()
	ahead := &model.Evidence{DeployWindow: time.Hour, Past: model.Past{Versions: []model.Version{version(t, `{"port":1}`, "c1", "c2", 9.9)}}}
	never, cut := &model.Evidence{}, &model.Evidence{Past: model.Past{Gap: "cut"}}
	for reason, tc := range map[string]struct {
		first, second *model.Evidence
		want          string
	}{
		"both are ahead":               {ahead, ahead, "pending a"},
		"the second never declared it": {ahead, never, "bypassed b"},
		"the first never declared it":  {never, ahead, "bypassed a"},
		"neither declared it":          {never, never, "bypassed a"},
		"the second does not know":     {ahead, cut, "pending b"},
		"the second is sure":           {cut, never, "bypassed b"},
		"the first is sure":            {never, cut, "bypassed a"},
		"neither was asked":            {nil, nil, "pending a"},
	} {
		live := value(t, `{"port":1}`)
		s := subject(value(t, `{"port":2}`), &model.Resource{Value: live, LastApplied: &live, OwnersFrom: "managedFields",
			Owners: []model.Owner{{Name: "laptop", Records: true, Fields: set("port"), At: hour(10)}}})
		first, second := *s.Claims[0], *s.Claims[0]
		first.Declaration, first.Evidence = "a", tc.first
		second.Declaration, second.Evidence = "b", tc.second
		s.Claims = []*model.Claim{&first, &second}
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 || len(outcomes[0].Changes) != 1 {
			t.Fatalf("%s: %+v, want one field", reason, outcomes)
		}
		if got := string(outcomes[0].Verdict) + " " + outcomes[0].Claim.Declaration; got != tc.want {
			t.Errorf("%s: %s, want %s", reason, got, tc.want)
		}
	}
}

// TestIsNew checks whether a resource that is not live is pending until its first apply. It is
// hour 10, and the deploy window is an hour.
func TestIsNew(t *testing.T) {
	t.Parallel()
	from := func(at float64) model.Version {
		v := version(t, `{"port":1}`, "abc", "", 0)
		v.From.When, v.Until = hour(at), model.Commit{}
		return v
	}
	gone := version(t, "", "000", "abc", 9.5)
	other := from(1)
	other.Branch = "feature/x"
	seen := from(1)
	seen.From.Seen = hour(9.5)
	for reason, tc := range map[string]struct {
		past   model.Past
		live   []model.Observation
		change func(*model.Claim)
		want   bool
	}{
		"declared within the window":             {past: model.Past{Versions: []model.Version{from(9.5), gone}}, want: true},
		"at the end of the window":               {past: model.Past{Versions: []model.Version{from(9), gone}}, want: true},
		"before the window":                      {past: model.Past{Versions: []model.Version{from(8.9), gone}}},
		"an earlier version counts":              {past: model.Past{Versions: []model.Version{from(9.5), from(2), gone}}},
		"by the first commit":                    {past: model.Past{Versions: []model.Version{from(9.5)}}, want: true},
		"the history is cut":                     {past: model.Past{Versions: []model.Version{from(9.5)}, Gap: "cut"}},
		"the history is cut before that":         {past: model.Past{Versions: []model.Version{from(9.5), gone}, Gap: "cut"}, want: true},
		"an expression":                          {past: model.Past{Versions: []model.Version{from(9.5), {Unknown: []string{"port"}}}}},
		"another branch":                         {past: model.Past{Versions: []model.Version{other, from(9.5), gone}}, want: true},
		"on another branch only":                 {past: model.Past{Versions: []model.Version{other}}},
		"when driftd saw it":                     {past: model.Past{Versions: []model.Version{seen, gone}}, want: true},
		"a date in the future":                   {past: model.Past{Versions: []model.Version{from(11.1), gone}}},
		"without a date":                         {past: model.Past{Versions: []model.Version{version(t, `{"port":1}`, "abc", "", 0)}}},
		"it is live until now":                   {past: model.Past{Versions: []model.Version{from(9.5), gone}}, live: observations(t, `9.6 {"port":1}`)},
		"it was live since":                      {past: model.Past{Versions: []model.Version{from(9.5), gone}}, live: observations(t, "9.8 gone", `9.6 {"port":1}`)},
		"it was live before":                     {past: model.Past{Versions: []model.Version{from(9.5), gone}}, live: observations(t, "9.4 gone", `1 {"port":1}`), want: true},
		"it was seen to be gone":                 {past: model.Past{Versions: []model.Version{from(9.5), gone}}, live: observations(t, "9.8 gone"), want: true},
		"only recorded":                          {past: model.Past{Versions: []model.Version{from(9.5), gone}}, change: func(c *model.Claim) { c.RecordOnly = true }},
		"recorded, so that it was applied":       {past: model.Past{Versions: []model.Version{from(9.5), gone}}, change: func(c *model.Claim) { c.Recorded = &c.Value }},
		"of an inventory, which applies nothing": {past: model.Past{Versions: []model.Version{from(9.5), gone}}, change: func(c *model.Claim) { c.ByIdentity = true }},
		"no evidence":                            {change: func(c *model.Claim) { c.Evidence = nil }},
	} {
		c := &model.Claim{Declaration: "d", Value: value(t, `{"port":1}`),
			ClaimHistory: model.ClaimHistory{Evidence: &model.Evidence{Past: tc.past, Live: tc.live, Now: hour(10), DeployWindow: time.Hour}}}
		if tc.change != nil {
			tc.change(c)
		}
		want := "missing"
		if tc.want {
			want = "pending"
		}
		outcomes := Compare(&model.Subject{Claims: []*model.Claim{c}}, Options{})
		if len(outcomes) != 1 || string(outcomes[0].Verdict) != want {
			t.Errorf("%s: %v, want %s", reason, outcomes, want)
		}
	}
}
