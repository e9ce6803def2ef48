//go:build e2e

package e2e

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/sys/unix"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/test/pvelab"
	"github.com/driftd/driftd/test/tftest"
)

// An applying is an installation of a Terraform root in git, whose declaration has a writer. Its state is in a file.
type applying struct {
	acting

	cli tftest.CLI
	lab *tftest.Lab
	// settings and writing are added to the settings of the declaration and of its writer.
	settings, writing string
}

// installApplying makes an installation of a root with two servers, both applied, and with a rule of a mode.
func installApplying(t *testing.T, cli tftest.CLI, mode string) *applying {
	t.Helper()
	i := newApplying(t, cli)
	i.serveLab(mode)
	return i
}

// serveLab starts the lab with two servers, and settles the root with a rule of a mode.
func (i *applying) serveLab(mode string) {
	i.t.Helper()
	i.lab = tftest.NewLab()
	i.t.Cleanup(i.lab.Close)
	i.write("deploy/lab.tf", strings.NewReplacer("$LAB", i.lab.URL(), "$TOKEN", tftest.Token).Replace(labProvider))
	i.declare("web", 4, "")
	i.declare("db", 8, "")
	i.settle("", "", mode)
}

// newApplying makes an installation of a root without configuration.
func newApplying(t *testing.T, cli tftest.CLI) *applying {
	t.Helper()
	i := &applying{acting: acting{&installation{t: t, dir: t.TempDir(), namespace: "none", address: freeAddress(t)}}, cli: cli}
	for _, dir := range []string{"deploy", "states"} {
		if err := os.Mkdir(i.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	i.write("deploy/.gitignore", ".terraform\n*.hcl\n")
	i.write("deploy/backend.tf", "terraform {\n  backend \"local\" {\n    path = \""+i.path("states/infra.tfstate")+"\"\n  }\n}\n")
	return i
}

// settle commits and applies the root, and writes the configuration, with sources that the root declares and a rule of a
// mode.
func (i *applying) settle(sources, governs, mode string) {
	i.t.Helper()
	i.git("init", "-q", "-b", "main", ".")
	i.commit()
	i.apply()
	users := ""
	for _, name := range []string{"alice", "bob"} {
		hash, err := bcrypt.GenerateFromPassword([]byte("right-"+name), bcrypt.MinCost)
		if err != nil {
			i.t.Fatal(err)
		}
		users += name + ":" + string(hash) + "\n"
	}
	i.write("users", users)
	i.write("driftd.yaml", fmt.Sprintf(`
state_dir: state
schedule: {every: 1s}
server: {listen: "%s", access: {loopback: viewer, users_file: users, roles: {approver: [alice, bob]}}}
people: [{name: alice, login: alice}, {name: bob, login: bob}]
sources: [%s]
declarations:
  - {name: infra, type: terraform, governs: [%s], settings: {git: "%s", binary: "%s", cli_config_file: "%s", read_paths: ["%s"]%s}}
reconcile:
  writers: [{declaration: infra, settings: {write_paths: ["%s"]%s}}]
  rules: [{name: infra, mode: %s, match: {declaration: infra}, min_age: 0, soak: 0, share: 100, per_hour: 100}]
`, i.address, sources, governs, i.path("deploy"), i.cli.Path, i.cli.Config, i.path("states"), i.settings, i.path("states"), i.writing, mode))
}

// declare writes the file of a server.
func (i *applying) declare(name string, size int, notes string) {
	i.t.Helper()
	i.write("deploy/"+name+".tf", fmt.Sprintf("resource \"lab_server\" %q {\n  name = %q\n  size = %d\n  notes = %q\n}\n", name, name, size, notes))
}

// apply applies the root, as its pipeline does.
func (i *applying) apply() {
	i.t.Helper()
	if err := i.cli.Apply(i.t.Context(), i.path("deploy")); err != nil {
		i.t.Fatal(err)
	}
}

// nothingToDo checks that the pipeline's next plan has no changes.
func (i *applying) nothingToDo() {
	i.t.Helper()
	if err := i.cli.Run(i.t.Context(), i.path("deploy"), "plan", "-detailed-exitcode"); err != nil {
		i.t.Errorf("the pipeline's next plan: %v", err)
	}
}

// edit edits an object of the lab by hand.
func (i *applying) edit(name, field string, value any) {
	i.t.Helper()
	if err := i.lab.Set(name, field, value); err != nil {
		i.t.Fatal(err)
	}
}

// size returns the size of a server.
func (i *applying) size(name string) string {
	return fmt.Sprint(i.lab.Get("server/" + name)["size"]) // <nil> without a server
}

// state returns the text of the state.
func (i *applying) state() string {
	i.t.Helper()
	text, err := os.ReadFile(i.path("states/infra.tfstate"))
	if err != nil {
		i.t.Fatal(err)
	}
	return string(text)
}

// A change by hand of a resource that a root declares is put back with an apply of the plan that a person approved, and
// the next plan of the pipeline has nothing to do.
func TestReconcileTerraform(t *testing.T) {
	t.Parallel()
	forEachCLI(t, func(t *testing.T, cli tftest.CLI) {
		i := installApplying(t, cli, "approve")
		d := i.serve()
		d.awaitFindings()
		i.edit("server/web", "size", 9)
		a := d.awaitAction(reconcile.Proposed)
		if len(a.Plan.Changes) != 1 || a.Plan.Changes[0].Path != "size" || a.Plan.Addresses[0] != "lab_server.web" {
			t.Errorf("the plan is %+v", a.Plan)
		}
		since := time.Now()
		if after := d.approve("alice", &a); after.State != reconcile.Converged {
			t.Fatalf("it is %s: %s", after.State, after.Outcome)
		}
		t.Logf("converged after %s", time.Since(since))
		if got := i.size("web"); got != "4" {
			t.Errorf("the size is %s", got)
		}
		d.awaitFindings()
		i.nothingToDo()
		stdout, stderr, code := d.driftd("reconcile", "check")
		if code != 0 || !strings.Contains(stdout, "declaration infra") || !strings.Contains(stdout, "Terraform cannot list that") {
			t.Errorf("driftd reconcile check: %d: %s%s", code, stdout, stderr)
		}
		// A resource that is gone is created only if the rule sets create.
		if err := i.lab.Remove("server/web"); err != nil {
			t.Fatal(err)
		}
		d.awaitHeld("verdict", "it would be created")
	})
}

// A plan runs the programs of a root: the account of the writer is used only for a commit that was approved. An account
// may be a variable of the root.
func TestReconcileTerraformAccount(t *testing.T) {
	t.Parallel()
	cli := oneCLI(t)
	i := newApplying(t, cli)
	i.write("runs", "")
	i.write(cli.Name, "#!/bin/sh\necho \"$1 $ACCOUNT\" >> "+i.path("runs")+"\nexec "+cli.Path+" \"$@\"\n")
	if err := os.Chmod(i.path(cli.Name), 0o700); err != nil {
		t.Fatal(err)
	}
	i.cli.Path = i.path(cli.Name)
	i.write("deploy/account.tf", "variable \"account\" {\n  default = \"pipeline\"\n}\n")
	i.settings = ", box: false, env: {ACCOUNT: reader, TF_VAR_account: reader}"
	i.writing = ", env: {ACCOUNT: writer, TF_VAR_account: writer}"
	i.serveLab("approve")
	d := i.serve()
	d.awaitFindings()
	i.edit("server/web", "size", 9)
	a := d.awaitAction(reconcile.Proposed)
	// The branch moved since: what it has now was not approved.
	i.declare("db", 12, "")
	i.commit()
	if status, text := d.as("alice", "/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": a.Digest}); status != http.StatusConflict {
		t.Errorf("another commit: %d: %s", status, text)
	}
	if runs := i.runs(); strings.Contains(runs, "writer") || !strings.Contains(runs, "plan reader") {
		t.Errorf("nothing was carried out, and these programs ran:\n%s", runs)
	}
	i.declare("db", 8, "")
	i.commit()
	i.edit("server/web", "size", 10)
	d.eventually(startTimeout, "the action of the new drift", func() error {
		if a = d.awaitAction(reconcile.Proposed); !a.Plan.Changes[0].Old.Equal(model.IntOf(10)) {
			return fmt.Errorf("the action is %+v", a.Plan)
		}
		return nil
	})
	if after := d.approve("alice", &a); after.State != reconcile.Converged {
		t.Fatalf("it is %s: %s", after.State, after.Outcome)
	}
	if runs := i.runs(); strings.Count(runs, "plan writer") != 1 || !strings.Contains(runs, "apply writer") || strings.Contains(runs, "apply reader") {
		t.Errorf("these programs ran:\n%s", runs)
	}
}

// runs returns the commands of the CLI, each with the account.
func (i *applying) runs() string {
	i.t.Helper()
	text, err := os.ReadFile(i.path("runs"))
	if err != nil {
		i.t.Fatal(err)
	}
	return string(text)
}

// servePVE serves a cluster, and settles the root with resources of it and a rule of the mode approve.
func (i *applying) servePVE(lab *pvelab.Lab, main string) {
	i.t.Helper()
	server := httptest.NewTLSServer(lab)
	i.t.Cleanup(server.Close)
	i.write("pve.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	i.write("token", "0123\n")
	i.write("deploy/proxmox.tf", strings.ReplaceAll(proxmoxProvider, "$PVE", server.URL))
	i.write("deploy/main.tf", main)
	i.settle(`{name: pve, type: proxmox, settings: {url: "`+server.URL+`", ca_file: pve.pem, token_id: "driftd@pve!ro", token_file: token}}`, "pve", "approve")
}

// A guest of Proxmox VE that a root declares is put back with the genuine provider, and the next scan of
// the source finds it in sync.
func TestReconcileTerraformProxmox(t *testing.T) {
	t.Parallel()
	i := newApplying(t, oneCLI(t))
	lab := pvelab.New(pvetest.New(pvelab.Cluster(), rand.New(rand.NewPCG(1, 2))))
	i.servePVE(lab, webGuest)
	d := i.serve()
	d.awaitFindings()
	lab.SetConfig(301, "cores", 4, "carol@pve")
	lab.SetConfig(301, "memory", 4096, "carol@pve")
	a := d.awaitAction(reconcile.Proposed)
	if a.Subject.Source != "pve" || a.Drift.Name != "carol@pve" || len(a.Plan.Addresses) != 1 || a.Plan.Addresses[0] != "proxmox_virtual_environment_vm.web" {
		t.Errorf("the action is %+v", a)
	}
	t.Logf("changes %+v", a.Plan.Changes)
	if r, err := d.report(); err != nil || len(r.Findings) != 1 || len(r.Findings[0].Changes) != len(a.Plan.Changes) {
		t.Errorf("the findings are %+v: %v", r.Findings, err)
	} else {
		for k, c := range r.Findings[0].Changes {
			if c.Path != a.Plan.Changes[k].Path { // a fight over a field is known by its path
				t.Errorf("the finding has the path %s, and the plan %s", c.Path, a.Plan.Changes[k].Path)
			}
		}
	}
	if after := d.approve("alice", &a); after.State != reconcile.Converged {
		t.Fatalf("it is %s: %s", after.State, after.Outcome)
	}
	d.awaitFindings()
	i.nothingToDo()
}

const webGuest = `
resource "proxmox_virtual_environment_vm" "web" {
  name      = "web"
  node_name = "pve1"
  vm_id     = 301
  cpu {
    cores = 2
    type  = "x86-64-v2-AES"
  }
  memory {
    dedicated = 2048
  }
  network_device {
    bridge      = "vmbr0"
    mac_address = "BC:24:11:00:00:01"
  }
  operating_system {
    type = "l26"
  }
}
`

// awaitHeld waits until the first finding is held by a guard with a reason.
func (d *daemon) awaitHeld(guard, why string) {
	d.t.Helper()
	d.eventually(startTimeout, "a finding that is held by guard "+guard, func() error {
		body, err := d.get("/api/v1/actions")
		if err == nil && !(strings.Contains(body, `"guard":"`+guard+`"`) && strings.Contains(body, why)) {
			err = fmt.Errorf("there is none: %s", body)
		}
		return err
	})
}

// An apply does what was approved and nothing else, or it does nothing.
func TestReconcileTerraformRefuses(t *testing.T) {
	t.Parallel()
	i := installApplying(t, oneCLI(t), "approve")
	d := i.serve()
	d.awaitFindings()
	i.edit("server/web", "size", 9)
	a := d.awaitAction(reconcile.Proposed)
	// Another resource drifted since: the apply would put that back, too, without an approval.
	i.edit("server/db", "size", 16)
	status, text := d.as("alice", "/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": a.Digest})
	if status != http.StatusConflict || i.size("web") != "9" || i.size("db") != "16" {
		t.Errorf("other drift: %d: %s: web %s, db %s", status, text, i.size("web"), i.size("db"))
	}
	// One apply puts both back.
	a = d.awaitCovering(1)
	if after := d.approve("alice", &a); after.State != reconcile.Converged || i.size("web") != "4" || i.size("db") != "8" {
		t.Fatalf("it is %s: %s: web %s, db %s", after.State, after.Outcome, i.size("web"), i.size("db"))
	}
	d.awaitFindings()
	// The state was edited by hand, with the same serial.
	i.edit("server/web", "size", 11)
	a = d.awaitAction(reconcile.Proposed)
	before := i.state()
	i.write("states/infra.tfstate", strings.Replace(before, `"size": 4`, `"size": 5`, 1))
	status, text = d.as("alice", "/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": a.Digest})
	if status != http.StatusConflict || i.size("web") != "11" {
		t.Errorf("another state: %d: %s: web %s", status, text, i.size("web"))
	}
	i.write("states/infra.tfstate", before)
	i.edit("server/web", "size", 4)
	// The report of a scan that began before the edits may be without findings, too.
	d.awaitScan()
	d.awaitFindings()
	// A commit that no pipeline applied would be shipped along.
	i.declare("db", 12, "")
	i.commit()
	i.edit("server/web", "size", 9)
	d.awaitHeld("scope", "lab_server.db")
	i.apply()
	d.awaitScan()
	d.awaitFindings()
	// Another apply holds the lock.
	i.edit("server/web", "size", 10)
	d.awaitAction(reconcile.Proposed)
	unlock := i.lock()
	// The answer is that of the one who carried it out first, this request or the daemon by itself. A scan that began before the edit
	// may end after it, and change the finding once more.
	for text = "look again"; strings.Contains(text, "look again") || strings.Contains(text, "is superseded"); {
		a = d.awaitAction(reconcile.Proposed)
		status, text = d.as("alice", "/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": a.Digest})
	}
	if !strings.Contains(text, "nothing was changed") || !strings.Contains(text, "lock") || i.size("web") != "10" {
		t.Errorf("locked: %d: %s: web %s", status, text, i.size("web"))
	}
	unlock()
}

// After a kill in the middle of an apply, the next start determines what came of it.
func TestReconcileTerraformKilled(t *testing.T) {
	t.Parallel()
	forEachCLI(t, func(t *testing.T, cli tftest.CLI) {
		i := installApplying(t, cli, "approve")
		i.endApplying(http.MethodPut, func() { i.edit("server/web", "size", 9) }, (*daemon).kill)
	})
}

// A stop in the middle of an apply lets the program finish what it is doing and save its state: what it created is not
// created again.
func TestReconcileTerraformStopped(t *testing.T) {
	t.Parallel()
	forEachCLI(t, func(t *testing.T, cli tftest.CLI) {
		i := installApplying(t, cli, "approve, create: true")
		remove := func() {
			if err := i.lab.Remove("server/web"); err != nil {
				t.Fatal(err)
			}
		}
		i.endApplying(http.MethodPost, remove, func(d *daemon) {
			if code := d.stop(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if err := i.cli.Run(t.Context(), i.path("deploy"), "plan", "-detailed-exitcode"); err != nil {
				t.Errorf("a plan after the stop: %v", err)
			}
		})
	})
}

// endApplying makes drift, ends driftd when the apply has sent a request with a method, and checks that the next start
// determines what came of it.
func (i *applying) endApplying(method string, drift func(), end func(*daemon)) {
	t := i.t
	t.Helper()
	d := i.serve()
	d.awaitFindings()
	drift()
	before := i.size("web")
	a := d.awaitAction(reconcile.Proposed)
	i.lab.Break(tftest.Faults{Delay: 300 * time.Millisecond})
	i.lab.Calls()
	approved := make(chan struct{})
	go func() {
		defer close(approved)
		// The answer is lost with the daemon.
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+d.address+"/api/v1/actions/"+a.ID+"/approve",
			strings.NewReader(`{"digest": "`+a.Digest+`"}`))
		if err != nil {
			return
		}
		r.SetBasicAuth("alice", "right-alice")
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_ = answer.Body.Close()
		}
	}()
	d.awaitAction(reconcile.Armed)
	d.eventually(startTimeout, "a "+method+" of the apply", func() error {
		if calls := i.lab.Calls(); calls[method] == 0 {
			return fmt.Errorf("only %v", calls)
		}
		return nil
	})
	i.lab.Break(tftest.Faults{})
	end(d)
	<-approved
	d = i.serve()
	d.eventually(startTimeout, "what came of the action", func() error {
		body, err := d.get("/api/v1/actions")
		var o reconcile.Overview
		if err == nil {
			err = json.Unmarshal([]byte(body), &o)
		}
		if err != nil {
			return err
		}
		for _, after := range o.Actions {
			if after.ID != a.ID || after.State.MayHaveWritten() {
				continue
			}
			if want := map[reconcile.State]string{reconcile.Converged: "4", reconcile.Failed: before}[after.State]; want != "" && i.size("web") != want {
				t.Errorf("it is %s, and the size %s", after.State, i.size("web"))
			}
			t.Logf("it is %s, and the size %s: %s", after.State, i.size("web"), after.Outcome)
			return nil
		}
		return fmt.Errorf("it is not known: %s", body)
	})
	if stdout, stderr, code := d.driftd("audit", "verify"); code != 0 {
		t.Errorf("driftd audit verify: %d: %s%s", code, stdout, stderr)
	}
}

// lock takes the lock of the state, as another apply does.
func (i *applying) lock() (unlock func()) {
	i.t.Helper()
	f, err := os.OpenFile(i.path("states/infra.tfstate"), os.O_RDWR, 0)
	if err != nil {
		i.t.Fatal(err)
	}
	whole := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &whole); err != nil {
		i.t.Fatal(err)
	}
	return func() { _ = f.Close() }
}
