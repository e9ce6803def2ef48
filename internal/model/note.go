package model

import (
	"fmt"
	"slices"
)

// A Note is a remark about a part of a declaration that was read.
type Note struct {
	// Address is a file with the line; "" where the text names the place.
	Address string `json:"address"`
	Text    string `json:"text"`
}

// maxNotes bounds the notes of a declaration that a run record holds.
const maxNotes = 50

// BoundedNotes returns the first notes, with one that counts the others.
func BoundedNotes(notes []Note) []Note {
	more := len(notes) - maxNotes
	if more <= 0 {
		return notes
	}
	return append(slices.Clone(notes[:maxNotes]), Note{Text: fmt.Sprintf("and %d more", more)})
}
