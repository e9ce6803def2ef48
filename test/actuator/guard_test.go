//go:build e2e

package actuator

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

func (d *desk) missing(key model.Key, declared model.Value) reconcile.Subject {
	return reconcile.Subject{Finding: &model.Finding{ID: "missing", Verdict: model.Missing, Key: key, Declaration: "git"}, Declared: declared, Written: declared, UID: d.uids()}
}

// drifted applies the Deployment and changes its image by hand.
func (d *desk) drifted() reconcile.Subject {
	d.Helper()
	d.mustApply(deployment)
	d.in("set", "image", "deployment/web", "web=evil:1")
	return d.subject(model.Changed, "deployment", "web", deployment)
}

func TestAutoscaler(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.mustApply(deployment)
	d.in("patch", "deployment/web", "--type=merge", `--patch={"spec":{"replicas":4}}`)
	s := d.subject(model.Changed, "deployment", "web", deployment)
	if p := d.plan(s).Plan(); p.Restarts != "" || len(p.Changes) != 1 {
		t.Errorf("Plan() = %+v", p)
	}
	d.in("autoscale", "deployment/web", "--min=3", "--max=5")
	_, err := d.actuator.Plan(t.Context(), s)
	d.refused(err, "kind", "HorizontalPodAutoscaler web sets spec.replicas")
	d.in("delete", "horizontalpodautoscaler", "web")
	d.in("scale", "deployment/web", "--replicas=7")
	_, err = d.actuator.Plan(t.Context(), d.subject(model.Changed, "deployment", "web", deployment))
	d.refused(err, "kind", "spec.replicas was written through the subresource scale by kubectl")
}

// TestAdmission checks that driftd does not write what a policy rewrites.
func TestAdmission(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.drifted()
	policy := fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: mirror-%[1]s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}]
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
    - patchType: JSONPatch
      jsonPatch:
        expression: '[JSONPatch{op: "replace", path: "/spec/template/spec/containers/0/image", value: "mirror/web:1"}]'
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: mirror-%[1]s}
spec: {policyName: mirror-%[1]s}
`, d.namespace)
	if _, err := d.try(policy, "apply", "--filename=-"); err != nil {
		t.Fatal(err)
	}
	var err error
	d.wait("the policy", func() bool { err = d.plan(s).Rehearse(t.Context()); return err != nil })
	d.refused(err, "rehearsal", "admission makes it spec.template.spec.containers[name=web].image mirror/web:1")
	if image := d.in("get", "deployment", "web", "--output=jsonpath={.spec.template.spec.containers[0].image}"); image != "evil:1" {
		t.Errorf("the image is %s", image)
	}
}

func TestRecreated(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.drifted()
	c := d.plan(s)
	d.in("delete", "deployment", "web", "--cascade=orphan")
	d.wait("the deletion", func() bool {
		_, err := d.try("", "--namespace="+d.namespace, "get", "deployment", "web")
		return err != nil
	})
	if _, err := c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "does not exist any more") {
		t.Errorf("Write() without the object = %v", err)
	}
	d.mustApply(strings.ReplaceAll(deployment, "registry.example.org/web:1", "evil:1"))
	if _, err := c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "deleted and created again") {
		t.Errorf("Write() to another object = %v", err)
	}
	d.see(s, c.Plan(), reconcile.AsOther)
}

// TestRejected distinguishes the two causes of the status 422.
func TestRejected(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.drifted()
	c := d.plan(s)
	d.in("set", "image", "deployment/web", "web=evil:2")
	if _, err := c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "containers[name=web].image changed since") {
		t.Errorf("Write() after another change = %v", err)
	}
	d.refused(c.Rehearse(t.Context()), "still-so", "changed since")
	d.in("set", "image", "deployment/web", "web=evil:1")
	d.in("set", "env", "deployment/web", "--containers=proxy", "X=1")
	if _, err := c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "another field of it changed since") {
		t.Errorf("Write() after another field changed = %v", err)
	}
	immutable := strings.Replace(strings.Replace(deployment, "{matchLabels: {app: web}}", "{matchLabels: {app: web, tier: front}}", 1), "labels: {app: web}}\n    spec", "labels: {app: web, tier: front}}\n    spec", 1)
	for _, s := range d.subjects("deployment", "web", immutable) {
		if !strings.Contains(describe([]reconcile.Subject{s}), "spec.selector") {
			continue
		}
		d.refused(d.plan(s).Rehearse(t.Context()), "rehearsal", "spec.selector: field is immutable")
		if _, err := d.plan(s).Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "spec.selector: field is immutable") {
			t.Errorf("Write() of an immutable field = %v", err)
		}
		return
	}
	t.Errorf("no finding names the selector: %s", describe(d.subjects("deployment", "web", immutable)))
}

// TestAnswerLost writes through a proxy that drops the answer to a write.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.drifted()
	target, err := url.Parse(cluster.URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = cluster.Client().Transport
	dropped := false
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.Request.Method == http.MethodPatch && r.Request.URL.Query().Get("dryRun") == "" && !dropped {
			dropped = true
			panic(http.ErrAbortHandler)
		}
		return nil
	}
	server := httptest.NewServer(proxy)
	defer server.Close()
	a := d.with(kubernetes.Options{Writing: kubeapi.Access{Server: server.URL}})
	c, err := a.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Rehearse(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(t.Context()); err == nil || isNotWritten(err) {
		t.Errorf("Write() = %v", err)
	}
	if inspection, err := a.Inspect(t.Context(), s.Finding.Key, c.Plan()); inspection != reconcile.AsWanted || err != nil {
		t.Errorf("Inspect() = %v, %v", inspection, err)
	}
	if _, err := c.Write(t.Context()); !isNotWritten(err) {
		t.Errorf("second Write() = %v", err)
	}
	d.handBack(s, c.Plan())
	if err := d.apply(strings.ReplaceAll(deployment, "web:1", "web:2")); err != nil {
		t.Error(err)
	}
}

// TestSecret puts a Secret back, whose values are in no error and no plan.
func TestSecret(t *testing.T) {
	t.Parallel()
	const manifest = `apiVersion: v1
kind: Secret
metadata: {name: db}
type: Opaque
data: {password: ZGVjbGFyZWQtcGFzc3dvcmQ=, user: YXBw}
`
	d := newDesk(t)
	d.mustApply(manifest)
	d.in("patch", "secret/db", "--type=merge", `--patch={"stringData":{"password":"hand-made-password","extra":"hand-made-extra"}}`)
	for _, s := range d.subjects("secret", "db", manifest) {
		c := d.plan(s)
		text := mustJSON(c.Plan()) + mustJSON(s.Finding)
		d.putBack(s)
		_, err := c.Write(t.Context())
		for _, word := range []string{"declared-password", "hand-made", "ZGVjbGFyZWQ", "aGFuZC1tYWRl"} {
			if strings.Contains(text+err.Error(), word) {
				t.Errorf("the plan or the error has %s", word)
			}
		}
	}
	if data := d.get("secret", "db").At("data").String(); data != `{"password":"ZGVjbGFyZWQtcGFzc3dvcmQ=","user":"YXBw"}` {
		t.Errorf("data is %s", data)
	}
	if err := d.apply(strings.ReplaceAll(manifest, "YXBw", "YXBwMg==")); err != nil {
		t.Error(err)
	}
}

// TestFlux checks that an inventory counts, and a label does not.
func TestFlux(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	labelled := strings.Replace(deployment, "labels: {app: web}}\nspec", "labels: {app: web, kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}}\nspec", 1)
	d.mustApply(labelled)
	d.in("set", "image", "deployment/web", "web=evil:1")
	s := d.subject(model.Changed, "deployment", "web", labelled)
	d.plan(s) // a label proves nothing
	d.in("label", "deployment/web", "kustomize.toolkit.fluxcd.io/name-", "kustomize.toolkit.fluxcd.io/namespace-")
	if _, err := d.try(`{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization","metadata":{"name":"apps"}}`, "--namespace="+d.namespace, "create", "--filename=-"); err != nil {
		t.Fatal(err)
	}
	d.in("patch", "kustomizations.kustomize.toolkit.fluxcd.io", "apps", "--subresource=status", "--type=merge",
		fmt.Sprintf(`--patch={"status":{"observedGeneration":1,"inventory":{"entries":[{"id":"%s_web_apps_Deployment","v":"v1"}]}}}`, d.namespace))
	_, err := d.actuator.Plan(t.Context(), s)
	d.refused(err, "declarer", "Kustomization "+d.namespace+"/apps of Flux is not ready: it has no condition Ready")

	reader := d.user("reader", `{"apiGroups":["apps"],"resources":["deployments"],"verbs":["get","patch"]},{"apiGroups":[""],"resources":["secrets"],"verbs":["get","list"]}`)
	_, err = d.with(kubernetes.Options{Writing: reader}).Plan(t.Context(), s)
	d.refused(err, "declarer", "may not list kustomizations.kustomize.toolkit.fluxcd.io: grant list")
}

// user makes a user with some rights in the whole cluster.
func (d *desk) user(name, rules string) kubeapi.Access {
	d.Helper()
	name += "-" + d.namespace
	role := fmt.Sprintf(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":%[1]q},"rules":[%[2]s]},
{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":%[1]q},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":%[1]q},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":%[1]q}]}]}`, name, rules)
	if _, err := d.try(role, "apply", "--filename=-"); err != nil {
		d.Fatal(err)
	}
	user, err := cluster.CertUser(name, time.Now().Add(time.Hour))
	if err != nil {
		d.Fatal(err)
	}
	file := filepath.Join(d.TempDir(), "kubeconfig")
	if err := cluster.WriteKubeconfig(file, d.namespace, user); err != nil {
		d.Fatal(err)
	}
	return kubeapi.Access{Kubeconfig: file}
}

// TestLeastRights writes with credentials that may only get and patch Deployments, in all namespaces.
func TestLeastRights(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.drifted()
	writer := d.user("writer", `{"apiGroups":["apps"],"resources":["deployments"],"verbs":["get","patch"]}`)
	d.actuator = d.with(kubernetes.Options{Writing: writer, Reading: &kubeapi.Access{Kubeconfig: kubeconfig}})
	if p := d.putBack(s); p.Identity != "writer-"+d.namespace || p.HandBack != "git" {
		t.Errorf("Plan() = %+v", p)
	}
	rules := []reconcile.Rule{{Name: "shop", Mode: reconcile.Approve, Match: model.Selector{Kinds: []string{"Deployment.apps"}}}}
	rights, err := d.actuator.Rights(t.Context(), rules)
	if err != nil || strings.Join(rights.May, ", ") != "get deployments.apps, patch deployments.apps" || len(rights.Excess)+len(rights.Missing) > 0 {
		t.Errorf("Rights() = %+v, %v", rights, err)
	}
	rules[0].Match.Kinds, rules[0].Match.Namespaces = []string{"Deployment.apps", "ConfigMap"}, []string{d.namespace}
	rights, err = d.actuator.Rights(t.Context(), rules)
	want := fmt.Sprintf(`get configmaps in %[1]s: rule "shop" needs it, patch configmaps in %[1]s: rule "shop" needs it`, d.namespace)
	if err != nil || strings.Join(rights.Missing, ", ") != want || len(rights.Excess) != 1 || !strings.HasPrefix(rights.Excess[0], "patch deployments.apps in default, ") {
		t.Errorf("Rights() with a rule for another kind = %+v, %v", rights, err)
	}
	d.mustApply(settings)
	d.in("patch", "configmap/settings", "--type=merge", `--patch={"data":{"level":"debug"}}`)
	if _, err := d.actuator.Plan(t.Context(), d.subjects("configmap", "settings", settings)[0]); err == nil || !strings.Contains(err.Error(), "403 Forbidden") {
		t.Errorf("Plan() without a right = %v", err)
	}
	rights, err = d.with(kubernetes.Options{Writing: kubeapi.Access{Kubeconfig: kubeconfig}}).Rights(t.Context(), rules)
	if err != nil || len(rights.Excess) == 0 {
		t.Errorf("Rights() of an admin = %+v, %v", rights, err)
	}
	t.Logf("an admin's excess: %q", rights.Excess)
}

// TestHelm checks that the record of a release counts.
func TestHelm(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.drifted()
	record := mustJSON(map[string]any{"name": "web", "namespace": d.namespace, "info": map[string]any{"status": "deployed"}, "manifest": "---\n" + deployment})
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(record))
	_ = z.Close()
	text := base64.StdEncoding.EncodeToString(b.Bytes())
	object := mustJSON(map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
		"metadata": map[string]any{"name": "sh.helm.release.v1.web.v1", "labels": map[string]any{"owner": "helm", "status": "deployed"}},
		"data":     map[string]any{"release": base64.StdEncoding.EncodeToString([]byte(text))}})
	if _, err := d.try(object, "--namespace="+d.namespace, "create", "--filename=-"); err != nil {
		t.Fatal(err)
	}
	_, err := d.actuator.Plan(t.Context(), s)
	d.refused(err, "declarer", "it is part of release web of Helm in namespace "+d.namespace+": run helm upgrade web --namespace="+d.namespace)
	d.in("delete", "secret", "sh.helm.release.v1.web.v1")
	d.plan(s)
}
