//go:build e2e

package actuator

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
)

// TestCreateInCluster creates an object with the rights of a Role, and not in another cluster than the one of
// the last read.
func TestCreateInCluster(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	claim, _ := d.claim(settings)
	key := model.Key{Source: "k8s", Kind: claim.Kind, ID: claim.ID}
	writer := d.user("creator", `{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","create","patch"]}`)
	d.actuator = d.with(kubernetes.Options{Writing: writer, Reading: &kubeapi.Access{Kubeconfig: kubeconfig}})
	s := d.missing(key, claim.Value)
	_, err := d.actuator.Plan(t.Context(), s)
	d.refused(err, "still-so", "grant the credentials for writing get on namespace "+d.namespace+" or kube-system")
	d.in("create", "role", "look", "--verb=get", "--resource=namespaces")
	d.in("create", "rolebinding", "look", "--role=look", "--user=creator-"+d.namespace)
	d.wait("the right", func() bool { _, err = d.actuator.Plan(t.Context(), s); return err == nil })
	elsewhere := s
	elsewhere.UID = func(model.Ref) string { return "another" }
	_, err = d.actuator.Plan(t.Context(), elsewhere)
	d.refused(err, "still-so", "leads to another cluster than the last read of source k8s")
	if p := d.putBack(s); p.System != d.uids()(model.Ref{Kind: "kubernetes/Namespace", ID: d.namespace}) {
		t.Errorf("Plan() = %+v", p)
	}
	if err := d.apply(settings); err != nil {
		t.Error(err)
	}
}

// TestManagers checks that Argo CD of another cluster is asked, and that the command in the refusal ends that.
func TestManagers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.mustApply(deployment)
	if _, err := d.try(deployment, "--namespace="+d.namespace, "apply", "--server-side", "--field-manager=argocd-controller", "--filename=-"); err != nil {
		t.Fatal(err)
	}
	d.in("set", "image", "deployment/web", "web=evil:1")
	s := d.subject(model.Changed, "deployment", "web", deployment)
	_, err := d.actuator.Plan(t.Context(), s)
	d.refused(err, "declarer", "Argo CD may apply it, perhaps from another cluster")
	_, command, _ := strings.Cut(err.Error(), "remove the entry: kubectl ")
	command, _, _ = strings.Cut(command, " (guard")
	script := `"$0" "--kubeconfig=$1" ` + command
	if out, err := exec.Command("sh", "-c", script, cluster.Kubectl(), kubeconfig).CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v: %s", command, err, out)
	}
	if m := strings.Join(d.managers("deployment", "web"), ", "); strings.Contains(m, "argocd") || !strings.Contains(m, "git Apply") {
		t.Errorf("managers are %s", m)
	}
	if out, err := exec.Command("sh", "-c", script, cluster.Kubectl(), kubeconfig).CombinedOutput(); err == nil {
		t.Errorf("the command removes another entry: %s", out)
	}
	d.putAllBack("deployment", "web", deployment)
	if err := d.apply(strings.ReplaceAll(deployment, "web:1", "web:2")); err != nil {
		t.Error(err)
	}
}

// TestBrokenRelease checks that a Secret in another namespace that looks like a release does not stop actions.
func TestBrokenRelease(t *testing.T) {
	t.Parallel()
	d, tenant := newDesk(t), newDesk(t)
	s := d.drifted()
	const object = `{"apiVersion":"v1","kind":"Secret","type":"helm.sh/release.v1","metadata":{"name":"sh.helm.release.v1.x.v1"},"stringData":{"release":"!"}}`
	create := func(d *desk) {
		t.Helper()
		if _, err := d.try(object, "--namespace="+d.namespace, "create", "--filename=-"); err != nil {
			t.Fatal(err)
		}
	}
	create(tenant)
	d.plan(s)
	d.in("label", "deployment/web", "app.kubernetes.io/managed-by=Helm")
	_, err := d.actuator.Plan(t.Context(), s)
	d.refused(err, "declarer", "since it has the label app.kubernetes.io/managed-by=Helm: the release in Secret "+tenant.namespace+"/sh.helm.release.v1.x.v1: it is not the record of a release")
	d.in("label", "deployment/web", "app.kubernetes.io/managed-by-")
	create(d)
	_, err = d.actuator.Plan(t.Context(), s)
	d.refused(err, "declarer", "Helm may apply it: the release in Secret "+d.namespace+"/sh.helm.release.v1.x.v1")
	d.in("delete", "secret", "sh.helm.release.v1.x.v1")
	d.putBack(s)
}

const policy = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec:
  podSelector: {matchLabels: {app: web}}
  policyTypes: [Ingress]
  ingress:
    - {from: [{podSelector: {matchLabels: {app: a}}}], ports: [{port: 80}]}
    - {from: [{ipBlock: {cidr: 10.0.0.0/8}}], ports: [{port: 443, protocol: TCP}]}
`

const ingress = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  rules:
    - {host: a.example.org, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}]}}
    - {host: b.example.org, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: b, port: {number: 80}}}}]}}
`

// TestLists puts lists back whose elements have no keys, after which the pipeline's next apply needs no force.
func TestLists(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ kind, manifest, patch, old, next string }{
		"added at the start": {"networkpolicy", policy, `[{"op":"add","path":"/spec/ingress/0","value":{"ports":[{"port":22}]}}]`, "443", "444"},
		"removed":            {"networkpolicy", policy, `[{"op":"remove","path":"/spec/ingress/0"}]`, "443", "444"},
		"all removed":        {"networkpolicy", policy, `[{"op":"remove","path":"/spec/ingress"}]`, "443", "444"},
		"replaced":           {"networkpolicy", policy, `[{"op":"replace","path":"/spec/ingress/0","value":{"from":[{"ipBlock":{"cidr":"0.0.0.0/0"}}]}}]`, "443", "444"},
		"a field":            {"networkpolicy", policy, `[{"op":"replace","path":"/spec/ingress/1/from/0/ipBlock/cidr","value":"0.0.0.0/0"}]`, "443", "444"},
		"a host":             {"ingress", ingress, `[{"op":"replace","path":"/spec/rules/1/host","value":"evil.example.org"}]`, "b.example", "c.example"},
		"a host and another": {"ingress", ingress, `[{"op":"replace","path":"/spec/rules/1/host","value":"evil.example.org"},{"op":"replace","path":"/spec/rules/0/http/paths/0/backend/service/name","value":"evil"}]`, "b.example", "c.example"},
		"an added rule":      {"ingress", ingress, `[{"op":"add","path":"/spec/rules/0","value":{"host":"evil.example.org"}}]`, "b.example", "c.example"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.mustApply(tt.manifest)
			before := d.get(tt.kind, "web").At("spec")
			d.in("patch", tt.kind, "web", "--type=json", "--patch="+tt.patch)
			if len(d.subjects(tt.kind, "web", tt.manifest)) == 0 {
				t.Fatal("there is no drift")
			}
			d.putAllBack(tt.kind, "web", tt.manifest)
			if after := d.get(tt.kind, "web").At("spec"); !after.Equal(before) {
				t.Errorf("spec is %s, was %s", after, before)
			}
			t.Logf("managers: %v", d.managers(tt.kind, "web"))
			if err := d.apply(strings.ReplaceAll(tt.manifest, tt.old, tt.next)); err != nil {
				t.Errorf("the next apply: %v", err)
			}
		})
	}
}

// TestServiceType checks that the type of a Service is not changed, and shows why.
func TestServiceType(t *testing.T) {
	t.Parallel()
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {type: ClusterIP, selector: {app: web}, ports: [{port: 80}]}\n"
	d := newDesk(t)
	d.mustApply(service)
	d.in("patch", "service/web", "--type=merge", `--patch={"spec":{"type":"NodePort"}}`)
	_, err := d.actuator.Plan(t.Context(), d.subject(model.Changed, "service", "web", service))
	d.refused(err, "kind", "driftd never changes spec.type of a Service")
	d.in("patch", "service/web", "--type=merge", `--patch={"spec":{"type":"ClusterIP"}}`)
	if port := d.get("service", "web").At("spec", "ports").Items()[0].At("nodePort"); !port.IsNull() {
		t.Errorf("the API server keeps the port %s", port)
	}
}
