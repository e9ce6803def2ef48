//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// An acting is an installation that is declared in git, applied on the server by the field manager "git", and
// put back by a user that may only get and patch deployments and config maps.
type acting struct{ *installation }

// installActing makes an installation with a rule of a mode for all findings of its namespace. The API server is
// written to through the proxy, unless that is nil.
func installActing(t *testing.T, mode string, proxy *writeProxy) acting {
	t.Helper()
	i := acting{install(t, cluster, "")}
	user := "writer-" + i.namespace
	writer, err := cluster.CertUser(user, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.WriteKubeconfig(i.path("writer"), i.namespace, writer); err != nil {
		t.Fatal(err)
	}
	// Cluster roles, because the installation does not read them.
	i.kubectl("create", "clusterrole", user, "--verb=get,patch", "--resource=deployments.apps,configmaps")
	i.kubectl("create", "clusterrolebinding", user, "--clusterrole="+user, "--user="+user)
	t.Cleanup(func() { i.kubectl("delete", "clusterrole/"+user, "clusterrolebinding/"+user) })
	i.kubectl("delete", "-f", i.path("deploy"))
	i.kubectl("apply", "--server-side", "--field-manager=git", "-f", i.path("deploy"))
	settings := "kubeconfig: writer"
	if proxy != nil {
		settings = "server: " + proxy.URL
	}
	i.git("init", "-q", "-b", "main", ".")
	i.commit()
	users := ""
	for _, name := range []string{"alice", "bob"} {
		hash, err := bcrypt.GenerateFromPassword([]byte("right-"+name), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		users += name + ":" + string(hash) + "\n"
	}
	i.write("users", users)
	config := strings.Replace(i.config(fmt.Sprintf(`
people: [{name: alice, login: alice}, {name: bob, login: bob}]
reconcile:
  writers: [{source: test, settings: {%s}}]
  rules: [{name: shop, mode: %s, match: {namespace: %s, kind: kubernetes/*}, min_age: 0, soak: 0, share: 100}]
`, settings, mode, i.namespace)), "settings: {dir: deploy}", "every: 1s, settings: {git: "+i.path("deploy")+"}", 1)
	config = strings.Replace(config, `server: {`, `server: {access: {loopback: viewer, users_file: users, roles: {approver: [alice, bob]}}, `, 1)
	i.write("driftd.yaml", config)
	return i
}

func (i acting) git(args ...string) {
	i.t.Helper()
	args = append([]string{"-C", i.path("deploy"), "-c", "user.name=Lena", "-c", "user.email=lena@example.org"}, args...)
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		i.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

func (i acting) commit() {
	i.t.Helper()
	i.git("add", "-A")
	i.git("commit", "-qm", "change the shop")
}

// image returns the image of the Deployment.
func (i acting) image() string {
	i.t.Helper()
	out, err := exec.Command(cluster.Kubectl(), "--kubeconfig", i.path("kubeconfig"), "get", "deployment/web", "-o",
		"jsonpath={.spec.template.spec.containers[*].image} {.spec.template.spec.containers[0].env[*].name}").CombinedOutput()
	if err != nil {
		i.t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// pipeline applies the manifests as a pipeline does: on the server, without force.
func (i acting) pipeline() {
	i.t.Helper()
	i.kubectl("apply", "--server-side", "--field-manager=git", "-f", i.path("deploy"))
}

// awaitCovering waits for a proposed action that puts back a number of other findings.
func (d *daemon) awaitCovering(others int) (a reconcile.Action) {
	d.t.Helper()
	d.eventually(startTimeout, "an action that covers other findings", func() error {
		if a = d.awaitAction(reconcile.Proposed); len(a.Plan.Also) != others {
			return fmt.Errorf("action %s covers %d", a.ID, len(a.Plan.Also))
		}
		return nil
	})
	return a
}

// awaitAction waits for an action in a state, the newest first.
func (d *daemon) awaitAction(state reconcile.State) reconcile.Action {
	d.t.Helper()
	var found reconcile.Action
	d.eventually(startTimeout, "an action that is "+string(state), func() error {
		body, err := d.get("/api/v1/actions")
		if err != nil {
			return err
		}
		var o reconcile.Overview
		if err := json.Unmarshal([]byte(body), &o); err != nil {
			return err
		}
		for _, a := range o.Actions {
			if a.State == state {
				found = a
				return nil
			}
		}
		return fmt.Errorf("there is none: %s", body)
	})
	return found
}

// as posts a request as a user. It returns the status and the answer.
func (d *daemon) as(user, path string, request any) (int, string) {
	d.t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, "http://"+d.address+path, bytes.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.SetBasicAuth(user, "right-"+user)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// approve approves an action as a user, and returns what came of it.
func (d *daemon) approve(user string, a *reconcile.Action) reconcile.Action {
	d.t.Helper()
	status, text := d.as(user, "/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": a.Digest, "reason": "wrong image"})
	var after reconcile.Action
	if err := json.Unmarshal([]byte(text), &after); status != http.StatusOK || err != nil {
		d.t.Fatalf("approve: %d: %s", status, text)
	}
	return after
}

// A change by hand is put back after an approval. Afterwards the pipeline can apply the next version, and the
// log proves who approved.
func TestReconcileApproved(t *testing.T) {
	t.Parallel()
	i := installActing(t, "approve", nil)
	d := i.serve()
	d.awaitFindings()
	i.kubectl("set", "image", "deployment/web", "web=web:evil")
	i.kubectl("set", "env", "deployment/web", "EXTRA=1")
	a := d.awaitAction(reconcile.Proposed)
	if status, text := d.as("alice", "/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": "0000"}); status != http.StatusConflict || !strings.Contains(text, "look again") {
		t.Errorf("an approval of something else: %d: %s", status, text)
	}
	for i.image() != "web:1.4" {
		a = d.awaitAction(reconcile.Proposed)
		since := time.Now()
		after := d.approve("alice", &a)
		t.Logf("%s: %s after %s", a.Plan.Changes[0].Path, after.State, time.Since(since))
		if after.State != reconcile.Converged {
			t.Fatalf("it is %s: %s", after.State, after.Outcome)
		}
	}
	d.awaitFindings()
	if stdout, stderr, code := d.driftd("history", "Deployment.apps/"+i.namespace+"/web"); code != 0 || !strings.Contains(stdout, "by driftd") || !strings.Contains(stdout, "via action, "+a.ID) {
		t.Errorf("driftd history: %d: %s%s", code, stdout, stderr)
	}
	i.write("deploy/app.yaml", strings.Replace(i.manifests(), "web:1.4", "web:1.5", 1))
	i.commit()
	i.pipeline()
	d.awaitFindings()
	if got := i.image(); got != "web:1.5" {
		t.Errorf("after the pipeline the image is %s", got)
	}
	stdout, stderr, code := d.driftd("audit", "list")
	if code != 0 || !strings.Contains(stdout, "was approved") || !strings.Contains(stdout, "alice") || !strings.Contains(stdout, ": converged") {
		t.Errorf("driftd audit list: %d: %s%s", code, stdout, stderr)
	}
	if stdout, stderr, code = d.driftd("audit", "verify"); code != 0 {
		t.Errorf("driftd audit verify: %d: %s%s", code, stdout, stderr)
	}
	// One action more is refused while actions are frozen.
	if status, text := d.as("bob", "/api/v1/controls", map[string]string{"kind": "freeze", "until": "1h", "reason": "sale"}); status != http.StatusOK {
		t.Fatalf("freeze: %d: %s", status, text)
	}
	i.kubectl("set", "image", "deployment/web", "web=web:evil")
	d.awaitFindings("changed Deployment.apps $NS/web by kubectl-set: spec.template.spec.containers[name=web].image \"web:1.5\" -> \"web:evil\"\n")
	r, err := d.report()
	if err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, code = d.driftd("reconcile", r.Findings[0].ID, "--dry-run"); code != 2 || !strings.Contains(stdout, "refused by guard frozen: actions are frozen until") {
		t.Errorf("driftd reconcile --dry-run: %d: %s%s", code, stdout, stderr)
	}
}

// A change by hand is put back without a person, until the fight over the field is known. An apply that no
// commit has needs a person.
func TestReconcileAutomatic(t *testing.T) {
	t.Parallel()
	i := installActing(t, "auto", nil)
	d := i.serve()
	d.awaitFindings()
	for range 2 {
		i.kubectl("set", "image", "deployment/web", "web=web:evil")
		d.eventually(startTimeout, "the declared image", func() error {
			if got := i.image(); got != "web:1.4" {
				return fmt.Errorf("the image is %s", got)
			}
			return nil
		})
		d.awaitFindings()
	}
	i.kubectl("set", "image", "deployment/web", "web=web:evil")
	d.awaitFindings("changed Deployment.apps $NS/web by kubectl-set: spec.template.spec.containers[name=web].image \"web:1.4\" -> \"web:evil\"\n")
	r, err := d.report()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := d.driftd("reconcile", r.Findings[0].ID, "--dry-run")
	if code != 2 || !strings.Contains(strings.Join(strings.Fields(stdout), " "), "driftd and kubectl-set overwrite each other") {
		t.Errorf("driftd reconcile --dry-run: %d: %s%s", code, stdout, stderr)
	}
	if a := d.awaitAction(reconcile.Refused); !strings.Contains(a.Outcome, "driftd and kubectl-set overwrite each other") {
		t.Errorf("the refused action: %+v", a)
	}
	d.awaitMetric(`driftd_reconcile_fights{rule="shop"} 1`)
	if got := i.image(); got != "web:evil" {
		t.Errorf("a third action set the image to %s", got)
	}
}

// An apply that no commit has is put back by two persons only, also under a rule with the mode auto.
func TestReconcileBypassed(t *testing.T) {
	t.Parallel()
	i := installActing(t, "auto", nil)
	d := i.serve()
	d.awaitFindings()
	i.write("laptop.yaml", strings.Replace(i.manifests(), "web:1.4", "web:laptop", 1))
	i.kubectl("apply", "--server-side", "--field-manager=git", "-f", i.path("laptop.yaml"))
	d.eventually(startTimeout, "a bypassed finding", func() error {
		r, err := d.report()
		if err == nil && (len(r.Findings) != 1 || r.Findings[0].Verdict != model.Bypassed) {
			err = fmt.Errorf("report: %s", summarize(r))
		}
		return err
	})
	finding := found(t, d, model.Bypassed)
	path := "/api/v1/findings/" + finding.ID + "/reconcile"
	status, text := d.as("alice", path, map[string]string{"reason": "nobody committed it"})
	var a reconcile.Action
	if err := json.Unmarshal([]byte(text), &struct{ Action *reconcile.Action }{&a}); status != http.StatusOK || err != nil || a.State != reconcile.Proposed {
		t.Fatalf("propose: %d: %s", status, text)
	}
	if status, text := d.as("alice", "/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": a.Digest}); status != http.StatusConflict || !strings.Contains(text, "another person must approve it") {
		t.Errorf("the same person approves: %d: %s", status, text)
	}
	if got := i.image(); got != "web:laptop" {
		t.Fatalf("before the approval the image is %s", got)
	}
	if after := d.approve("bob", &a); after.State != reconcile.Converged {
		t.Fatalf("it is %s: %s", after.State, after.Outcome)
	}
	if got := i.image(); got != "web:1.4" {
		t.Errorf("the image is %s", got)
	}
	d.awaitFindings()
	i.pipeline()
	d.awaitFindings()
}
