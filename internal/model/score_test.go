package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSumScores checks the sums by source and by owner.
func TestSumScores(t *testing.T) {
	t.Parallel()
	list := []Score{{Source: "b", Owner: "x", Live: 1, Declared: 1, Claims: 1, InSync: Checked{1, 0}},
		{Source: "a", Owner: "x", Live: 2, Claims: 3, Pinned: Checked{1, 2}}, {Source: "a", Live: 4, Deterministic: Checked{0, 1}}}
	want := []Score{{Source: "a", Live: 6, Claims: 3, Pinned: Checked{1, 2}, Deterministic: Checked{0, 1}}, list[0]}
	want[1].Owner = ""
	sums, total := Scores(list, false)
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Errorf("by source (-want +got):\n%s", diff)
	}
	sums, _ = Scores(list, true)
	if len(sums) != 2 || sums[0].Owner != "" || sums[0].Live != 4 || sums[1] != (Score{Owner: "x", Live: 3, Declared: 1, Claims: 4, InSync: Checked{1, 0}, Pinned: Checked{1, 2}}) {
		t.Errorf("by owner: %+v", sums)
	}
	if diff := cmp.Diff([]Scored{{"declared", 7, 1, 0}, {"deterministic", 4, 0, 1}, {"pinned", 4, 1, 2}, {"in_sync", 4, 1, 0}}, total.Properties()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
