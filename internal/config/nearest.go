package config

import (
	"fmt"
	"strings"

	"github.com/driftd/driftd/internal/suggest"
)

// oneOf returns a hint for a wrong name: the most similar valid one, or all of them.
func oneOf(word string, valid []string) string {
	if near, ok := suggest.Word(word, valid); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(valid) == 0 {
		return "there is none"
	}
	return "want one of " + strings.Join(valid, ", ")
}
