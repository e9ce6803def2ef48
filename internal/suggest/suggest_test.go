package suggest

import "testing"

func TestWord(t *testing.T) {
	t.Parallel()
	words := []string{"schedule", "sources", "declarations", "html", "markdown", "pending", "pending-restart", "changed"}
	for _, tc := range []struct{ reason, word, want string }{
		{"a letter is missing", "shedule", "schedule"},
		{"two letters are swapped", "chnaged", "changed"},
		{"another letter", "sourcez", "sources"},
		{"case does not count", "HTML", "html"},
		{"an abbreviation", "mrkdn", "markdown"},
		{"of two the shorter is meant", "pend", "pending"},
		{"nothing is near", "yaml", ""},
		{"nothing is no word", "", ""},
		{"far too long", "schedulescheduleschedulescheduleschedulescheduleschedulescheduleschedule", ""},
	} {
		if got, ok := Word(tc.word, words); got != tc.want || ok != (tc.want != "") {
			t.Errorf("%s: Word(%q) = %q, %t; want %q", tc.reason, tc.word, got, ok, tc.want)
		}
	}
}
