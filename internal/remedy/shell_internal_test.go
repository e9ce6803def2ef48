package remedy

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestQuoteRoundTrip checks that a real shell reads quoted words as they were.
func TestQuoteRoundTrip(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		var line command
		for _, word := range rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.StringMatching("[ -~]{0,12}")), 1, 8).Draw(r, "words") {
			if _, ok := quote(word); ok {
				line = append(line, word)
			}
		}
		text, ok := append(command{"printf", `%s\n`}, line...).text()
		if !ok || len(line) == 0 {
			return
		}
		out, err := exec.Command(shell, "-c", text).Output()
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff([]string(line), strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")); diff != "" {
			r.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	})
}

func TestQuoteRefusesHiddenCharacters(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"a\nb", "\x1b[2J", "\x00", "\xff", "\u202e", "\u200b", "\r"} {
		if quoted, ok := quote(word); ok {
			t.Errorf("%q was quoted as %q", word, quoted)
		}
	}
}
