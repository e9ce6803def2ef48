package model

import (
	"fmt"
	"slices"
)

// A Note is a remark on a part of a declaration that was read.
type Note struct {
	// Address is the file and line; "" if Text names the place.
	Address string `json:"address"`
	Text    string `json:"text"`
}

// maxNotes bounds the notes of a declaration that a run record holds.
const maxNotes = 50

// BoundedNotes returns notes unchanged if there are few enough, or else the first ones and a note
// with the number of the others.
func BoundedNotes(notes []Note) []Note {
	more := len(notes) - maxNotes
	if more <= 0 {
		return notes
	}
	return append(slices.Clone(notes[:maxNotes]), Note{Text: fmt.Sprintf("and %d more", more)})
}
