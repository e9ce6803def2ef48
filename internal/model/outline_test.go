package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func changesBy(names ...string) []Change {
	var changes []Change
	for _, name := range names {
		changes = append(changes, Change{Actor: &Actor{Name: name}})
	}
	return changes
}

func TestOutlineHasOtherActorsOnce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		actor  string
		others []string
		want   []string
	}{
		"repeated":       {"a list needs a name once", "a", []string{"b", "a", "c", "b"}, []string{"b", "c"}},
		"not UTF-8":      {"the store has equal texts for both", "a", []string{"x\xff", "x\xfe"}, []string{"x\ufffd"}},
		"the actor, too": {"its text is replaced as well", "x\xff", []string{"x\xfe", ""}, []string{"unknown"}},
	} {
		f := Finding{Actor: Actor{Name: tc.actor}, Changes: changesBy(tc.others...)}
		if got := f.Outline().Actors; !slices.Equal(got, tc.want) {
			t.Errorf("%s: %s: got %q, want %q", name, tc.reason, got, tc.want)
		}
	}
}

// TestOutlineIsBounded verifies that commits and live systems cannot make an outline large.
func TestOutlineIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", maxOutlineText)
	f := Finding{Name: long, Address: long, Actor: Actor{Name: long}}
	for i := range 100_000 {
		f.Changes = append(f.Changes, changesBy(fmt.Sprint(i, long[:100]))...)
	}
	f.Changes[0].Actor.Name = "z" + long
	o := f.Outline()
	for _, text := range []string{o.Name, o.Address, o.Actor.Name, o.Actors[0]} {
		if len(text) > maxOutlineText || !utf8.ValidString(text) || !strings.HasSuffix(text, "ä…") {
			t.Errorf("got %d bytes, which end with %q", len(text), text[len(text)-8:])
		}
	}
	if len(o.Actors) != maxOutlineActors {
		t.Errorf("got %d actors", len(o.Actors))
	}
}
