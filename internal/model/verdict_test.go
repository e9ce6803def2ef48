package model

import (
	"strings"
	"testing"
)

func TestParseVerdict(t *testing.T) {
	t.Parallel()
	for _, v := range Verdicts() {
		if got, err := ParseVerdict(string(v)); got != v || err != nil {
			t.Errorf("ParseVerdict(%q) = %q, %v", v, got, err)
		}
	}
	for word, tc := range map[string]struct{ reason, want string }{
		"bogus":     {"nothing is near", `unknown verdict "bogus": want one of conflict, missing, changed,`},
		"":          {"nothing is no verdict", `unknown verdict "": want one of conflict,`},
		"CHANGED":   {"verdicts are lower case", `did you mean "changed"? (one of conflict,`},
		"undeclard": {"a letter is missing", `did you mean "undeclared"?`},
		"chnaged":   {"two letters are swapped", `did you mean "changed"?`},
		"hanged":    {"the first letter is missing", `did you mean "changed"?`},
		"pend":      {"of two the shorter is meant", `did you mean "pending"?`},
		"pending-r": {"unless more is said", `did you mean "pending-restart"?`},
		"in-sync":   {"what is in sync is no finding", "want one of"},
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			if _, err := ParseVerdict(word); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "[") {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
