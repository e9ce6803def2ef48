package metrics

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestScorecardIsShown checks the counts of the scorecard.
func TestScorecardIsShown(t *testing.T) {
	t.Parallel()
	m := busy(t)
	m.ObserveRun(model.Run{Scores: []model.Score{{Source: "prod", Owner: "shop", Live: 4, Declared: 3, Claims: 5, Pinned: model.Checked{Good: 2, Unchecked: 3}}}}, nil)
	got := page(t, m)
	for _, line := range []string{
		`driftd_scorecard_resources{owner="shop",property="declared",source="prod"} 4`, `driftd_scorecard_good_resources{owner="shop",property="declared",source="prod"} 3`,
		`driftd_scorecard_resources{owner="shop",property="pinned",source="prod"} 5`, `driftd_scorecard_good_resources{owner="shop",property="pinned",source="prod"} 2`,
		`driftd_scorecard_good_resources{owner="shop",property="in_sync",source="prod"} 0`,
	} {
		if !has(got, line) {
			t.Errorf("page lacks %s:\n%s", line, got)
		}
	}
}
