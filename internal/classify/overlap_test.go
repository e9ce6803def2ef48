package classify

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// fieldsFinding makes a finding with the fields of a text: "path", "path=live path", or
// with ! before them if an ignore rule took them.
func fieldsFinding(text string) *model.Finding {
	var f model.Finding
	for _, word := range strings.Fields(text) {
		word, ignored := strings.CutPrefix(word, "!")
		path, live, _ := strings.Cut(word, "=")
		c := model.Change{Path: path, LivePath: live}
		if ignored {
			f.Ignored = append(f.Ignored, model.IgnoredChange{Change: c})
		} else {
			f.Changes = append(f.Changes, c)
		}
	}
	return &f
}

// TestOverlap counts the fields of the later finding that the earlier one has as well.
func TestOverlap(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		earlier, later string
		want           int
	}{
		"no fields":                             {"", "", 0},
		"none before":                           {"", "a", 0},
		"none now":                              {"a", "", 0},
		"the same":                              {"a", "a", 1},
		"another":                               {"a", "b", 0},
		"one of two":                            {"a b", "b c", 1},
		"both":                                  {"a b", "b a", 2},
		"a part of it":                          {"a", "a.b", 1},
		"an element of it":                      {"a", "a[0]", 1},
		"a part of an element":                  {"a", "a[name=x].b", 1},
		"what contains it":                      {"a.b", "a", 1},
		"what contains an element":              {"a[0].b", "a", 1},
		"two parts of it":                       {"a", "a.b a.c", 2},
		"what contains two of them counts once": {"a.b a.c", "a", 1},
		"another part of the same":              {"a.b", "a.c", 0},
		"another element of the same":           {"a[0]", "a[1]", 0},
		"a name that begins alike":              {"a", "ab", 0},
		"a longer name that begins alike":       {"ab", "a", 0},
		"by the live path":                      {"title=name", "label=name", 1},
		"the live path is the other's path":     {"title=name", "name", 1},
		"the path is the other's live path":     {"name", "title=name", 1},
		"the path is the same, the live is not": {"title=name", "title=label", 1},
		"neither is the same":                   {"title=name", "label=description", 0},
		"a part of the live path":               {"disk=scsi0", "volume=scsi0.size", 1},
		"an empty live path is no field":        {"a", "b", 0},
		"ignored before":                        {"!a", "a", 1},
		"ignored now":                           {"a", "!a", 1},
		"ignored both times":                    {"!a", "!a", 1},
		"all forms at once":                     {"a.b !c title=name", "a c[0] name d", 3},
	} {
		if got := overlap(fieldsFinding(tc.earlier), fieldsFinding(tc.later)); got != tc.want {
			t.Errorf("%s: %d of %q are in %q, want %d", reason, got, tc.later, tc.earlier, tc.want)
		}
	}
}
