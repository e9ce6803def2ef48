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

func TestCheck(t *testing.T) {
	t.Parallel()
	valid := []string{"critical", "high", "low"}
	for _, tc := range []struct {
		reason string
		words  []string
		want   string
	}{
		{"no words", nil, ""},
		{"valid words", []string{"low", "high"}, ""},
		{"one has a close one", []string{"low", "hgh"}, `unknown severity "hgh" (did you mean "high"?): want one of critical, high, low`},
		{"all are listed", []string{"worst", "lwo"}, `unknown severity "worst", "lwo" (did you mean "low"?): want one of critical, high, low`},
	} {
		got := ""
		if err := Check("severity", tc.words, valid); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: %s; want %s", tc.reason, got, tc.want)
		}
	}
}
