package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestBoundedNotes(t *testing.T) {
	t.Parallel()
	notes := make([]model.Note, 60)
	for i := range notes {
		notes[i].Text = string(rune('0' + i))
	}
	if got := model.BoundedNotes(notes[:50]); len(got) != 50 {
		t.Errorf("%d of 50 notes", len(got))
	}
	want := append(append([]model.Note{}, notes[:50]...), model.Note{Text: "and 10 more"})
	if d := cmp.Diff(want, model.BoundedNotes(notes)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if notes[50].Text != string(rune('0'+50)) {
		t.Error("the list was changed")
	}
}

// TestScanNotes lists a declaration that has nothing but notes.
func TestScanNotes(t *testing.T) {
	t.Parallel()
	notes := []model.Note{{Address: "main.tf:1", Text: "runs a program"}}
	run := model.Run{Declarations: []model.DeclarationRun{{Name: "infra", Notes: notes}, {Name: "none"}}}
	if d := cmp.Diff([]model.Revision{{Name: "infra", Notes: notes}}, run.Scan().Declarations); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
