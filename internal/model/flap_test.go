package model

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// flips are what a finding showed, a minute after each other, the last of them
// at noon.
func flips(states ...string) []Flip {
	list := make([]Flip, 0, len(states))
	for i, basis := range states {
		list = append(list, Flip{noon.Add(-time.Duration(len(states)-1-i) * time.Minute), basis})
	}
	return list
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// manyStates are as many states, each of them another.
func manyStates(n int) []string {
	states := make([]string, 0, n)
	for i := range n {
		states = append(states, fmt.Sprint(i))
	}
	return states
}

func TestFlaps(t *testing.T) {
	t.Parallel()
	backAndForth := flips("a", "", "a", "", "a")
	for reason, tc := range map[string]struct {
		flips    []Flip
		flapping bool
		after    time.Duration
		want     bool
	}{
		"nothing happened":   {nil, false, 0, false},
		"it came and went":   {backAndForth, false, 0, true},
		"once less":          {backAndForth[1:], false, 0, false},
		"between two values": {flips("a", "b", "a", "b", "a"), false, 0, true},
		"always the same":    {flips("a", "a", "a", "a", "a"), false, 0, true},
		"among three states": {flips("a", "b", "", "a", "b"), false, 0, false},
		"among three states, and lately between two":      {flips("c", "a", "b", "a", "b", "a"), false, 0, true},
		"between two, and then something new":             {flips("a", "b", "a", "b", "c"), false, 0, false},
		"to something new each time":                      {flips(manyStates(FlapLimit - 1)...), false, 0, false},
		"to something new each time, too often":           {flips(manyStates(FlapLimit)...), false, 0, true},
		"as long ago as counts":                           {backAndForth, false, FlapWindow - 4*time.Minute, true},
		"the first of them is too long ago":               {backAndForth, false, FlapWindow - 4*time.Minute + 1, false},
		"the last of them is in the future":               {backAndForth, false, -time.Second, false},
		"it flaps, and has not been quiet for long":       {flips("a"), true, FlapWindow, true},
		"it flaps, and has been quiet for long enough":    {backAndForth, true, FlapWindow + 1, false},
		"it flaps, and all that it did is to come":        {flips("a"), true, -time.Second, false},
		"it flaps, and nobody knows what it did":          {nil, true, 0, false},
		"it flaps, and what it shows makes no difference": {flips("a", "b", "c"), true, 0, true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			f := Finding{Flips: tc.flips, Flapping: tc.flapping}
			if got := f.Flaps(noon.Add(tc.after)); got != tc.want {
				t.Errorf("it flaps: %t, after %v", got, tc.flips)
			}
		})
	}
}

func TestFlipped(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		before []Flip
		after  time.Duration
		want   string
	}{
		"the first":                            {nil, 0, "now"},
		"one more":                             {flips("a", ""), time.Minute, "a>>now"},
		"at the same moment":                   {flips("a"), 0, "a>now"},
		"as long ago as counts":                {flips("a"), FlapWindow, "a>now"},
		"too long ago":                         {flips("a"), FlapWindow + 1, "now"},
		"only the first was too long ago":      {flips("a", "b"), FlapWindow, "b>now"},
		"a clock was set back":                 {flips("a", "b"), -time.Second, "a>now"},
		"a clock was set back by more than it": {flips("a", "b"), -time.Hour, "now"},
		"no more than count":                   {flips(manyStates(FlapLimit)...), 0, "1>2>3>4>5>6>7>8>9>10>11>now"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			f := Finding{Flips: tc.before}
			given := fmt.Sprint(tc.before)
			f.Flipped(noon.Add(tc.after), "now")
			var states []string
			for _, p := range f.Flips {
				states = append(states, p.Basis)
			}
			if got := strings.Join(states, ">"); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if last := f.Flips[len(f.Flips)-1]; !last.At.Equal(noon.Add(tc.after)) {
				t.Errorf("the last is at %s", last.At)
			}
			if now := fmt.Sprint(tc.before); now != given {
				t.Errorf("the flips of the finding before became %s", now)
			}
		})
	}
}

// TestFlipsStayInOrder: with any clock, flips are bounded, in order, and not in the
// future.
func TestFlipsStayInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var f Finding
		at := noon
		for range rapid.IntRange(1, 40).Draw(t, "flips") {
			at = at.Add(time.Duration(rapid.IntRange(-60, 240).Draw(t, "minutes")) * time.Minute)
			f.Flipped(at, rapid.StringMatching(`[ab]?`).Draw(t, "basis"))
			f.Flapping = f.Flaps(at)
			if len(f.Flips) > FlapLimit || f.Flapping && len(f.Flips) == 0 {
				t.Fatalf("%d flips, flapping: %t", len(f.Flips), f.Flapping)
			}
			for i, p := range f.Flips {
				if p.At.After(at) || at.Sub(p.At) > FlapWindow || i > 0 && p.At.Before(f.Flips[i-1].At) {
					t.Fatalf("at %s there are %v", at, f.Flips)
				}
			}
		}
		if f.Flaps(at.Add(FlapWindow + 1)) {
			t.Fatalf("it flaps for ever: %v", f.Flips)
		}
	})
}
