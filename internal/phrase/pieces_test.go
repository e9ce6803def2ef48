package phrase

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPieces(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, a, b  string
		before, after []Piece
	}{
		"tag":    {"only the words that differ are marked", "shop/web:1.4.2", "shop/web:1.5.2", []Piece{{"shop/web:1.", false}, {"4", true}, {".2", false}}, []Piece{{"shop/web:1.", false}, {"5", true}, {".2", false}}},
		"number": {"a word is marked as a whole", "2048", "4096", []Piece{{"2048", true}}, []Piece{{"4096", true}}},
		"more":   {"what one side has besides", "a b", "a b c", []Piece{{"a b", false}}, []Piece{{"a b", false}, {" c", true}}},
		"same":   {"nothing differs", "a b", "a b", []Piece{{"a b", false}}, []Piece{{"a b", false}}},
		"empty":  {"all differs from nothing", "", "a", nil, []Piece{{"a", true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := Pieces(tc.a, tc.b)
			if diff := cmp.Diff(tc.before, before); diff != "" {
				t.Errorf("%s: before (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.after, after); diff != "" {
				t.Errorf("%s: after (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPiecesLoseNothing holds that pieces are the text, and that what is not
// marked is the same on both sides.
func TestPiecesLoseNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab1. /ä日\n")))
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		before, after := Pieces(a, b)
		all := func(pieces []Piece, marked bool) string {
			var s strings.Builder
			for _, p := range pieces {
				if marked || !p.Differs {
					s.WriteString(p.Text)
				}
			}
			return s.String()
		}
		if all(before, true) != a || all(after, true) != b {
			t.Fatalf("%q and %q became %v and %v", a, b, before, after)
		}
		if all(before, false) != all(after, false) {
			t.Fatalf("what is not marked differs: %v and %v", before, after)
		}
	})
}
