package phrase

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestUnseenComesFirst checks that the facts of an action begin with the one that driftd never saw the declared values
// live.
func TestUnseenComesFirst(t *testing.T) {
	t.Parallel()
	for unseen, want := range map[bool]string{true: Unseen, false: "Restarts 2 pods"} {
		if got := ActionFacts(&model.ActionNotice{Unseen: unseen, Restarts: "2 pods", Rule: "shop"})[0].String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
