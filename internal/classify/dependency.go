package classify

import (
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// DependencyNotes returns a note for each data source, in the records of a declaration, that
// returned other values than during the last apply.
func DependencyNotes(records []model.StateRead) []model.Note {
	var notes []model.Note
	for i := range records {
		for _, d := range records[i].Dependencies {
			if len(d.Changed) > 0 {
				notes = append(notes, model.Note{Address: d.Address, Text: "what it returns has changed since the last apply, as first seen at " +
					d.Since.UTC().Format(time.RFC3339) + ": " + strings.Join(d.Changed, ", ")})
			}
		}
	}
	return notes
}

// causes returns the data sources that explain a difference between the declaration and the record,
// as a part of the reason; "" if none does.
func causes(f *model.Finding, claim *model.Claim) string {
	if claim == nil || len(claim.Causes) == 0 || !differsFromRecord(f.Verdict) {
		return ""
	}
	var found []string
	if len(f.Changes) == 0 {
		found = []string{claim.Causes[""]}
	}
	for i := range f.Changes {
		name, _ := model.CutName(f.Changes[i].Path)
		found = append(found, claim.Causes[name])
	}
	slices.Sort(found)
	found = slices.DeleteFunc(slices.Compact(found), func(cause string) bool { return cause == "" })
	if len(found) == 0 {
		return ""
	}
	return "it refers to data that has changed since the last apply: " + strings.Join(found, "; ")
}
