package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// TestWriteScorecard checks the shares, the trend, and that nothing unknown is shown as a share.
func TestWriteScorecard(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	run := func(day int, scores ...model.Score) model.Run {
		return model.Run{Started: at.AddDate(0, 0, day), Finished: at.AddDate(0, 0, day), Scores: scores}
	}
	prod := model.Score{Source: "prod", Owner: "shop", Live: 40, Declared: 38, Claims: 39, InSync: model.Checked{Good: 38}, Deterministic: model.Checked{Good: 39}, Pinned: model.Checked{Good: 30, Unchecked: 2}}
	earlier := prod
	earlier.Declared, earlier.Pinned = 36, model.Checked{Good: 39}
	runs := []model.Run{run(3, prod, model.Score{Source: "idle"}), run(2, prod), run(1, earlier), run(0)}
	want := `SOURCE  DECLARED            DETERMINISTIC   PINNED                              IN SYNC
idle    unknown             unknown         unknown                             unknown
prod    95%, 38 of 40 (+5)  100%, 39 of 39  76%, 30 of 39, 2 not checked (-24)  97%, 38 of 39
all     95%, 38 of 40 (+5)  100%, 39 of 39  76%, 30 of 39, 2 not checked (-24)  97%, 38 of 39

In parentheses: percentage points since 2026-01-03T03:04:05Z.
Not checked counts as not good. Pinned needs checks of the declaration: docs/check.md.
`
	var out strings.Builder
	if err := WriteScorecard(&out, "table", runs, false, Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	if err := WriteScorecard(&out, "json", runs, true, Options{}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Count(text, `"time"`) != 2 || strings.Index(text, "2026-01-03") > strings.Index(text, "2026-01-04") || !strings.Contains(text, `"owner": "shop"`) {
		t.Errorf("got %s", text)
	}
	for _, none := range [][]model.Run{nil, {run(0)}} {
		out.Reset()
		if err := WriteScorecard(&out, "table", none, false, Options{}); err != nil || !strings.HasPrefix(out.String(), "No scan has counted a scorecard yet") {
			t.Errorf("got %q, %v", out.String(), err)
		}
	}
	if text := phrase.Scored(model.Scored{Of: 3, Unknown: 3}); text != "not checked" {
		t.Errorf("got %q", text)
	}
}
