//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/driftd/driftd/internal/model"
)

// adopted RESOURCE ARGS... runs `driftd adopt` on the finding of the last drift with an address, or
// with an ID in its source.
func (h terraformHarness) adopted(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: adopted RESOURCE ARGS...")
	}
	var report model.Report
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(filepath.Join(ts.Getenv("WORK"), "report.json"))), &report))
	i := slices.IndexFunc(report.Findings, func(f model.Finding) bool { return f.Address == args[0] || f.Key.ID == args[0] })
	if i < 0 {
		ts.Fatalf("no finding on %s", args[0])
	}
	cmd := h.driftdCommand(ts, append([]string{"adopt", report.Findings[i].ID}, args[1:]...)...)
	cmd.Stdout = ts.Stdout()
	if err := cmd.Run(); (err != nil) != neg {
		ts.Fatalf("unexpected outcome: %v", err)
	}
}
