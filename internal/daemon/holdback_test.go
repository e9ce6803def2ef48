package daemon

import (
	"slices"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestUnreadKindsHaveNotVanished(t *testing.T) {
	t.Parallel()
	before := collected{counts: counts{kinds: map[string]int{"a": 50, "b": 50}}}
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
		last := collected{counts: counts{kinds: map[string]int{"a": 100}}}
		for _, n := range tc.reads {
			last = holdBack(last, read(n))
		}
		if last.held != tc.held || (last.err != nil) != tc.held {
			t.Errorf("%s: held is %t, want %t: %v", name, last.held, tc.held, last.err)
		}
	}
	restarted := collected{counts: counts{kinds: map[string]int{"a": 100}}, held: true}
	if got := holdBack(restarted, read(20)); got.held {
		t.Error("after a restart, the next read does not confirm the one that was held back")
	}
}

// TestUnreadPlacesHaveNotVanished checks that what one place, one list or one resource has counts as before while it
// cannot be read, so that the next read is compared with it.
func TestUnreadPlacesHaveNotVanished(t *testing.T) {
	t.Parallel()
	in := func(place string, n int) []model.Resource {
		return slices.Repeat([]model.Resource{{Key: model.Key{Kind: "a"}, Place: place}}, n)
	}
	whole := []model.Coverage{{Kind: "a", Place: "east", Complete: true}, {Kind: "a", Place: "west", Complete: true}, {Complete: true}}
	half := []model.Coverage{{Kind: "a", Place: "east", Reason: "503"}, {Kind: "a", Place: "west", Complete: true}, {Complete: true}}
	first := holdBack(collected{}, collected{snapshot: model.Snapshot{Coverage: whole, Resources: append(in("east", 90), in("west", 10)...)}})
	unread := make([]model.Unread, 90)
	for i := range unread {
		unread[i] = model.Unread{Ref: model.Ref{Kind: "a"}, Place: "east", Reason: "403"}
	}
	for name, second := range map[string]model.Snapshot{
		"a place":        {Coverage: half, Resources: in("west", 10)},
		"each resource":  {Coverage: whole, Resources: in("west", 10), Unread: unread},
		"all of a list":  {Coverage: whole, Resources: in("west", 10), Unread: []model.Unread{{Ref: model.Ref{Kind: "a"}, Place: "east", All: true}}},
		"a part of them": {Coverage: half, Resources: append(in("east", 40), in("west", 10)...)},
	} {
		now := first
		for range 2 {
			now = holdBack(now, collected{snapshot: second})
			if now.held || now.kinds["a"] != 100 {
				t.Errorf("%s: held back: %v, counted %v", name, now.err, now.kinds)
			}
		}
		empty := collected{snapshot: model.Snapshot{Coverage: whole, Resources: in("west", 10)}}
		if now = holdBack(now, empty); !now.held {
			t.Errorf("%s: an empty list was accepted at once afterwards", name)
		}
		if now = holdBack(now, empty); now.held || now.kinds["a"] != 10 {
			t.Errorf("%s: an empty list was not accepted after it came twice: %v", name, now.err)
		}
	}
	added := model.Snapshot{Coverage: whole, Resources: in("west", 10), Unread: []model.Unread{{Ref: model.Ref{Kind: "a", ID: "x:"}, All: true, SystemOwned: "it has no ID yet"}}}
	if now := holdBack(first, collected{snapshot: added}); !now.held {
		t.Error("an entry that stands for no earlier resource excuses an empty list")
	}
	restarted := holdBack(collected{counts: counts{kinds: map[string]int{"a": 100}}}, collected{snapshot: model.Snapshot{Coverage: half, Resources: in("west", 10)}})
	if restarted.held {
		t.Errorf("after a restart: %v", restarted.err)
	}
}
