package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// TestBriefIsBounded holds that Brief bounds all text, also letters with many combining
// marks, which have no width.
func TestBriefIsBounded(t *testing.T) {
	t.Parallel()
	for _, long := range []string{strings.Repeat("x", 1<<14), "e" + strings.Repeat("\u0301", 1<<14), strings.Repeat("\u202e", 1<<14), strings.Repeat("日", 1<<14)} {
		f := conflict()
		f.Name, f.Owner, f.Reason, f.Key.ID, f.Declaration, f.Address, f.Kind = long, long, long, long, long, long, "kubernetes/"+long
		f.Actor = model.Actor{Name: long, Via: long, Evidence: long, Message: long, Reason: long, Confidence: model.Likely}
		f.Decision.Reason, f.Decision.By = long, long
		f.Changes = []model.Change{{Path: long, LivePath: long + "y", Declared: text(long), Live: text(long + "z"), Actor: &f.Actor}, {Path: "b", Claims: []model.ClaimedValue{{Declaration: long, Address: long, Value: *text(long)}}}}
		const columns = 50
		b := Brief(&f, 2, columns, phrase.Clock{Now: now, Relative: true})
		said := []string{b.Kind, b.Resource, b.Name, b.Where.String(), b.Who.String(), b.Standing.String(), b.Reason}
		for _, field := range b.Fields {
			said = append(said, field.Path, field.LivePath, field.Remark.String())
			for _, s := range field.Sides {
				said = append(said, s.Text)
			}
			for _, c := range field.Claims {
				said = append(said, c.Declaration, c.Address, c.Text)
			}
		}
		for i, s := range said {
			if len(s) > 4*pipeLimit+10 {
				t.Errorf("text %d is %d bytes long: %.60q", i, len(s), s)
			}
		}
	}
}

func TestLongLinesShowWhereTheyDiffer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 50)
	f := conflict()
	f.Changes = []model.Change{{Path: "data.json", Declared: text("{\n" + long + "declared\n}\n"), Live: text("{\n" + long + "live\n}\n")}}
	for _, format := range []string{"table", "markdown", "html", "junit"} {
		got := write(t, format, model.Report{Findings: []model.Finding{f}}, Options{Width: 100})
		if !strings.Contains(got, "789declared") || !strings.Contains(got, "789live") {
			t.Errorf("%s cuts off the difference:\n%s", format, got)
		}
		if strings.Contains(got, long) {
			t.Errorf("%s does not cut the line", format)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	got := wrap("one two  three averyveryverylongword four", 14, "  ", "    ")
	want := []string{"  one two ", "    three", "    averyveryverylongword", "    four"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got := wrap("one two three", 0, "", ""); len(got) != 1 {
		t.Errorf("without a width: got %q, want one line", got)
	}
}
