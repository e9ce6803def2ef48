//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/preview"
	"github.com/driftd/driftd/test/netboxlab"
	"github.com/driftd/driftd/test/tftest"
)

// TestPreview edits NetBox by hand, and lets driftd name each edit and its author from a real
// plan before the apply of that plan erases them.
func TestPreview(t *testing.T) {
	t.Parallel()
	forEachCLI(t, func(t *testing.T, cli tftest.CLI) {
		d := appliedDesk(t, cli, "4.6.8")
		cli.Env = []string{"TF_VAR_server_url=" + d.url, "TF_VAR_api_token=" + netboxlab.Token("svc-terraform")}
		d.by("mara", "PATCH", d.at(machines, "app-01"), map[string]any{"memory": 8192})
		d.by("jonas", "DELETE", d.at(machines, "db-01"), nil)
		d.scan()
		d.plan(cli)

		p, code := d.preview("--plan", "root/tfplan.json")
		want := []string{
			`overwrite netbox_virtual_machine.vm["app-01"] changed memory_mb by mara`,
			`create netbox_virtual_machine.vm["db-01"] missing by jonas`,
		}
		for _, line := range without(want, p) {
			t.Errorf("the plan erases it, and it is not listed: %s\n%s", line, strings.Join(p, "\n"))
		}
		if slices.ContainsFunc(p, func(line string) bool { return strings.Contains(line, "app-02") }) {
			t.Errorf("app-02 was not edited:\n%s", strings.Join(p, "\n"))
		}
		if code != 2 || slices.ContainsFunc(p, func(line string) bool { return strings.HasPrefix(line, "not checked") }) {
			t.Errorf("driftd preview: exit code %d, want 2, and all checked:\n%s", code, strings.Join(p, "\n"))
		}

		if _, code := d.preview("--plan", "root/tfplan.json", "--declaration", "infra"); code != 2 {
			t.Errorf("the declaration of the plan: exit code %d, want 2", code)
		}
		p, _ = d.preview("--declaration", "infra")
		for _, line := range without(want, p) {
			t.Errorf("the findings show it, and it is not listed: %s\n%s", line, strings.Join(p, "\n"))
		}

		if err := cli.Run(t.Context(), filepath.Join(d.dir, "root"), "apply", "-no-color", "tfplan"); err != nil {
			t.Fatal(err)
		}
		d.netbox.SetVersion("4.6.8")
		d.expect("the apply erased the edits")
		d.plan(cli)
		if p, code := d.preview("--plan", "root/tfplan.json"); code != 0 || len(p) > 0 {
			t.Errorf("after the apply: exit code %d, want 0; %v", code, p)
		}
	})
}

// plan makes a plan of the root, and leaves its JSON in root/tfplan.json. NetBox has the version
// that the provider supports from then on.
func (d *desk) plan(cli tftest.CLI) {
	d.t.Helper()
	d.netbox.SetVersion("3.1.11")
	root := filepath.Join(d.dir, "root")
	if err := cli.Run(d.t.Context(), root, "plan", "-no-color", "-out", "tfplan"); err != nil {
		d.t.Fatal(err)
	}
	text, err := cli.Command(d.t.Context(), root, "show", "-json", "tfplan").Output()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "tfplan.json"), text, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// preview runs driftd preview, and returns its items, one field a line, and the exit code.
func (d *desk) preview(args ...string) (lines []string, code int) {
	d.t.Helper()
	args = append([]string{"preview", "-o", "json", "--config", "driftd.yaml", "--state-dir", "state"}, args...)
	cmd := exec.CommandContext(d.t.Context(), driftdPath(d.t), args...)
	cmd.Dir, cmd.Env = d.dir, []string{"HOME=" + d.dir}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		d.t.Fatal(err)
	}
	var answer struct {
		Items []preview.Item
		Gaps  []preview.Gap
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		d.t.Fatalf("driftd %s: %v: %s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	for _, g := range answer.Gaps {
		lines = append(lines, strings.Join([]string{"not checked", g.Declaration, g.Address, g.Reason}, " "))
	}
	for _, it := range answer.Items {
		what := strings.Join([]string{string(it.Effect), it.Address, string(it.Verdict)}, " ")
		if len(it.Changes) == 0 {
			lines = append(lines, what+" by "+it.Actor.Name)
		}
		for _, c := range it.Changes {
			actor := it.Actor
			if c.Actor != nil {
				actor = *c.Actor
			}
			lines = append(lines, what+" "+c.Path+" by "+actor.Name)
		}
	}
	return lines, cmd.ProcessState.ExitCode()
}
