package phrase_test

import (
	"testing"

	"github.com/driftd/driftd/internal/phrase"
)

func TestPerson(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                            "by ",
		"alice":                       "by alice",
		"person:1e2PabcDEF_-90123456": "by person:1e2PabcDEF_-90123456 (erased)",
		"person:bob":                  "by person:bob",
	} {
		if got := phrase.Words("by ").Person(name).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
