package printable_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/printable"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text  string
		limit int
		want  string
	}{
		"Empty":      {"", 10, ""},
		"WhiteSpace": {" a\t\u00a0 b\r\nc ", 10, "a b c"},
		"Control":    {"\x1b[31mred\u202e", 10, "[31mred"},
		"Letters":    {"größer als 日本", 20, "größer als 日本"},
		"NotUTF8":    {"a\xffb", 10, "a\uFFFDb"},
		"Fits":       {strings.Repeat("ä", 10), 10, strings.Repeat("ä", 10)},
		"TooLong":    {strings.Repeat("ä", 11), 10, strings.Repeat("ä", 9) + "…"},
		"FarTooLong": {strings.Repeat("𐍈", 1<<20), 10, strings.Repeat("𐍈", 9) + "…"},
		"CutInRune":  {"a" + strings.Repeat("𐍈", 100), 10, "a" + strings.Repeat("𐍈", 8) + "…"},
		"BlankFirst": {strings.Repeat(" ", 100) + "a", 10, "…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := printable.Line(tc.text, tc.limit); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	if got, want := printable.Text(strings.Repeat("ä", 301)), strings.Repeat("ä", 299)+"…"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
