package cli_test

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/driftd/driftd/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"driftd": func() {
			os.Exit(cli.Run(context.Background(), cli.Build{Version: "1.2.3"}, os.Args[1:], cli.Streams{Out: os.Stdout, Err: os.Stderr}))
		},
		// status runs a command and prints its exit code last.
		"status": status,
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("KUBECONFIG", e.WorkDir+"/no-kubeconfig")
			return nil
		},
	})
}
