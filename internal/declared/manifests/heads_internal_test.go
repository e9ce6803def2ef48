package manifests

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestHeads checks since when a ref names a commit, and when the earlier ones were replaced.
func TestHeads(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	after := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	main, other := checkout{}, checkout{ref: "refs/heads/other"}
	h := &heads{}
	var got map[checkout]model.Fetch
	for minute, commit := range []string{"a", "a", "b", "", "a"} {
		got = h.update(map[checkout]string{main: commit, other: "x"}, after(minute))
	}
	want := map[checkout]model.Fetch{
		main:  {Commit: "a", Since: after(4), Read: after(4), Replaced: map[string]time.Time{"b": after(4)}},
		other: {Commit: "x", Since: start, Read: after(4), Replaced: map[string]time.Time{}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(checkout{})); diff != "" {
		t.Error(diff)
	}
	if got = h.update(map[checkout]string{main: ""}, after(9)); len(got) != 1 || !got[main].Read.Equal(after(4)) {
		t.Errorf("not read: %+v", got)
	}
	if got = h.update(map[checkout]string{main: "a", other: "x"}, after(10)); !got[other].Since.Equal(after(10)) {
		t.Errorf("a ref that was not needed for a time: %+v", got[other])
	}
	for i := range 2 * maxReplaced {
		got = h.update(map[checkout]string{main: fmt.Sprint(i)}, after(20+i))
	}
	if replaced := got[main].Replaced; len(replaced) != maxReplaced || replaced[fmt.Sprint(2*maxReplaced-2)].IsZero() || !replaced["a"].IsZero() {
		t.Errorf("%d earlier commits", len(replaced))
	}
	if got = h.update(map[checkout]string{main: "", other: ""}, after(1000)); len(got) != 1 {
		t.Errorf("never read: %+v", got)
	}
}
