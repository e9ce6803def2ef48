package match

import (
	"slices"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestFetched checks that a claim shows which commit its resource must have.
func TestFetched(t *testing.T) {
	t.Parallel()
	const check = "test/behind"
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	fetch := func(since time.Duration) *model.Fetch {
		return &model.Fetch{Commit: "new", Since: now.Add(-since), Read: now, Within: time.Hour}
	}
	for reason, tc := range map[string]struct {
		live              string
		fetch             *model.Fetch
		behind, undecided bool
	}{
		"in time":      {"old", fetch(time.Minute), false, true},
		"behind":       {"old", fetch(2 * time.Hour), true, false},
		"fetched":      {"new", fetch(2 * time.Hour), false, false},
		"not declared": {"old", nil, false, false},
	} {
		r := resource("p/a")
		r.Fetched = &model.Fetched{Commit: tc.live, Behind: model.Violation{Check: check}}
		r.Violations = []model.Violation{{Check: "test/a"}, {Check: "test/z"}}
		c := claim("d", "p/a")
		c.Fetch = tc.fetch
		s := model.Snapshot{Source: "s", Taken: now, Resources: []model.Resource{r}}
		live := Match(s, []model.Declaration{{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{c}}})[0].Live
		behind := slices.IndexFunc(live.Violations, func(v model.Violation) bool { return v.Check == check })
		if (behind == 1) != tc.behind || slices.Contains(live.Undecided, check) != tc.undecided || len(s.Resources[0].Violations) != 2 {
			t.Errorf("%s: %+v, undecided %q", reason, live.Violations, live.Undecided)
		}
	}
}
