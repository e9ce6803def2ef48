// Package suggest finds the valid word that is most similar to a mistyped one.
package suggest

import (
	"fmt"
	"slices"
	"strings"
)

// Word returns the word that is closest to another one: the word that it abbreviates, or
// the one with the fewest edits. About one letter in three may differ, case is ignored, and
// of several the first is returned; ok is false if none is close.
func Word(word string, words []string) (near string, ok bool) {
	word = strings.ToLower(word)
	least := 1 + max(1, len(word)/3)
	for _, w := range words {
		lower := strings.ToLower(w)
		n := distance(word, lower)
		if abbreviates(word, lower) {
			n = 0
		}
		if n < least {
			near, least = w, n
		}
	}
	return near, near != ""
}

// Check returns an error for the words that are not in the list valid, each with the closest
// one; nil if there are none. thing is the name of such a word.
func Check(thing string, words, valid []string) error {
	var unknown []string
	for _, word := range words {
		if slices.Contains(valid, word) {
			continue
		}
		text := fmt.Sprintf("%q", word)
		if near, ok := Word(word, valid); ok {
			text += fmt.Sprintf(" (did you mean %q?)", near)
		}
		unknown = append(unknown, text)
	}
	if len(unknown) == 0 {
		return nil
	}
	return fmt.Errorf("unknown %s %s: want one of %s", thing, strings.Join(unknown, ", "), strings.Join(valid, ", "))
}

// abbreviates reports whether word is name without some letters other than the first, and
// has two or three letters or at least half of them.
func abbreviates(word, name string) bool {
	if word == "" || name == "" || word[0] != name[0] || len(word) < 2 || len(word) > 3 && 2*len(word) < len(name) {
		return false
	}
	for i := range len(word) {
		at := strings.IndexByte(name, word[i])
		if at < 0 {
			return false
		}
		name = name[at+1:]
	}
	return true
}

// distance counts the letters to insert, delete, replace or swap with the
// next one (optimal string alignment).
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
