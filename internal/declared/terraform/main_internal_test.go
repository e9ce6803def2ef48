package terraform

import (
	"os"
	"testing"

	"github.com/driftd/driftd/internal/box"
)

// TestMain is also the guard of the CLI.
func TestMain(m *testing.M) {
	if status, guarded := box.Guard(); guarded {
		os.Exit(status)
	}
	os.Exit(m.Run())
}
