package config

import (
	"fmt"
	"strings"
)

// oneOf words a wrong name: the nearest right one, or all of them.
func oneOf(word string, valid []string) string {
	if near, ok := nearest(word, valid); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(valid) == 0 {
		return "there is none"
	}
	return "want one of " + strings.Join(valid, ", ")
}

// nearest returns the word that is most like another: about one letter in
// three may differ. Of several the first counts.
func nearest(word string, words []string) (string, bool) {
	best, least := "", 1+max(1, len(word)/3)
	for _, w := range words {
		if n := distance(strings.ToLower(word), strings.ToLower(w)); n < least {
			best, least = w, n
		}
	}
	return best, best != ""
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
