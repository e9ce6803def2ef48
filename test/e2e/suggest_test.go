//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy"
)

// suggested OBJECT VERDICT runs the commands with which driftd suggests to put a finding of the last
// drift back, exactly as they are printed.
func (h harness) suggested(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: suggested OBJECT VERDICT")
	}
	var s remedy.Suggestion
	ts.Check(json.Unmarshal([]byte(h.driftdOutput(ts, "suggest", h.findingID(ts, args[0], args[1]), "-o", "json")), &s))
	ran := 0
	for _, block := range s.PutBack.Blocks {
		if block.Language == "sh" {
			ts.Check(ts.Exec("sh", "-euc", block.Text))
			ran++
		}
	}
	if ran == 0 {
		ts.Fatalf("no command is suggested: %v", s.PutBack)
	}
}

// adopted OBJECT PATH FILE adopts a changed field of the last drift of PATH.
func (h harness) adopted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: adopted OBJECT PATH FILE")
	}
	out := h.driftdOutput(ts, "adopt", h.findingID(ts, args[0], "changed"), args[1], "--to", args[2])
	if !strings.Contains(out, "Proved by a scan") {
		ts.Fatalf("got %s", out)
	}
}

// findingID returns the ID of the finding of the last drift on an object ("deployment/web").
func (h harness) findingID(ts *testscript.TestScript, object, verdict string) string {
	kind, name, _ := strings.Cut(object, "/")
	var all []model.Finding
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("own.json")), &all))
	for i := range all {
		if f := &all[i]; strings.HasPrefix(strings.ToLower(f.Kind), "kubernetes/"+kind+".") && f.Name == name && string(f.Verdict) == verdict {
			return f.ID
		}
	}
	ts.Fatalf("no finding %s %s", verdict, object)
	return ""
}

// driftdOutput returns the output of driftd, which must succeed.
func (h harness) driftdOutput(ts *testscript.TestScript, args ...string) string {
	cmd := exec.Command(h.driftd, append(args, "--state-dir", ts.MkAbs("state"))...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), &out, ts.Stderr()
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME"), "KUBECONFIG=" + ts.Getenv("KUBECONFIG")}
	ts.Check(cmd.Run())
	return out.String()
}
