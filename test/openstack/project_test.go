//go:build e2e_openstack

package openstack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/openstacklab"
	"github.com/driftd/driftd/test/tftest"
)

// A project is an OpenStack project that Terraform manages and mara edits, with a folder for
// driftd.
type project struct {
	t    *testing.T
	name string
	dir  string
	cli  tftest.CLI
}

const password = "not-to-be-shown-Zq7"

const config = `
sources:
  - name: cloud
    type: openstack
    settings: {clouds_file: clouds.yaml, cloud: shop, same_user: true, notifications: {url_file: bus, queue: driftd-%s}%s}
declarations:
  - {name: infra, type: terraform, governs: [cloud], settings: {engine: state, state: [root/terraform.tfstate]}}
`

const clouds = `
clouds:
  shop:
    auth_type: v3applicationcredential
    auth:
      auth_url: %s
      application_credential_id: %q
      application_credential_secret: %q
    region_name: %s
`

// newProject creates a project with its users. Terraform's user gives driftd a credential with
// the reader role.
func newProject(t *testing.T, name string) *project {
	t.Helper()
	tools, err := tftest.Find()
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, name: name, dir: t.TempDir()}
	clis, err := tools.CLIs(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	p.cli = clis[0]
	p.cli.Env = p.as("terraform")
	p.admin("project create " + name)
	for _, user := range []string{"terraform", "mara"} {
		p.admin("user create --password " + password + " " + name + "-" + user)
		p.admin("role add --project " + name + " --user " + name + "-" + user + " member")
	}
	p.admin("role add --project " + name + " --user " + name + "-terraform reader")
	p.write("driftd.yaml", p.config(""))
	p.write("bus", cloud.BusURL())
	p.login(openstacklab.Region)
	return p
}

// config returns driftd's configuration, with more settings of its source.
func (p *project) config(settings string) string { return fmt.Sprintf(config, p.name, settings) }

// login creates a credential with the reader role, and configures driftd with it.
func (p *project) login(region string) { p.credential("clouds.yaml", "driftd", "reader", region) }

// credential creates a credential with a role, and writes a clouds.yaml with it.
func (p *project) credential(file, name, role, region string) {
	p.t.Helper()
	var made struct{ ID, Secret string }
	if err := json.Unmarshal([]byte(p.by("terraform", "application credential create --role "+role+" -f json "+name)), &made); err != nil {
		p.t.Fatal(err)
	}
	p.write(file, fmt.Sprintf(clouds, cloud.AuthURL(), made.ID, made.Secret, region))
}

// as returns the environment of a user's programs.
func (p *project) as(user string) []string {
	return cloud.Environment(p.name+"-"+user, password, p.name)
}

// by runs the command as a user of the project.
func (p *project) by(user, command string) string {
	p.t.Helper()
	out, err := openstack(p.as(user), command)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

func (p *project) admin(command string) {
	p.t.Helper()
	if _, err := openstack(admin(), command); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		p.t.Fatal(err)
	}
}

// apply applies the configuration with the real provider.
func (p *project) apply() {
	p.t.Helper()
	main, err := os.ReadFile(filepath.Join("testdata", "main.tf"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.write("root/main.tf", string(main))
	p.write("root/golden.raw", strings.Repeat("golden", 100))
	if err := p.cli.Apply(p.t.Context(), filepath.Join(p.dir, "root")); err != nil {
		p.t.Fatal(err)
	}
}

// plan plans with OpenTofu, and returns the planned changes and the output.
func (p *project) plan() (actions []string, text string) {
	p.t.Helper()
	root := filepath.Join(p.dir, "root")
	out, err := p.cli.Command(p.t.Context(), root, "plan", "-no-color", "-out", "plan").CombinedOutput()
	if err != nil {
		p.t.Fatalf("plan: %v: %s", err, out)
	}
	shown, err := p.cli.Command(p.t.Context(), root, "show", "-json", "plan").Output()
	if err != nil {
		p.t.Fatal(err)
	}
	var plan struct {
		Changes []struct {
			Address string
			Mode    string
			Change  struct{ Actions []string }
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal(shown, &plan); err != nil {
		p.t.Fatal(err)
	}
	for _, c := range plan.Changes {
		if c.Mode == "managed" && !slices.Equal(c.Change.Actions, []string{"no-op"}) {
			actions = append(actions, strings.Join(c.Change.Actions, " ")+" "+c.Address)
		}
	}
	slices.Sort(actions)
	return actions, string(out)
}

// scan runs driftd, and checks its exit code against its report.
func (p *project) scan() model.Report {
	p.t.Helper()
	driftd, err := filepath.Abs(filepath.Join("..", "..", "bin", "driftd"))
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.CommandContext(p.t.Context(), driftd, "scan", "--config", "driftd.yaml", "-o", "json", "--state-dir", "state")
	cmd.Dir, cmd.Env = p.dir, []string{"HOME=" + p.dir}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var report model.Report
	if broken := json.Unmarshal(out, &report); broken != nil {
		p.t.Fatalf("driftd scan: no report: %v: %v: %s%s", err, broken, out, stderr.String())
	}
	if code, want := cmd.ProcessState.ExitCode(), wantedCode(report); code != want {
		p.t.Errorf("driftd scan: exit code %d, but its report calls for %d: %s", code, want, stderr.String())
	}
	if said := string(out) + stderr.String(); strings.Contains(said, password) {
		p.t.Errorf("driftd scan: a password is printed: %s", said)
	}
	return report
}

// wantedCode returns the exit code for a report.
func wantedCode(r model.Report) int {
	switch {
	case slices.ContainsFunc(r.Findings, func(f model.Finding) bool { return f.Verdict.IsDrift() }):
		return 2
	case len(r.Findings) > 0 || r.Summary.Unchecked > 0:
		return 3
	}
	if !r.Scan.Complete {
		return 3
	}
	return 0
}

// expect scans and compares the findings, one change a line.
func (p *project) expect(reason string, want ...string) model.Report {
	p.t.Helper()
	report := p.scan()
	var got []string
	for _, f := range report.Findings {
		got = append(got, p.describe(f)...)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		p.t.Errorf("%s: found\n\t%s\nwant\n\t%s", reason, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	return report
}

// describe formats a finding, one line a change: its severity, its subject, the declared and
// the live value, the actor, and the reason.
func (p *project) describe(f model.Finding) []string {
	what := fmt.Sprintf("%s %s %s", f.Severity, f.Verdict, f.Address)
	if f.Address == "" {
		what = fmt.Sprintf("%s %s %s %s", f.Severity, f.Verdict, f.Kind, f.Name)
	}
	if len(f.Changes) == 0 || f.Verdict == model.Unchecked {
		return []string{what + p.describeActor(f.Actor) + describeReason(f.Reason)}
	}
	var lines []string
	for _, c := range f.Changes {
		actor := f.Actor
		if c.Actor != nil {
			actor = *c.Actor
		}
		lines = append(lines, fmt.Sprintf("%s: %s %s -> %s%s%s", what, c.Path, side(cmp.Or(c.Declared, c.Recorded)), side(c.Live), p.describeActor(actor), describeReason(f.Reason)))
	}
	return lines
}

func (p *project) describeActor(a model.Actor) string {
	if a.Confidence == model.Unknown {
		return ""
	}
	if a.At.IsZero() {
		p.t.Errorf("it is not said when %s did it", a.Name)
	}
	return " by " + strings.TrimPrefix(a.Name, p.name+"-")
}

func describeReason(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func side(v *model.Value) string {
	if v == nil {
		return "nothing"
	}
	return ids().ReplaceAllString(string(v.AppendJSON(nil)), "ID")
}

// ids matches OpenStack's IDs, which differ in each run.
func ids() *regexp.Regexp { return regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`) }
