package daemon

import (
	"slices"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestUnreadKindsHaveNotVanished(t *testing.T) {
	t.Parallel()
	before := collected{kinds: map[string]int{"a": 50, "b": 50}}
	now := collected{snapshot: model.Snapshot{Coverage: []model.Coverage{{Kind: "b", Reason: "503"}, {Complete: true}}}}
	for range 50 {
		now.snapshot.Resources = append(now.snapshot.Resources, model.Resource{Key: model.Key{Kind: "a"}})
	}
	got := holdBack(before, now)
	if got.held || got.err != nil || got.kinds["b"] != 50 {
		t.Errorf("a kind that was not read was taken for gone: %v, believed %v", got.err, got.kinds)
	}
}

// TestAnotherPartConfirmsNothing checks that a result which was held back is confirmed only by one with as many resources.
func TestAnotherPartConfirmsNothing(t *testing.T) {
	t.Parallel()
	read := func(n int) collected {
		return collected{snapshot: model.Snapshot{Coverage: []model.Coverage{{Complete: true}},
			Resources: slices.Repeat([]model.Resource{{Key: model.Key{Kind: "a"}}}, n)}}
	}
	for name, tc := range map[string]struct {
		reads []int
		held  bool
	}{
		"the same again":        {[]int{40, 40}, false},
		"nearly the same again": {[]int{40, 38}, false},
		"all of them again":     {[]int{40, 100}, false},
		"less":                  {[]int{60, 20}, true},
		"more":                  {[]int{20, 60}, true},
		"less, and confirmed":   {[]int{60, 20, 20}, false},
		"to and fro":            {[]int{20, 60, 20, 60}, true},
	} {
		last := collected{kinds: map[string]int{"a": 100}}
		for _, n := range tc.reads {
			last = holdBack(last, read(n))
		}
		if last.held != tc.held || (last.err != nil) != tc.held {
			t.Errorf("%s: held is %t, want %t: %v", name, last.held, tc.held, last.err)
		}
	}
	restarted := collected{kinds: map[string]int{"a": 100}, held: true}
	if got := holdBack(restarted, read(20)); got.held {
		t.Error("after a restart, the next read does not confirm the one that was held back")
	}
}
