package match

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestLabel checks the label of a resource: its ID, and its name if that differs.
func TestLabel(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct{ id, name, want string }{
		"an ID and a name":   {"101", "web", "101 (web)"},
		"no name":            {"101", "", "101"},
		"the name is the ID": {"web", "web", "web"},
		"neither":            {"", "", ""},
	} {
		if got := label(&model.Resource{Key: model.Key{ID: tc.id}, Name: tc.name}); got != tc.want {
			t.Errorf("%s: got %q, want %q", reason, got, tc.want)
		}
	}
}

// TestEnumerate checks enumerations of texts: at most five of them are written.
func TestEnumerate(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"":              "",
		"a":             "a",
		"a b":           "a and b",
		"a b c":         "a, b and c",
		"a b c d e":     "a, b, c, d and e",
		"a b c d e f":   "a, b, c, d, e and 1 more",
		"a b c d e f g": "a, b, c, d, e and 2 more",
	} {
		if got := enumerate(strings.Fields(list)); got != want {
			t.Errorf("%q: got %q, want %q", list, got, want)
		}
	}
}

// TestCandidatesAreNamed checks that the reason of an ambiguous claim lists the candidates in
// the order of their IDs.
func TestCandidatesAreNamed(t *testing.T) {
	t.Parallel()
	snapshot := model.Snapshot{Source: "s", Coverage: []model.Coverage{{Source: "s", Complete: true}}}
	for _, id := range []string{"7", "3", "5", "1", "6", "2"} {
		snapshot.Resources = append(snapshot.Resources, guest(machine, id, "mac=A"))
	}
	got := found(Match(snapshot, estate(nil, []model.Claim{entry("x", "mac=A")})))["vm/x"]
	want := "unchecked: ambiguous: 1 (live-1), 2 (live-2), 3 (live-3), 5 (live-5), 6 (live-6) and 1 more have the same mac; give it a surer identity"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
