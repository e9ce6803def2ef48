package cli_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/driftd/driftd/internal/cli"
	"github.com/driftd/driftd/internal/collectors/kubernetes"
)

func TestMain(m *testing.M) {
	// The logger of client-go is one of the process, and tests run several services in one.
	kubernetes.RedirectLogs(slog.New(slog.DiscardHandler))
	testscript.Main(m, map[string]func(){
		"driftd": func() {
			// as in main
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			code := cli.Run(ctx, cli.Build{Version: "1.2.3"}, os.Args[1:], cli.Streams{Out: os.Stdout, Err: os.Stderr})
			stop()
			os.Exit(code)
		},
		// status runs a command and prints its exit code last.
		"status": status,
	})
}

// flipBit inverts a bit at each occurrence of a text in a file.
func flipBit(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	content := []byte(ts.ReadFile(args[0]))
	changed := bytes.ReplaceAll(content, []byte(args[1]), append([]byte{args[1][0] ^ 1}, args[1][1:]...))
	if bytes.Equal(content, changed) {
		ts.Fatalf("%s does not hold %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, changed, 0o600))
}

// capture sets a variable to the first group of a pattern's match in the last output.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture VARIABLE PATTERN")
	}
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != 2 {
		ts.Fatalf("no match for %q in stdout", args[1])
	}
	ts.Setenv(args[0], found[1])
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"capture": capture, "flipbit": flipBit},
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("KUBECONFIG", e.WorkDir+"/no-kubeconfig")
			return nil
		},
	})
}
