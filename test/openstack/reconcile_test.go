//go:build e2e_openstack

package openstack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/test/openstacklab"
	"github.com/driftd/driftd/test/process"
)

const acting = `
state_dir: state
schedule: {every: 2s}
server: {listen: "%[1]s", access: {loopback: viewer, users_file: users, roles: {approver: [alice]}}}
people: [{name: alice, login: alice}]
sources:
  - name: cloud
    type: openstack
    settings: {clouds_file: clouds.yaml, cloud: shop}
declarations:
  - {name: infra, type: terraform, governs: [cloud], settings: {git: "%[2]s", binary: "%[3]s", cli_config_file: "%[4]s", read_paths: ["%[5]s"], env_files: [plans.env]}}
reconcile:
  writers: [{source: cloud, settings: {clouds_file: fixer.yaml, cloud: shop}}]
  rules: [{name: cloud, mode: approve, match: {source: cloud}, delete: true, min_age: 0, soak: 0, share: 100, per_hour: 100}]
`

// A daemon is a running driftd serve that acts.
type daemon struct {
	*project

	address string
	process *process.Process
	log     bytes.Buffer
}

// install commits and applies a root, and writes the configuration of a daemon that acts with a credential of a role.
func (p *project) install(role string) *daemon {
	p.t.Helper()
	address, err := process.FreeAddress()
	if err != nil {
		p.t.Fatal(err)
	}
	d := &daemon{project: p, address: address}
	root, err := os.ReadFile(filepath.Join("testdata", "reconcile.tf"))
	if err != nil {
		p.t.Fatal(err)
	}
	states := filepath.Join(p.dir, "states")
	p.write("states/keep", "")
	p.write("root/main.tf", string(root))
	p.write("root/backend.tf", fmt.Sprintf("terraform {\n  backend \"local\" {\n    path = %q\n  }\n}\n", filepath.Join(states, "infra.tfstate")))
	p.write("root/.gitignore", ".terraform\n*.hcl\n")
	p.write("root/golden.raw", strings.Repeat("golden", 100))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=ops", "-c", "user.email=ops@example.org", "commit", "-q", "-m", "declare"}} {
		if out, err := exec.CommandContext(p.t.Context(), "git", append([]string{"-C", filepath.Join(p.dir, "root")}, args...)...).CombinedOutput(); err != nil {
			p.t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	if err := p.cli.Apply(p.t.Context(), filepath.Join(p.dir, "root")); err != nil {
		p.t.Fatal(err)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte("right"), bcrypt.MinCost)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write("users", "alice:"+string(hash)+"\n")
	p.write("plans.env", variables(p.as("terraform")))
	p.credential("fixer.yaml", "fixer", role, openstacklab.Region)
	p.write("driftd.yaml", fmt.Sprintf(acting, address, filepath.Join(p.dir, "root"), p.cli.Path, p.cli.Config, states))
	return d
}

// variables returns the variables of OpenStack in an environment, one on a line.
func variables(env []string) string {
	var lines strings.Builder
	for _, v := range env {
		if strings.HasPrefix(v, "OS_") {
			lines.WriteString(v + "\n")
		}
	}
	return lines.String()
}

// serve starts the daemon, which is killed with the test.
func (d *daemon) serve() {
	d.t.Helper()
	driftd, err := filepath.Abs(filepath.Join("..", "..", "bin", "driftd"))
	if err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.Command(driftd, "serve", "--config", "driftd.yaml")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.dir, []string{"HOME=" + d.dir, "PATH=" + os.Getenv("PATH")}, &d.log, &d.log
	if d.process, err = process.Watch(cmd); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		if err := d.process.Kill(); err != nil {
			d.t.Error(err)
		}
		if d.t.Failed() {
			d.t.Logf("log of driftd serve:\n%s", d.log.String())
		}
		if strings.Contains(d.log.String(), password) {
			d.t.Error("a password is in the log")
		}
	})
}

// ask requests a path of the API, with a body as alice, and decodes the answer.
func (d *daemon) ask(path string, body, into any) error {
	ctx, cancel := context.WithTimeout(d.t.Context(), 2*time.Minute)
	defer cancel()
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		var err error
		method = http.MethodPost
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+d.address+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.SetBasicAuth("alice", "right")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", resp.Status, answer)
	}
	return json.Unmarshal(answer, into)
}

// eventually calls a function until it returns no error.
func (d *daemon) eventually(what string, check func() error) {
	d.t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for {
		err := check()
		if err == nil {
			return
		}
		if d.process.Exited() || time.Now().After(deadline) {
			d.t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// awaitFindings waits until the report has exactly these findings: severity, verdict, and address or name.
func (d *daemon) awaitFindings(want ...string) {
	d.t.Helper()
	d.eventually("its report", func() error {
		var r model.Report
		if err := d.ask("/api/v1/report", nil, &r); err != nil {
			return err
		}
		got := []string{}
		for _, f := range r.Findings {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s", f.Verdict, f.Name)))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || r.Summary.Unchecked > 0 {
			return fmt.Errorf("found %q, want %q", got, want)
		}
		return nil
	})
}

// putBack approves an action that waits, and returns what came of it; the zero Action if none waits.
func (d *daemon) putBack() (after reconcile.Action, err error) {
	var o reconcile.Overview
	if err := d.ask("/api/v1/actions", nil, &o); err != nil {
		return after, err
	}
	for _, a := range o.Actions {
		if a.State == reconcile.Proposed {
			err := d.ask("/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": a.Digest, "reason": "by hand"}, &after)
			return after, err
		}
	}
	return after, nil
}

// putAllBack approves actions until there are no findings, and returns the kinds that were put back.
func (d *daemon) putAllBack() map[string]bool {
	d.t.Helper()
	kinds := map[string]bool{}
	d.eventually("all is put back", func() error {
		after, err := d.putBack()
		switch {
		case err != nil:
			return err // it was superseded, and is proposed again
		case after.ID != "" && after.State != reconcile.Converged:
			d.t.Errorf("%s is %s: %s", after.Name, after.State, after.Outcome)
		case after.ID != "":
			kinds[after.Subject.Kind] = true
			d.t.Logf("%s %s: %s, requests %q, answer %+v", after.Subject.Kind, after.Name, after.State, after.Plan.Requests, after.Receipt)
		}
		var r model.Report
		if err := d.ask("/api/v1/report", nil, &r); err != nil {
			return err
		}
		if n := len(r.Findings); n > 0 {
			return fmt.Errorf("%d findings are left", n)
		}
		return nil
	})
	return kinds
}

// TestReconcile puts changes by hand back that driftd may put back in OpenStack, each with an approval. Afterwards the next scan
// and the next plan find nothing.
func TestReconcile(t *testing.T) {
	t.Parallel()
	p := newProject(t, "fix")
	d := p.install("member")
	d.serve()
	d.awaitFindings()
	for _, command := range []string{
		"network set --tag urgent --description by-hand web",
		"network unset --tag web web",
		"security group rule create --protocol tcp --dst-port 22 --remote-ip 0.0.0.0/0 web",
		"security group set --description by-hand web",
		"port set --no-security-group --disable-port-security --tag a web",
		"volume set --property tier=batch --property owner=mara data",
		"volume unset --property backup data",
		"server set --property owner=mara --property role=db web",
		"image set --tag urgent " + p.by("terraform", "image show base -f value -c id"),
	} {
		p.by("mara", command)
	}
	// The daemon saw some of these before it saw the others.
	d.awaitCount(7)
	kinds := d.putAllBack()
	if len(kinds) != 7 {
		t.Errorf("put back %v", kinds)
	}
	if actions, text := p.plan(); len(actions) > 0 {
		t.Errorf("the next plan: %q: %s", actions, text)
	}
	// Servers are never deleted.
	p.by("mara", "server create --flavor small --image debian --network web --wait rogue")
	d.awaitFindings("unmanaged rogue")
	d.awaitHeld("kind", "does not delete resources of kind openstack/server")
}

// awaitCount waits until the report has a number of findings of different resources.
func (d *daemon) awaitCount(want int) {
	d.t.Helper()
	d.eventually("its report", func() error {
		var r model.Report
		if err := d.ask("/api/v1/report", nil, &r); err != nil {
			return err
		}
		resources := map[model.Key]bool{}
		for _, f := range r.Findings {
			resources[f.Key] = true
		}
		if len(resources) != want {
			return fmt.Errorf("findings of %d resources, want %d", len(resources), want)
		}
		return nil
	})
}

// awaitHeld waits until a guard holds a finding.
func (d *daemon) awaitHeld(guard, why string) {
	d.t.Helper()
	d.eventually("a finding that is held by guard "+guard, func() error {
		var o reconcile.Overview
		if err := d.ask("/api/v1/actions", nil, &o); err != nil {
			return err
		}
		for _, h := range o.Held {
			if h.Guard == guard && strings.Contains(h.Why, why) {
				return nil
			}
		}
		return fmt.Errorf("held are %+v", o.Held)
	})
}

// TestReconcileReader refuses in words to write with a credential that only reads, and Neutron itself refuses another revision.
func TestReconcileReader(t *testing.T) {
	t.Parallel()
	p := newProject(t, "reader")
	d := p.install("reader")
	d.serve()
	d.awaitFindings()
	p.by("mara", "network set --description by-hand web")
	d.awaitFindings("changed web")
	d.awaitHeld("rights", "has no role but reader")
	p.stale(http.MethodPut, "networks/"+p.by("mara", "network show web -f value -c id"), `{"network": {"description": "later"}}`)
	rule := p.by("mara", "security group rule create --protocol tcp --dst-port 22 web -f value -c id")
	p.stale(http.MethodDelete, "security-group-rules/"+rule, "")
	p.by("mara", "security group rule show "+rule)
}

// stale sends a request with a revision that an object does not have to Neutron, which must refuse it.
func (p *project) stale(method, path, body string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, cloud.URL("neutron")+"/v2.0/"+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", p.by("mara", "token issue -f value -c id"))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("If-Match", "revision_number=999")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusPreconditionFailed || resp.Header.Get("X-Openstack-Request-Id") == "" {
		p.t.Errorf("%s %s: %s: %s: %v: %v", method, path, resp.Status, answer, resp.Header, err)
	}
}
