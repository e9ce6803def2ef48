package store

import (
	"errors"
	"testing"

	"github.com/driftd/driftd/internal/reconcile"
)

// TestNamesOfOpenActionsStay verifies that no name is erased of a person with a part in an action that is not over: under
// the reference, the person could ask for the action and approve it, or approve it twice.
func TestNamesOfOpenActionsStay(t *testing.T) {
	t.Parallel()
	s := withAction(t)
	if err := approveIt(s, "alice"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"carol", "alice"} {
		if err := s.EraseName(name, "root", minute(3)); !errors.As(err, new(*reconcile.StateError)) {
			t.Errorf("the name %s is erased: %v", name, err)
		}
	}
	if err := enter(s, reconcile.Converged, minute(4)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"carol", "alice"} {
		if err := s.EraseName(name, "root", minute(5)); err != nil {
			t.Errorf("after the action is over, the name %s stays: %v", name, err)
		}
	}
	wantFaults(t, s)
}
