//go:build e2e

package e2e

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/kubetest"
)

// An auditedInstallation is an installation on a cluster whose API server has an audit log,
// with users who edit there.
type auditedInstallation struct {
	*installation
	// unproven is the field manager whose users are only likely, because the log begins after the
	// objects were created; "" if there is none.
	unproven string
}

// installAudited starts a cluster of its own whose API server logs by the policy in the manual,
// at a level, and installs driftd with settings of the source.
func installAudited(t *testing.T, address, level, settings string, flags ...string) auditedInstallation {
	t.Helper()
	policy := keep(t, "policy.yaml", strings.Replace(documented(t, "# --audit-policy-file="), "level: Metadata", "level: "+level, 1))
	own := startCluster(t, kubetest.Options{Flags: append([]string{"--audit-policy-file=" + policy}, flags...)})
	i := auditedInstallation{installation: install(t, own, "")}
	i.address = address
	i.write("token", "correct-horse\n")
	i.write("driftd.yaml", strings.Replace(i.config(""), "timeout: 5s", "timeout: 5s, "+settings, 1))
	var people []kubetest.User
	for _, name := range []string{"alice", "bob"} {
		user, err := own.CertUser(name, time.Now().Add(time.Hour), "system:masters")
		if err != nil {
			t.Fatal(err)
		}
		people = append(people, user)
	}
	if err := own.WriteKubeconfig(i.path("people"), i.namespace, people...); err != nil {
		t.Fatal(err)
	}
	return i
}

// documented returns the example of the manual that starts with a comment.
func documented(t *testing.T, comment string) string {
	t.Helper()
	manual, err := os.ReadFile(filepath.Join("..", "..", "docs", "kubernetes.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(manual), "\n```yaml\n"+comment)
	text, _, ended := strings.Cut(after, "\n```\n")
	if !found || !ended {
		t.Fatalf("the manual shows no example that begins with %q", comment)
	}
	return comment + text + "\n"
}

// keep writes a file and returns its path.
func keep(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// as runs kubectl as a user; the editor changes the image's version to hotfix.
func (i auditedInstallation) as(name string, args ...string) {
	i.t.Helper()
	cmd := exec.Command(i.cluster.Kubectl(), append([]string{"--kubeconfig", i.path("people"), "--context", name}, args...)...)
	cmd.Env = append(os.Environ(), "KUBE_EDITOR=sed -i s/web:1.4/web:hotfix/")
	if out, err := cmd.CombinedOutput(); err != nil {
		i.t.Fatalf("kubectl %s as %s: %v: %s", strings.Join(args, " "), name, err, out)
	}
}

// scan scans and returns the report.
func (i auditedInstallation) scan() (model.Report, error) {
	i.t.Helper()
	var r model.Report
	stdout, stderr, code := i.driftd("scan", "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		return r, fmt.Errorf("read report: %w: exit code %d: %s", err, code, stderr)
	}
	return r, nil
}

// names checks the findings, and that the actor of each is from the audit log and certain, except
// users of the unproven field manager.
func (i auditedInstallation) names(r model.Report, want ...string) error {
	if got := strings.ReplaceAll(summarize(r), i.namespace, "$NS"); got != strings.Join(want, "") {
		return fmt.Errorf("findings:\n%swant:\n%s", got, strings.Join(want, ""))
	}
	var errs []error
	for _, f := range r.Findings {
		actors := []model.Actor{f.Actor}
		for _, c := range f.Changes {
			if c.Actor != nil {
				actors = append(actors, *c.Actor)
			}
		}
		for _, a := range actors {
			want := model.Exact
			if i.unproven != "" && strings.Contains(a.Evidence, ", "+i.unproven) {
				want = model.Likely
			}
			if a.Via != "audit log" || a.Confidence != want || !strings.HasPrefix(a.Evidence, "audit ") || a.At.IsZero() {
				errs = append(errs, fmt.Errorf("%s: the actor is not %s: %+v", f.Key, want, a))
			}
		}
	}
	return errors.Join(errs...)
}

// TestAuditLog has manual edits by users, whom the log file names. The log contains request
// bodies, which must not be shown.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "audit.log")
	i := installAudited(t, freeAddress(t), "RequestResponse", "audit_log: "+log, "--audit-log-path="+log)
	i.as("alice", "edit", "deployment/web")
	i.as("bob", "scale", "deployment/web", "--replicas=3")
	i.as("bob", "delete", "--raw", "/api/v1/namespaces/"+i.namespace+"/configmaps")
	i.as("alice", "--as", "bob", "--as-group", "system:masters", "create", "configmap", "byhand", "--from-literal=a=b")
	i.as("alice", "create", "secret", "generic", "byhand", "--from-literal=password=battery-staple")
	i.as("alice", "delete", "secret/byhand", "--dry-run=server")
	r, err := i.scan()
	if err != nil {
		t.Fatal(err)
	}
	if err := i.names(r,
		"changed Deployment.apps $NS/web by alice: spec.template.spec.containers[name=web].image \"web:1.4\" -> \"web:hotfix\"\n",
		"changed Deployment.apps $NS/web by bob: spec.replicas 2 -> 3\n",
		"missing ConfigMap $NS/app by bob\n",
		"unmanaged ConfigMap $NS/byhand by bob (by alice)\n",
		"unmanaged Secret $NS/byhand by alice\n"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), "YmF0dGVyeS1zdGFwbGU") {
		t.Errorf("the audit log holds no body that could leak: %v", err)
	}
	err = eachFile(i.path("state"), func(path string, content []byte) error {
		if strings.Contains(string(content), "YmF0dGVyeS1zdGFwbGU") || strings.Contains(string(content), "battery-staple") {
			return fmt.Errorf("%s holds a body", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}

	// The API server rotates the log while a daemon runs.
	d := i.serve()
	if err := os.Rename(log, strings.TrimSuffix(log, ".log")+"-2026-03-01T12-00-00.000.log"); err != nil {
		t.Fatal(err)
	}
	if err := i.cluster.Restart(t.Context()); err != nil { // it reopens its log
		t.Fatal(err)
	}
	i.as("bob", "delete", "secret/byhand")
	i.as("bob", "delete", "deployment/web")
	d.eventually(startTimeout, "who deleted it", func() error {
		r, err := i.scan()
		if err != nil {
			return err
		}
		return i.names(r,
			"missing ConfigMap $NS/app by bob\n",
			"missing Deployment.apps $NS/web by bob\n",
			"unmanaged ConfigMap $NS/byhand by bob (by alice)\n")
	})
	if code := d.stop(); code != 0 {
		t.Errorf("driftd serve stopped with exit code %d, want 0", code)
	}
	if strings.Contains(d.log.String(), "battery-staple") || strings.Contains(d.log.String(), "YmF0dGVyeS1zdGFwbGU") {
		t.Error("the daemon's log shows a body")
	}
}

// TestForgedManagers has users who write as the managers of controllers, and with their
// accounts. The users of the log are named, and nothing is hidden.
func TestForgedManagers(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "audit.log")
	i := installAudited(t, freeAddress(t), "Metadata", "audit_log: "+log, "--audit-log-path="+log)
	var want []string
	for n, manager := range []string{"cert-manager-cainjector", "flux", "helm", "istio-sidecar-injector", "kube-controller-manager",
		"kubelet", "my-operator", "rancher"} { // The API server keeps ten entries.
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"deployment.kubernetes.io/x%d":"a","field.cattle.io/x%d":"b"}}}`, n, n)
		i.as("alice", "patch", "configmap/app", "--as=bob", "--as-group=system:masters", "--field-manager="+manager, "-p", patch)
		for _, name := range []string{"deployment.kubernetes.io", "field.cattle.io"} {
			value := map[string]string{"deployment.kubernetes.io": "a", "field.cattle.io": "b"}[name]
			want = append(want, fmt.Sprintf("undeclared ConfigMap $NS/app by bob (by alice): metadata.annotations[%q] (absent) -> %q\n", fmt.Sprint(name, "/x", n), value))
		}
	}
	i.as("alice", "patch", "deployment/web", "--as=system:kube-controller-manager", "--as-group=system:masters", "--field-manager=kube-controller-manager",
		"-p", `{"spec":{"template":{"spec":{"hostNetwork":true}}}}`)
	want = append(want, "undeclared Deployment.apps $NS/web by system:kube-controller-manager (by alice): spec.template.spec.hostNetwork (absent) -> true\n")
	slices.Sort(want)
	r, err := i.scan()
	if err != nil {
		t.Fatal(err)
	}
	if err := i.names(r, want...); err != nil {
		t.Error(err)
	}
}

// TestAuditWebhook has an API server whose webhook sends to a daemon behind a TLS proxy: an API
// server only sends its token over TLS.
func TestAuditWebhook(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	proxy := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address}))
	t.Cleanup(proxy.Close)
	ca := keep(t, "ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw})))
	hook := keep(t, "hook.yaml", strings.NewReplacer("https://driftd.example.org/hooks/audit/prod", proxy.URL+"/hooks/audit/test",
		"/etc/kubernetes/driftd-ca.crt", ca, "what is in token_file", "correct-horse").Replace(documented(t, "# --audit-webhook-config-file=")))
	i := installAudited(t, address, "Metadata", "audit_webhook: {token_file: token}",
		"--audit-webhook-config-file="+hook, "--audit-webhook-batch-max-wait=1s", "--audit-webhook-initial-backoff=1s")
	i.unproven = "kubectl-edit" // the Deployment was created before the daemon started
	d := i.serve()
	d.awaitFindings()
	i.as("alice", "edit", "deployment/web")
	i.as("bob", "delete", "configmap/app")
	d.eventually(startTimeout, "who did it", func() error {
		r, err := i.scan()
		if err != nil {
			return err
		}
		return i.names(r,
			"changed Deployment.apps $NS/web by alice: spec.template.spec.containers[name=web].image \"web:1.4\" -> \"web:hotfix\"\n",
			"missing ConfigMap $NS/app by bob\n")
	})
	// The webhook's events are lost at a restart; the named actors are not.
	if code := d.stop(); code != 0 {
		t.Errorf("driftd serve stopped with exit code %d, want 0", code)
	}
	d = i.serve()
	i.as("bob", "scale", "deployment/web", "--replicas=3")
	d.eventually(startTimeout, "who did it before the restart, and since", func() error {
		r, err := i.scan()
		if err != nil {
			return err
		}
		return i.names(r,
			"changed Deployment.apps $NS/web by alice: spec.template.spec.containers[name=web].image \"web:1.4\" -> \"web:hotfix\"\n",
			"changed Deployment.apps $NS/web by bob: spec.replicas 2 -> 3\n",
			"missing ConfigMap $NS/app by bob\n")
	})
	for header, want := range map[string]int{"": http.StatusUnauthorized, "Bearer wrong-horse": http.StatusUnauthorized, "Bearer correct-horse": http.StatusOK} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/hooks/audit/test", strings.NewReader(`{"items":[]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", header)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("events with %q are answered %s, want %d", header, resp.Status, want)
		}
	}
	if code := d.stop(); code != 0 {
		t.Errorf("driftd serve stopped with exit code %d, want 0", code)
	}
	if strings.Contains(d.log.String(), "horse") {
		t.Error("the daemon's log shows a token")
	}
}
