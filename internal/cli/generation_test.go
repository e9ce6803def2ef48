package cli

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestDigest(t *testing.T) {
	t.Parallel()
	before := []model.Finding{{ID: "a", Basis: "1"}, {ID: "b", Basis: "2"}}
	for reason, after := range map[string][]model.Finding{
		"one is over":             {{ID: "a", Basis: "1"}},
		"one shows something new": {{ID: "a", Basis: "1"}, {ID: "b", Basis: "3"}},
		"one was decided about":   {{ID: "a", Basis: "1"}, {ID: "b", Basis: "2", Decision: &model.Decision{ID: "d"}}},
		"one goes back and forth": {{ID: "a", Basis: "1"}, {ID: "b", Basis: "2", Flapping: true}},
	} {
		if digest(before) == digest(after) {
			t.Errorf("%s, and open pages hear nothing of it", reason)
		}
	}
	if again := []model.Finding{{ID: "a", Basis: "1", Reason: "x"}, {ID: "b", Basis: "2"}}; digest(before) != digest(again) {
		t.Error("open pages are told though nothing changed")
	}
}
