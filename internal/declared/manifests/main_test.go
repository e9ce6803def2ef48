package manifests_test

import (
	"fmt"
	"maps"
	"os"
	"testing"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/chart/render"
	"github.com/driftd/driftd/internal/declared/manifests"
)

// TestMain also runs the sandbox process.
func TestMain(m *testing.M) {
	if len(os.Args) != 2 || os.Args[1] != box.Verb {
		os.Exit(m.Run())
	}
	jobs := manifests.Jobs()
	maps.Copy(jobs, render.Jobs())
	if err := box.Serve(os.Stdin, os.Stdout, jobs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
