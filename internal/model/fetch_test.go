package model_test

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestFetch checks when a controller has not fetched a commit in time.
func TestFetch(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	after := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	f := model.Fetch{Commit: "c", Since: after(60), Read: after(100), Replaced: map[string]time.Time{"a": after(10), "b": after(60)}, Within: 20 * time.Minute}
	for reason, tc := range map[string]struct {
		live              model.Fetched
		now               int
		behind, undecided bool
	}{
		"fetched":                            {model.Fetched{Commit: "c", At: after(61)}, 100, false, false},
		"fetched, by a clock that is off":    {model.Fetched{Commit: "c", At: after(9999)}, 100, false, false},
		"the earlier commit, in time":        {model.Fetched{Commit: "b", At: after(50)}, 70, false, true},
		"the earlier commit":                 {model.Fetched{Commit: "b", At: after(50)}, 81, true, false},
		"a commit that was replaced twice":   {model.Fetched{Commit: "a", At: after(0)}, 70, true, false},
		"moved back a moment ago":            {model.Fetched{Commit: "a", At: after(65)}, 70, false, true},
		"a commit from before the start":     {model.Fetched{Commit: "x", At: after(-500)}, 70, false, true},
		"and for a time":                     {model.Fetched{Commit: "x", At: after(-500)}, 81, true, false},
		"none":                               {model.Fetched{}, 81, true, false},
		"one that is not read yet":           {model.Fetched{Commit: "d", At: after(98)}, 200, false, true},
		"one that was gone when it was read": {model.Fetched{Commit: "d", At: after(90)}, 111, true, false},
		"a time in the future":               {model.Fetched{Commit: "b", At: after(9999)}, 200, false, true},
		"a snapshot of before":               {model.Fetched{Commit: "b", At: after(5)}, 0, false, true},
	} {
		if behind, undecided := f.Judge(&tc.live, after(tc.now)); behind != tc.behind || undecided != tc.undecided {
			t.Errorf("%s: behind %t, undecided %t", reason, behind, undecided)
		}
	}
}
