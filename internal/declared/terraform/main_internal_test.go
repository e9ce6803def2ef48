package terraform

import (
	"os"
	"testing"

	"github.com/driftd/driftd/internal/box"
)

// TestMain also runs the guard process of package box.
func TestMain(m *testing.M) {
	if status, guarded := box.Guard(); guarded {
		os.Exit(status)
	}
	os.Exit(m.Run())
}
