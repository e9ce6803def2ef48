package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// WriteScorecard writes the scores of the newest run as a table or as JSON, by source or by owner, with the
// changes since the oldest run that has scores. runs must be sorted newest first.
func WriteScorecard(w io.Writer, format string, runs []model.Run, byOwner bool, o Options) error {
	for len(runs) > 0 && len(runs[len(runs)-1].Scores) == 0 {
		runs = runs[:len(runs)-1]
	}
	return choose(w, format, "write scorecard",
		func(b *bufio.Writer) error { return scorecardTable(newTable(b, o), runs, byOwner) },
		func(b *bufio.Writer) error { return scorecardJSON(b, runs, byOwner) })
}

func scorecardTable(t *table, runs []model.Run, byOwner bool) error {
	if len(runs) == 0 || len(runs[0].Scores) == 0 {
		t.line("No scan has counted a scorecard yet: it is counted by each scan with a configuration, see driftd scan")
		return t.emit()
	}
	title := "SOURCE"
	if byOwner {
		title = "OWNER"
	}
	sums, total := model.Scores(runs[0].Scores, byOwner)
	before, totalBefore := model.Scores(runs[len(runs)-1].Scores, byOwner)
	earlier := map[string]*model.Score{}
	for i := range before {
		earlier[before[i].Source+before[i].Owner] = &before[i]
	}
	rows := [][]string{{title, "DECLARED", "DETERMINISTIC", "PINNED", "IN SYNC"}}
	for i := range sums {
		name := sums[i].Source + sums[i].Owner
		rows = append(rows, scorecardRow(cmp.Or(name, "(no owner)"), &sums[i], earlier[name]))
	}
	rows = append(rows, scorecardRow("all", &total, &totalBefore))
	if err := t.rows(rows, func(row, _ int, cell string) string {
		if row == 0 || row == len(rows)-1 {
			return t.paint(bold, cell)
		}
		return cell
	}); err != nil {
		return err
	}
	t.line()
	if first := runs[len(runs)-1].First(); len(runs) > 1 {
		t.line(t.paint(dim, "In parentheses: percentage points since "+first.UTC().Format(time.RFC3339)+"."))
	}
	t.line(t.paint(dim, "Not checked counts as not good. Pinned needs checks of the declaration: docs/check.md."))
	return t.emit()
}

func scorecardRow(name string, s, before *model.Score) []string {
	row := []string{name}
	var was []model.Scored
	if before != nil {
		was = before.Properties()
	}
	for i, p := range s.Properties() {
		text := phrase.Scored(p)
		if was != nil && p.Of > 0 && was[i].Of > 0 {
			if d := phrase.Percent(p) - phrase.Percent(was[i]); d != 0 {
				text += fmt.Sprintf(" (%+d)", d)
			}
		}
		row = append(row, text)
	}
	return row
}

// A trendPoint is the sum of all scores in runs with equal scores.
type trendPoint struct {
	Time  time.Time   `json:"time"`
	Total model.Score `json:"total"`
}

func scorecardJSON(w *bufio.Writer, runs []model.Run, byOwner bool) error {
	var sums []model.Score
	var total model.Score
	if len(runs) > 0 {
		sums, total = model.Scores(runs[0].Scores, byOwner)
	}
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", model.ReportVersion)
	e.open("scores", "[")
	for i := range sums {
		e.value("", sums[i])
	}
	e.close("]")
	e.value("total", total)
	e.open("trend", "[")
	var last model.Score
	for i := len(runs) - 1; i >= 0; i-- {
		_, now := model.Scores(runs[i].Scores, byOwner)
		if now != last || i == len(runs)-1 {
			e.value("", trendPoint{runs[i].First().UTC(), now})
		}
		last = now
	}
	e.close("]")
	e.close("}")
	return e.err
}
