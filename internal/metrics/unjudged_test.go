package metrics

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestNotJudgedIsShown checks the counts of objects not judged by the last run, by declaration
// and source. A run without such objects removes the series.
func TestNotJudgedIsShown(t *testing.T) {
	t.Parallel()
	m := busy(t)
	m.ObserveRun(model.Run{NotJudged: []model.NotJudged{
		{Source: "prod", Declaration: "shop", Address: "a", Count: 2}, {Source: "prod", Declaration: "shop", Address: "b", Count: 3},
		{Source: "edge", Declaration: "shop", Address: "a", Count: 1}, {Source: "prod", Older: true, Count: 7},
	}}, nil)
	got := page(t, m)
	for _, line := range []string{
		`driftd_objects_not_judged{declaration="shop",source="prod"} 5`, `driftd_objects_not_judged{declaration="shop",source="edge"} 1`,
		`driftd_objects_not_judged{declaration="",source="prod"} 7`,
	} {
		if !has(got, line) {
			t.Errorf("page lacks %s:\n%s", line, got)
		}
	}
	m.ObserveRun(model.Run{}, nil)
	if strings.Contains(page(t, m), "driftd_objects_not_judged{") {
		t.Error("page still has driftd_objects_not_judged")
	}
}
