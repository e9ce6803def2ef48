package gitrepo

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestBoundTimes proves that a commit is not newer than a head of the ref that contains it,
// with any date of its committer, and that a merged commit does not change the times of
// others.
func TestBoundTimes(t *testing.T) {
	t.Parallel()
	at := func(hour int, parents ...*LogCommit) *LogCommit {
		c := &LogCommit{parents: parents}
		if hour > 0 {
			c.Commit = model.Commit{When: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)}
		}
		return c
	}
	first := at(2)
	forged := at(20, first)
	side := at(22, first, nil)
	old := at(1, side)
	merge := at(10, forged, old)
	undated := at(0, merge)
	head := at(12, undated)
	boundTimes([]*LogCommit{head, undated, merge, forged, old, side, first})
	for i, tc := range []struct {
		commit *LogCommit
		want   int
	}{{head, 12}, {merge, 10}, {forged, 10}, {side, 10}, {old, 1}, {first, 2}} {
		if got := tc.commit.When.Hour(); got != tc.want {
			t.Errorf("commit %d: hour %d, want %d", i, got, tc.want)
		}
	}
	if !undated.When.Equal(head.When) && !undated.When.IsZero() {
		t.Errorf("a commit without a date got %s", undated.When)
	}
	boundTimes(nil)
}
