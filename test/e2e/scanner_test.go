//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/driftd/driftd/internal/model"
)

// A scanner runs driftd scan for scripts.
type scanner struct {
	driftd string
	// schema is the schema of reports.
	schema *jsonschema.Schema
	// env is the environment of driftd: the script's variables by name, and others as
	// name=value.
	env []string
}

func newScanner(t *testing.T, env ...string) scanner {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "report-schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return scanner{driftdPath(t), schema, env}
}

// drift runs `driftd scan` with a state folder of the script's own, checks its exit code
// against its report, and leaves the report in report.json. With neg the scan must fail without
// a report.
func (s scanner) drift(ts *testscript.TestScript, neg bool, args []string) (model.Report, bool) {
	report, code, err := s.scan(ts, args)
	if neg {
		if code != 1 || errors.Is(err, errPrinted) {
			ts.Fatalf("driftd scan: exit code %d (%v), want 1 and no result", code, err)
		}
		return report, false
	}
	ts.Check(err)
	if want := wantedCode(report); code != want {
		ts.Fatalf("driftd scan: exit code %d, but its report calls for %d:\n%s", code, want, summarize(report))
	}
	return report, true
}

// command returns `driftd scan ARGS...`, not started yet.
func (s scanner) command(ts *testscript.TestScript, args ...string) *exec.Cmd {
	return s.driftdCommand(ts, append([]string{"scan", "-o", "json"}, args...)...)
}

// driftdCommand returns `driftd ARGS...` with the script's state folder, not started yet.
func (s scanner) driftdCommand(ts *testscript.TestScript, args ...string) *exec.Cmd {
	cmd := exec.Command(s.driftd, append(args, "--state-dir", filepath.Join(ts.Getenv("WORK"), "state"))...)
	cmd.Dir, cmd.Stderr = ts.MkAbs("."), ts.Stderr()
	for _, variable := range s.env {
		if !strings.Contains(variable, "=") {
			variable += "=" + ts.Getenv(variable)
		}
		cmd.Env = append(cmd.Env, variable)
	}
	return cmd
}

func (s scanner) scan(ts *testscript.TestScript, args []string) (report model.Report, code int, err error) {
	cmd := s.command(ts, args...)
	out, err := cmd.Output()
	code = cmd.ProcessState.ExitCode()
	if code == 1 && len(out) > 0 {
		return report, code, fmt.Errorf("driftd %s: %w: %s", strings.Join(args, " "), errPrinted, out)
	}
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || code == 1) {
		return report, code, fmt.Errorf("driftd %s: %w", strings.Join(args, " "), err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	if err := errors.Join(err, s.schema.Validate(document), json.Unmarshal(out, &report)); err != nil {
		return report, code, fmt.Errorf("read report of driftd %s: %w: %s", strings.Join(args, " "), err, out)
	}
	if err := os.WriteFile(ts.MkAbs("report.json"), out, 0o600); err != nil {
		return report, code, fmt.Errorf("keep report: %w", err)
	}
	return report, code, nil
}

var errPrinted = errors.New("a failed run printed a result")

// wantedCode returns the exit code for a report.
func wantedCode(r model.Report) int {
	if slices.ContainsFunc(r.Findings, func(f model.Finding) bool { return f.Verdict.IsDrift() }) {
		return 2
	}
	if len(r.Findings) > 0 || r.Summary.Unchecked > 0 || slices.ContainsFunc(r.Coverage, model.Coverage.Failed) || !r.Scan.Complete {
		return 3
	}
	return 0
}
