package manifests_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/declared/manifests"
)

// TestMain also runs the sandbox process.
func TestMain(m *testing.M) {
	if len(os.Args) != 2 || os.Args[1] != box.Verb {
		os.Exit(m.Run())
	}
	if err := box.Serve(os.Stdin, os.Stdout, manifests.Jobs()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
