//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/kubetest"
)

// committer is the author of every commit. It applies nothing, so that no finding may name it.
const committer = "committer"

// hidden are the declarations in the namespace of each way to write.
const hidden = `
apiVersion: v1
kind: ConfigMap
metadata: {name: app, namespace: NAMESPACE}
data: {color: blue}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NAMESPACE}
spec:
  selector: {app: web}
  ports: [{port: 80}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: readers}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAMESPACE}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}
`

// edits are the edits of each way, by object, as text changes of the manifest.
var edits = []struct {
	object string
	// old and new are the manifest's text before and after.
	old, new string
	// patch is the edit as a strategic merge patch.
	patch string
}{
	{"configmap/app", "color: blue", "color: red", `{"data":{"color":"red"}}`},
	{"service/web", "selector: {app: web}", `externalIPs: ["203.0.113.7"], selector: {app: web}`, `{"spec":{"externalIPs":["203.0.113.7"]}}`},
	{"rolebinding/readers", "subjects: [", "subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: mallory}, ",
		`{"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"mallory"},{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"readers"}]}`},
	{"deployment/web", `spec: {containers: [{name: web, image: "web:1"}]}`,
		`spec: {hostNetwork: true, containers: [{name: web, image: "evil:1", securityContext: {privileged: true}}]}`,
		`{"spec":{"template":{"spec":{"hostNetwork":true,"containers":[{"name":"web","image":"evil:1","securityContext":{"privileged":true}}]}}}}`},
}

// edited returns the manifest of a namespace after every edit.
func edited(namespace string) string {
	text := hidden
	for _, e := range edits {
		text = strings.Replace(text, e.old, e.new, 1)
	}
	text = strings.ReplaceAll(text, "spec:\n  externalIPs: [\"203.0.113.7\"], selector: {app: web}", "spec:\n  externalIPs: [\"203.0.113.7\"]\n  selector: {app: web}")
	return strings.ReplaceAll(text, "NAMESPACE", namespace)
}

// managers are the manager names of well-known controllers and tools.
var managers = []string{
	"kubectl-client-side-apply", "kubectl", "git", "before-first-apply", "kubectl-last-applied", "kube-controller-manager", "kube-scheduler",
	"kubelet", "kube-apiserver", "cloud-controller-manager", "clusterrole-aggregation-controller", "my-operator", "my-controller",
	"argocd-controller", "argocd-application-controller", "kustomize-controller", "helm-controller", "helm", "Helm", "Terraform", "flux",
	"cert-manager-cainjector", "cainjector", "istio-sidecar-injector", "pilot-discovery", "linkerd-proxy-injector", "vault-injector",
	"keda-operator", "vpa-updater", "kyverno", "gatekeeper", "rancher", "fleetcontroller", "openshift-controller-manager", "Reloader",
	"external-secrets", "karpenter", "horizontal-pod-autoscaler", "deployment.kubernetes.io/revision", "service-mesh-operator",
}

// A way is one way to write the edits into a namespace.
type way struct {
	name  string
	write func(h *hideout, namespace string)
}

// ways returns the ways to write; the others are compared with the first. With side 0, every other manager patches, and the
// rest apply. With side 1, it is the reverse.
func ways(side int) []way {
	list := []way{
		{"kubectl edit", (*hideout).edit},
		{"kubectl apply", func(h *hideout, ns string) { h.mallory(edited(ns), "apply", "-f", "-") }},
		{"kubectl replace", func(h *hideout, ns string) { h.mallory(edited(ns), "replace", "-f", "-") }},
		{"kubectl apply --server-side", func(h *hideout, ns string) {
			h.mallory(edited(ns), "apply", "--server-side", "--force-conflicts", "-f", "-")
		}},
		{"kubectl delete and create", func(h *hideout, ns string) {
			h.mallory(edited(ns), "delete", "-f", "-")
			h.mallory(edited(ns), "create", "-f", "-")
		}},
		{"forged managedFields", (*hideout).forge},
		{"forged managedFields and record", (*hideout).forgeRecord},
		{"cleared managedFields", (*hideout).clear},
	}
	for i, m := range managers {
		if (i+side)%2 == 0 {
			list = append(list, way{"patch as " + m, func(h *hideout, ns string) { h.patch(ns, "--field-manager="+m) }})
			continue
		}
		list = append(list, way{"server-side apply as " + m, func(h *hideout, ns string) {
			h.mallory(edited(ns), "apply", "--server-side", "--force-conflicts", "--field-manager="+m, "-f", "-")
		}})
	}
	return append(list,
		way{"impersonating a controller", func(h *hideout, ns string) {
			h.patch(ns, "--as=system:kube-controller-manager", "--as-group=system:masters", "--field-manager=kube-controller-manager")
		}})
}

// A hideout is a cluster with an audit log, a repository of manifests that a pipeline applied,
// and a user who edits by hand.
type hideout struct {
	auditedInstallation
	prefix string
}

func newHideout(t *testing.T) *hideout {
	t.Helper()
	log := filepath.Join(t.TempDir(), "audit.log")
	h := &hideout{auditedInstallation: installAudited(t, freeAddress(t), "Metadata", "audit_log: "+log, "--audit-log-path="+log), prefix: newNamespace()}
	var people []kubetest.User
	for _, name := range []string{"pipeline", "mallory"} {
		user, err := h.cluster.CertUser(name, time.Now().Add(time.Hour), "system:masters")
		if err != nil {
			t.Fatal(err)
		}
		people = append(people, user)
	}
	if err := h.cluster.WriteKubeconfig(h.path("people"), h.namespace, people...); err != nil {
		t.Fatal(err)
	}
	h.write("driftd.yaml", fmt.Sprintf(`
state_dir: state
sources:
  - {name: test, type: kubernetes, settings: {kubeconfig: kubeconfig, audit_log: %s}}
declarations:
  - {name: shop, type: manifests, governs: [test], settings: {git: "file://%s", path: manifests}}
`, log, h.path("repository")))
	return h
}

func (h *hideout) space(i int) string { return fmt.Sprintf("%s-%d", h.prefix, i) }

// declare commits the manifests of a namespace for each way, and applies them as the pipeline, with a flag.
func (h *hideout) declare(list []way, flag string) {
	h.t.Helper()
	if err := os.MkdirAll(h.path("repository/manifests"), 0o700); err != nil {
		h.t.Fatal(err)
	}
	for i := range list {
		namespace := "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + h.space(i) + "}\n---"
		h.write(fmt.Sprintf("repository/manifests/%d.yaml", i), namespace+strings.ReplaceAll(hidden, "NAMESPACE", h.space(i)))
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "all of it"}} {
		cmd := exec.Command("git", append([]string{"-C", h.path("repository"), "-c", "user.name=" + committer, "-c", "user.email=c@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			h.t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	h.run("pipeline", "", "apply", "-f", h.path("repository/manifests"), flag)
}

// run runs kubectl as a user, with a text as its input.
func (h *hideout) run(name, input string, args ...string) string {
	h.t.Helper()
	cmd := exec.Command(h.cluster.Kubectl(), append([]string{"--kubeconfig", h.path("people"), "--context", name}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		h.t.Fatalf("kubectl %s as %s: %v: %s%s", strings.Join(args, " "), name, err, &out, &errs)
	}
	return out.String()
}

func (h *hideout) mallory(input string, args ...string) {
	h.t.Helper()
	h.run("mallory", input, args...)
}

// edit edits each object in an editor.
func (h *hideout) edit(namespace string) {
	h.t.Helper()
	cmd := exec.Command(h.cluster.Kubectl(), "--kubeconfig", h.path("people"), "--context", "mallory", "--namespace", namespace,
		"edit", "configmap/app", "service/web", "rolebinding/readers", "deployment/web")
	cmd.Env = append(os.Environ(), "KUBE_EDITOR="+h.editor())
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("kubectl edit: %v: %s", err, out)
	}
}

// editor returns a program that makes every edit in the file that kubectl passes to it.
func (h *hideout) editor() string {
	const script = `#!/bin/sh
sed -i -e 's/color: blue/color: red/' \
  -e 's/^\( *\)sessionAffinity: None/\1sessionAffinity: None\n\1externalIPs: ["203.0.113.7"]/' \
  -e 's/^\( *\)subjects:/\1subjects:\n\1- {kind: User, apiGroup: rbac.authorization.k8s.io, name: mallory}/' \
  -e 's/^\( *\)dnsPolicy:/\1hostNetwork: true\n\1dnsPolicy:/' \
  -e 's/^\( *\)- image: web:1/\1- securityContext: {privileged: true}\n\1  image: evil:1/' "$1"
`
	h.write("editor", script)
	if err := os.Chmod(h.path("editor"), 0o700); err != nil {
		h.t.Fatal(err)
	}
	return h.path("editor")
}

func (h *hideout) patch(namespace string, flags ...string) {
	h.t.Helper()
	for _, e := range edits {
		h.mallory("", append([]string{"--namespace", namespace, "patch", e.object, "--type=merge", "--patch", e.patch}, flags...)...)
	}
}

// rewrite reads an object, changes it, and replaces it.
func (h *hideout) rewrite(namespace string, change func(object map[string]any)) {
	h.t.Helper()
	h.patch(namespace, "--field-manager=kubectl-edit")
	for _, e := range edits {
		text := h.run("mallory", "", "--namespace", namespace, "get", e.object, "-o", "json", "--show-managed-fields")
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			h.t.Fatal(err)
		}
		change(object)
		data, err := json.Marshal(object)
		if err != nil {
			h.t.Fatal(err)
		}
		h.mallory(string(data), "replace", "-f", "-", "--field-manager=kubectl-edit")
	}
}

// entries returns the entries of an object's managedFields.
func entries(object map[string]any) []any {
	list, _ := object["metadata"].(map[string]any)["managedFields"].([]any)
	return list
}

// forge edits, and makes the pipeline's manager the owner of every field.
func (h *hideout) forge(namespace string) { h.rewrite(namespace, forgeOwners) }

func forgeOwners(object map[string]any) {
	list := entries(object)
	owner := list[0].(map[string]any)
	for _, e := range list {
		if e.(map[string]any)["manager"] != "kubectl-edit" {
			owner = e.(map[string]any)
		}
	}
	for _, e := range list {
		if entry := e.(map[string]any); entry["manager"] == "kubectl-edit" {
			merge(owner["fieldsV1"].(map[string]any), entry["fieldsV1"].(map[string]any))
		}
	}
	object["metadata"].(map[string]any)["managedFields"] = []any{owner}
}

func merge(into, from map[string]any) {
	for name, v := range from {
		below, nested := into[name].(map[string]any)
		if more, ok := v.(map[string]any); ok && nested {
			merge(below, more)
			continue
		}
		into[name] = v
	}
}

// forgeRecord also forges the record of the last apply.
func (h *hideout) forgeRecord(namespace string) {
	h.rewrite(namespace, func(object map[string]any) {
		forgeOwners(object)
		metadata := object["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		if _, ok := annotations["kubectl.kubernetes.io/last-applied-configuration"]; !ok {
			return
		}
		record := maps.Clone(object)
		delete(record, "status")
		record["metadata"] = map[string]any{"name": metadata["name"], "namespace": metadata["namespace"]}
		text, _ := json.Marshal(record)
		annotations["kubectl.kubernetes.io/last-applied-configuration"] = string(text)
	})
}

// clear edits, and removes the record of writers.
func (h *hideout) clear(namespace string) {
	h.rewrite(namespace, func(object map[string]any) {
		object["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{}}
	})
}

// TestEditsThatHide makes the same edits in every way, after either kind of apply. Each finding is at least as severe as
// with kubectl edit, and names the user who edited, never the committer.
func TestEditsThatHide(t *testing.T) {
	t.Parallel()
	for side, name := range []string{"client", "server"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, list := newHideout(t), ways(side)
			h.declare(list, "--server-side="+strconv.FormatBool(name == "server"))
			if got := h.findings(); len(got) > 0 {
				t.Fatalf("applied as declared: %s", strings.Join(slices.Sorted(maps.Keys(got)), ", "))
			}
			h.apart()
			for i, w := range list {
				w.write(h, h.space(i))
			}
			h.apart()
			h.judge(list, h.findings())
		})
	}
}

// apart waits until the next events have other seconds than the earlier ones: managedFields and
// audit events are joined by seconds.
func (h *hideout) apart() {
	for range 3 {
		h.nextSecond()
	}
}

// findings scans and returns the findings by resource.
func (h *hideout) findings() map[string][]model.Finding {
	h.t.Helper()
	report, err := h.scan()
	if err != nil {
		h.t.Fatal(err)
	}
	found := map[string][]model.Finding{}
	for _, f := range report.Findings {
		name := strings.TrimPrefix(f.Kind, "kubernetes/") + " " + f.Key.ID
		found[name] = append(found[name], f)
	}
	return found
}

// judge compares the findings of every way with those of the first.
func (h *hideout) judge(list []way, found map[string][]model.Finding) {
	h.t.Helper()
	kinds := []string{"ConfigMap %s/app", "Service %s/web", "RoleBinding.rbac.authorization.k8s.io %s/readers", "Deployment.apps %s/web"}
	for i, w := range list {
		for _, kind := range kinds {
			measure := found[fmt.Sprintf(kind, h.space(0))]
			if len(measure) == 0 {
				h.t.Fatalf("%s is silent about %s", list[0].name, kind)
			}
			if err := asLoud(found[fmt.Sprintf(kind, h.space(i))], loudest(measure)); err != nil {
				h.t.Errorf("%s: %s: %v", w.name, fmt.Sprintf(kind, "NS"), err)
			}
		}
	}
}

func loudest(findings []model.Finding) model.Severity {
	worst := model.Info
	for _, f := range findings {
		if f.Severity.Rank() < worst.Rank() {
			worst = f.Severity
		}
	}
	return worst
}

// asLoud checks that findings have at least a severity, and that all of them name mallory.
func asLoud(findings []model.Finding, want model.Severity) error {
	if len(findings) == 0 {
		return errors.New("it is silent")
	}
	var errs []error
	if got := loudest(findings); got.Rank() > want.Rank() {
		errs = append(errs, fmt.Errorf("%s, and kubectl edit is %s", got, want))
	}
	for _, f := range findings {
		actors := []model.Actor{f.Actor}
		for _, c := range f.Changes {
			if c.Unproven || f.Verdict == model.Pending {
				errs = append(errs, fmt.Errorf("%s is %s: %s", c.Path, f.Verdict, f.Reason))
			}
			if c.Actor != nil {
				actors = append(actors, *c.Actor)
			}
		}
		for _, a := range actors {
			if a.Name != "mallory" && !strings.Contains(a.Name, "by mallory") {
				errs = append(errs, fmt.Errorf("%s by %s (%s %s)", f.Verdict, a.Name, a.Via, a.Reason))
			}
		}
	}
	return errors.Join(errs...)
}
