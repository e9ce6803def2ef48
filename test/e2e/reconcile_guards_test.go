//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// edit replaces a text of a file, which must have it.
func (i acting) edit(name, old, text string) {
	i.t.Helper()
	content, err := os.ReadFile(i.path(name))
	if err != nil || !strings.Contains(string(content), old) {
		i.t.Fatalf("%s lacks %q: %v", name, old, err)
	}
	i.write(name, strings.ReplaceAll(string(content), old, text))
}

// refusal waits until an action for the finding of a kind is refused by a guard with a text.
func (d *daemon) refusal(kind, guard, text string) {
	d.t.Helper()
	d.eventually(startTimeout, "a refusal by guard "+guard, func() error {
		f, err := d.finding(kind)
		if err != nil {
			return err
		}
		status, answer := d.as("alice", "/api/v1/findings/"+f.ID+"/reconcile", map[string]string{"reason": "it is wrong"})
		if status != http.StatusConflict || !strings.Contains(answer, "(guard "+guard+")") || !strings.Contains(answer, text) {
			return fmt.Errorf("%d: %s; want guard %s: %s, of a finding that is %s: %s", status, answer, guard, text, f.Verdict, strings.Join(summarizeFinding(f), "; "))
		}
		return nil
	})
}

// finding returns the open finding of a kind.
func (d *daemon) finding(kind string) (model.Finding, error) {
	r, err := d.report()
	if err != nil {
		return model.Finding{}, err
	}
	for _, f := range r.Findings {
		if f.Kind == kind {
			return f, nil
		}
	}
	return model.Finding{}, fmt.Errorf("no finding of kind %s: %s", kind, summarize(r))
}

// must posts a request as alice, which must succeed.
func (d *daemon) must(path string, request map[string]string) string {
	d.t.Helper()
	status, answer := d.as("alice", path, request)
	if status != http.StatusOK {
		d.t.Fatalf("%s: %d: %s", path, status, answer)
	}
	return answer
}

const (
	ofDeployments = "kubernetes/Deployment.apps"
	ofConfigMaps  = "kubernetes/ConfigMap"
)

// The guards that depend on what people do, on the declaration and on the audit log refuse an action in words.
func TestReconcileGuards(t *testing.T) {
	t.Parallel()
	i := installActing(t, "approve", nil)
	d := i.serve()
	d.awaitFindings()
	old, err := os.ReadFile(i.path("state/driftd.db"))
	if err != nil {
		t.Fatal(err)
	}
	i.edit("deploy/app.yaml", "web:1.4", "web:1.5")
	i.commit()
	d.refusal(ofDeployments, "verdict", "pending findings are never put back")
	i.edit("deploy/app.yaml", "web:1.5", "web:1.4")
	i.commit()
	d.awaitFindings()

	i.kubectl("set", "image", "deployment/web", "web=web:evil")
	a := d.awaitAction(reconcile.Proposed)
	d.refusal(ofDeployments, "open", "action "+a.ID+" of the same resource is proposed")
	d.must("/api/v1/actions/"+a.ID+"/decline", map[string]string{"reason": "look first"})

	d.must("/api/v1/controls", map[string]string{"kind": "freeze", "until": "1h", "reason": "sale"})
	d.refusal(ofDeployments, "frozen", "sale")
	d.must("/api/v1/controls", map[string]string{"kind": "thaw", "reason": "over"})

	f, err := d.finding(ofDeployments)
	if err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, code := d.driftd("acknowledge", f.ID); code != 0 {
		t.Fatalf("driftd acknowledge: %d: %s%s", code, stdout, stderr)
	}
	d.refusal(ofDeployments, "decided", "it was acknowledged: revoke decision")
	if f, err = d.finding(ofDeployments); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, code := d.driftd("decisions", "revoke", f.Decision.ID); code != 0 {
		t.Fatalf("driftd decisions revoke: %d: %s%s", code, stdout, stderr)
	}

	i.write("deploy/broken.yaml", "kind: [")
	i.commit()
	d.refusal(ofDeployments, "coverage", "declaration shop")
	i.git("revert", "-n", "HEAD")
	i.edit("deploy/app.yaml", "web:1.4", "web:1.5")
	i.commit()
	d.refusal(ofDeployments, "agreed", "has not seen it live as declared since")
	i.edit("deploy/app.yaml", "web:1.5", "web:1.4")
	i.commit()

	d.eventually(startTimeout, "a dry run without refusals", func() error {
		if stdout, stderr, code := d.driftd("reconcile", f.ID, "--dry-run"); code != 0 {
			return fmt.Errorf("%d: %s%s", code, stdout, stderr)
		}
		return nil
	})
	d.stop()
	if err := os.WriteFile(i.path("state/driftd.db"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	d = i.serve()
	d.refusal(ofDeployments, "quarantine", "the audit log is in doubt")
	if got := i.image(); got != "web:evil" {
		t.Errorf("the image is %s", got)
	}
}

// The guards that depend on the rule refuse an action in words.
func TestReconcileRules(t *testing.T) {
	t.Parallel()
	i := installActing(t, "approve", nil)
	rules := "rules:\n  - {name: maps, mode: suggest, match: {kind: kubernetes/ConfigMap}}\n  - {name: shop, mode: approve, match: {kind: kubernetes/*}}\n"
	config, err := os.ReadFile(i.path("driftd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(config), "rules: [")
	i.write("driftd.yaml", before+rules)
	d := i.serve()
	d.awaitFindings()
	i.kubectl("set", "image", "deployment/web", "web=web:evil")
	i.kubectl("patch", "configmap/app", "-p", `{"data":{"color":"red"}}`)
	d.refusal(ofConfigMaps, "off", `rule \"maps\" has the mode suggest`)
	d.refusal(ofDeployments, "age", "wait until it is as it is for 5m0s")
}

// An action is refused if its declaration is not read from a commit. The finding is held, and its page and the commands
// show why.
func TestReconcileUncommitted(t *testing.T) {
	t.Parallel()
	i := installActing(t, "approve", nil)
	i.edit("driftd.yaml", "settings: {git: "+i.path("deploy")+"}", "settings: {dir: deploy}")
	d := i.serve()
	d.awaitFindings()
	i.kubectl("set", "image", "deployment/web", "web=web:evil")
	d.refusal(ofDeployments, "declaration", "not read from a commit")
	f, err := d.finding(ofDeployments)
	if err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"  0 open; 1 finding held; 0 rules stopped;": {"status"},
		"No action: " + f.ID + ": rule":              {"actions"},
		"(guard declaration)":                        {"findings", "show", f.ID},
	} {
		if stdout, stderr, code := d.driftd(args...); code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("driftd %s: %d: no %q in %s%s", strings.Join(args, " "), code, want, stdout, stderr)
		}
	}
	if page, err := d.get("/metrics"); err != nil || !strings.Contains(page, `driftd_reconcile_held_findings{guard="declaration",rule="shop"} 1`) {
		t.Errorf("the metrics do not have the held finding, %v", err)
	}
}

// After the first action of a rule, the next one waits, or is refused if there were too many.
func TestReconcileLimits(t *testing.T) {
	t.Parallel()
	for guard, c := range map[string]struct{ limit, text string }{
		"canary": {"soak: 1h", `the first action of rule \"shop\"`},
		"blast":  {"soak: 0, per_hour: 1", "1 actions on source test in the last hour"},
	} {
		t.Run(guard, func(t *testing.T) {
			t.Parallel()
			i := installActing(t, "approve", nil)
			i.edit("driftd.yaml", "soak: 0", c.limit)
			d := i.serve()
			d.awaitFindings()
			i.kubectl("set", "image", "deployment/web", "web=web:evil")
			a := d.awaitAction(reconcile.Proposed)
			if after := d.approve("bob", &a); after.State != reconcile.Converged {
				t.Fatalf("it is %s: %s", after.State, after.Outcome)
			}
			i.kubectl("patch", "configmap/app", "-p", `{"data":{"color":"red"}}`)
			d.refusal(ofConfigMaps, guard, c.text)
		})
	}
}

// Two requests in succession that the API server rejects stop the rule, until a person resumes it.
func TestReconcileBreaker(t *testing.T) {
	t.Parallel()
	to, err := url.Parse(cluster.URL())
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Transport: cluster.Client().Transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	proxy := &writeProxy{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch && r.URL.Query().Get("dryRun") == "" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"not now","code":403}`)
			return
		}
		forward.ServeHTTP(w, r)
	}))}
	t.Cleanup(proxy.Close)
	i := installActing(t, "approve", proxy)
	d := i.serve()
	d.awaitFindings()
	i.kubectl("set", "image", "deployment/web", "web=web:evil")
	i.kubectl("patch", "configmap/app", "-p", `{"data":{"color":"red"}}`)
	for range 2 {
		a := d.awaitAction(reconcile.Proposed)
		d.post("bob", "/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": a.Digest, "reason": "wrong"})
		if after := d.awaitEnd(a.ID); after.State != reconcile.Failed || !strings.Contains(after.Outcome, "not now") {
			t.Fatalf("it is %s: %s", after.State, after.Outcome)
		}
	}
	d.refusal(ofDeployments, "breaker", `rule \"shop\" is stopped: 2 actions failed in succession`)
	d.must("/api/v1/controls", map[string]string{"kind": "resume", "rule": "shop", "reason": "the rights are back"})
	f, err := d.finding(ofDeployments)
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ Action *reconcile.Action }
	answer := d.must("/api/v1/findings/"+f.ID+"/reconcile", map[string]string{"reason": "again"})
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Action == nil || made.Action.State != reconcile.Proposed {
		t.Errorf("after the rule was resumed: %s", answer)
	}
}
