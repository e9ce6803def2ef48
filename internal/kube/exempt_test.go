package kube_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
)

// wellKnown are names of field managers that once were exempt by themselves.
func wellKnown() []string {
	return []string{
		"kube-controller-manager", "kube-scheduler", "kubelet", "kube-apiserver", "cloud-controller-manager", "clusterrole-aggregation-controller",
		"kubectl-last-applied", "before-first-apply", "ancient-changes", "my-controller", "my-controller-manager", "my-operator", "my-webhook", "my-injector",
		"argocd", "argocd-controller", "flux", "flux-x", "helm", "gotk-x", "cert-manager", "cert-manager-cainjector", "cainjector", "istio-sidecar-injector",
		"istiod", "pilot-discovery", "linkerd-proxy-injector", "vault-injector", "consul-k8s", "keda", "vpa-updater", "cluster-autoscaler", "karpenter",
		"external-dns", "external-secrets", "kyverno", "gatekeeper", "cilium", "calico", "csi-provisioner", "snapshot-controller", "velero", "rancher",
		"fleet", "cattle-x", "openshift-x", "olm", "catalog", "glbc", "gke-x", "eks", "eks-x", "aks-x", "Reloader",
		"cluster-proportional-autoscaler", "horizontal-pod-autoscaler", "service-mesh-x", "otel-x",
		"kubectl-client-side-apply", "kustomize-controller", "helm-controller",
	}
}

// A forgery is an edit of a declared object, in the words of a strategic patch's
// result: what is declared, what is live then, and what the writer owns of it.
type forgery struct{ declared, live, fields, path string }

func forgeries() map[string]forgery {
	const pod = `{containers: [{name: web, image: "web:1"}]%s}`
	deployment := func(more string) string {
		return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {template: {spec: ` + fmt.Sprintf(pod, more) + `}}}`
	}
	object := func(kind, body string) string {
		group := map[string]string{"Service": "v1", "ConfigMap": "v1", "RoleBinding": "rbac.authorization.k8s.io/v1", "Role": "rbac.authorization.k8s.io/v1",
			"ValidatingWebhookConfiguration": "admissionregistration.k8s.io/v1", "Secret": "v1", "Deployment": "apps/v1"}[kind]
		metadata := "{name: x, namespace: ns}"
		if kind == "ValidatingWebhookConfiguration" {
			metadata = "{name: x}"
		}
		return `{apiVersion: ` + group + `, kind: ` + kind + `, metadata: ` + metadata + body + `}`
	}
	return map[string]forgery{
		"a privileged container": {declared: deployment(""),
			live:   strings.Replace(deployment(""), "[{", `[{name: evil, image: "evil:1", securityContext: {privileged: true}}, {`, 1),
			fields: `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"evil\"}":{".":{},"f:name":{},"f:image":{},"f:securityContext":{"f:privileged":{}}}}}}}}`,
			path:   "spec.template.spec.containers[name=evil]"},
		"the host's network": {declared: deployment(""), live: deployment(", hostNetwork: true"),
			fields: `{"f:spec":{"f:template":{"f:spec":{"f:hostNetwork":{}}}}}`, path: "spec.template.spec.hostNetwork"},
		"a service account": {declared: deployment(""), live: deployment(", serviceAccountName: admin"),
			fields: `{"f:spec":{"f:template":{"f:spec":{"f:serviceAccountName":{}}}}}`, path: "spec.template.spec.serviceAccountName"},
		"a node": {declared: deployment(""), live: deployment(", nodeName: mine"),
			fields: `{"f:spec":{"f:template":{"f:spec":{"f:nodeName":{}}}}}`, path: "spec.template.spec.nodeName"},
		"a variable": {declared: deployment(""), live: strings.Replace(deployment(""), `"web:1"`, `"web:1", env: [{name: LD_PRELOAD, value: x}]`, 1),
			fields: `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:env":{"k:{\"name\":\"LD_PRELOAD\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}}`,
			path:   "spec.template.spec.containers[name=web].env[name=LD_PRELOAD]"},
		"subjects": {declared: object("RoleBinding", ", roleRef: {kind: Role, name: a}"), live: object("RoleBinding", ", roleRef: {kind: Role, name: a}, subjects: [{kind: User, name: mallory}]"),
			fields: `{"f:subjects":{}}`, path: "subjects"},
		"rules": {declared: object("Role", ""), live: object("Role", `, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`),
			fields: `{"f:rules":{}}`, path: "rules"},
		"external addresses": {declared: object("Service", ", spec: {ports: [{port: 80}]}"), live: object("Service", ", spec: {ports: [{port: 80}], externalIPs: [192.0.2.1]}"),
			fields: `{"f:spec":{"f:externalIPs":{}}}`, path: "spec.externalIPs"},
		"a selector": {declared: object("Service", ", spec: {ports: [{port: 80}], selector: {app: web}}"), live: object("Service", ", spec: {ports: [{port: 80}], selector: {app: web, tier: mine}}"),
			fields: `{"f:spec":{"f:selector":{"f:tier":{}}}}`, path: "spec.selector.tier"},
		"a webhook's address": {declared: object("ValidatingWebhookConfiguration", ", webhooks: [{name: a.b.c, clientConfig: {}}]"),
			live:   object("ValidatingWebhookConfiguration", ", webhooks: [{name: a.b.c, clientConfig: {url: 'https://mine.example.org'}}]"),
			fields: `{"f:webhooks":{"k:{\"name\":\"a.b.c\"}":{"f:clientConfig":{"f:url":{}}}}}`, path: "webhooks[name=a.b.c].clientConfig.url"},
		"a key": {declared: object("ConfigMap", ", data: {a: b}"), live: object("ConfigMap", ", data: {a: b, c: d}"),
			fields: `{"f:data":{"f:c":{}}}`, path: "data.c"},
		"a secret": {declared: object("Secret", ", data: {a: YQ==}"), live: object("Secret", ", data: {a: YQ==, c: Yw==}"),
			fields: `{"f:data":{"f:c":{}}}`, path: "data.c"},
		"an annotation": {declared: object("ConfigMap", ""), live: `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: ns, annotations: {mine.example.org/a: b}}}`,
			fields: `{"f:metadata":{"f:annotations":{"f:mine.example.org/a":{}}}}`, path: `metadata.annotations["mine.example.org/a"]`},
	}
}

const morning, evening = "2026-01-01T08:00:00Z", "2026-01-01T18:00:00Z"

// A written object is live with an entry of managedFields for what is declared and
// one for a later write.
type written struct {
	declared, live, manager, fields string
	// time is that of the write, in the evening unless it is given.
	operation, time string
	// through is the subresource of the later write.
	through string
	// declarer is the manager of the first entry.
	declarer string
	// others are further live objects, those that begin with ! undeclared.
	others []string
	// accounts are what an audit log records for the later write.
	accounts []string
	entries  []kube.Entry
	// edit is what an audit log has of an edit in the evening.
	edit model.AuditEvent
}

func (w written) judge(t *testing.T) model.Judged {
	t.Helper()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var resources []model.Resource
	var claims []model.Claim
	declare := func(text string) {
		c, err := kube.NewClaim(object(t, text), kube.ClaimOptions{Declaration: "d", Sealer: sealer, Kinds: kinds})
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, c)
	}
	live := object(t, w.live)
	declarer, operation := w.declarer, w.operation
	if declarer == "" {
		declarer = "kubectl"
	}
	if operation == "" {
		operation = "Update"
	}
	entries := []model.Value{
		managed(t, declarer, map[bool]string{true: "Apply", false: "Update"}[declarer == "kubectl"], morning, `{"f:metadata":{"f:labels":{}}}`),
	}
	if w.manager != "" {
		entry := managed(t, w.manager, operation, cmp.Or(w.time, evening), w.fields)
		if w.through != "" {
			entry = entry.With("subresource", model.StringOf(w.through))
		}
		entries = append(entries, entry)
	}
	metadata := live.At("metadata").With("managedFields", model.ListOf(entries...)).With("creationTimestamp", model.StringOf(morning))
	r, err := kube.NewResource("s", live.With("metadata", metadata), sealer)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Owners {
		if r.Owners[i].Name == w.manager {
			r.Owners[i].Accounts = w.accounts
		}
	}
	resources = append(resources, r)
	declare(w.declared)
	for _, text := range w.others {
		text, undeclared := strings.CutPrefix(text, "!")
		other, err := kube.NewResource("s", object(t, text), sealer)
		if err != nil {
			t.Fatal(err)
		}
		resources = append(resources, other)
		if !undeclared {
			declare(text)
		}
	}
	slices.SortFunc(resources, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
	kube.Relate(resources, whole)
	policy := kube.NewPolicy(w.entries)
	subjects := match.Match(model.Snapshot{Source: "s", Resources: resources, Kinds: kinds, Coverage: []model.Coverage{{Source: "s", Complete: true}}},
		[]model.Declaration{{Name: "d", Governs: []string{"s"}, Claims: claims}})
	for i := range subjects {
		if subjects[i].Key == r.Key {
			if w.edit.Account != "" {
				w.edit.Actor = model.Actor{Name: w.edit.Account, At: r.Created.Add(10*time.Hour + time.Second/2), Via: model.AuditLog, Confidence: model.Likely}
				subjects[i].AuditEvents = []model.AuditEvent{w.edit}
			}
			return diff.Judge(&subjects[i], diff.Options{Controller: policy.Controller, Exempt: policy.Exempt})
		}
	}
	t.Fatal("no subject")
	return model.Judged{}
}

func managed(t *testing.T, manager, operation, at, fields string) model.Value {
	t.Helper()
	v, err := decode.JSON([]byte(fields))
	if err != nil {
		t.Fatal(err)
	}
	entry := func(name, value string) model.Field { return model.Field{Name: name, Value: model.StringOf(value)} }
	return model.MapOf(entry("manager", manager), entry("operation", operation), entry("time", at), model.Field{Name: "fieldsV1", Value: v})
}

// found lists verdicts and paths.
func found(j model.Judged) string {
	var all []string
	for _, o := range j.Outcomes {
		for _, c := range o.Changes {
			all = append(all, string(o.Verdict)+" "+c.Path)
		}
	}
	return strings.Join(all, ", ")
}

// TestNameNeverHides writes under every well-known name, as a client chose it, and
// as the applier of the declaration.
func TestNameNeverHides(t *testing.T) {
	t.Parallel()
	for edit, f := range forgeries() {
		t.Run(edit, func(t *testing.T) {
			t.Parallel()
			for _, manager := range wellKnown() {
				for log, accounts := range map[string][]string{"without a log": nil, "with a log": {"alice"}, "of a pipeline": {"system:serviceaccount:ci:deployer"}} {
					for _, declarer := range []string{"", manager} {
						w := written{declared: f.declared, live: f.live, manager: manager, fields: f.fields, accounts: accounts, declarer: declarer}
						j := w.judge(t)
						if got := found(j); got != "undeclared "+f.path || len(j.Exempt) > 0 {
							t.Errorf("%s %s, declared by %q: %q, exempt %v", manager, log, declarer, got, j.Exempt)
						}
					}
				}
			}
		})
	}
}

// TestEditedRecordNeverHides takes the writer out of managedFields.
func TestEditedRecordNeverHides(t *testing.T) {
	t.Parallel()
	for edit, f := range forgeries() {
		if strings.HasSuffix(f.path, "nodeName") {
			continue // The system derives it.
		}
		t.Run(edit, func(t *testing.T) {
			t.Parallel()
			if got := found(written{declared: f.declared, live: f.live}.judge(t)); got != "undeclared "+f.path {
				t.Errorf("%q, want %q", got, f.path)
			}
		})
	}
}

func TestExempt(t *testing.T) {
	t.Parallel()
	deployment := func(meta, spec string) string {
		return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns` + meta + `}, spec: {template: {spec: {containers: [` + spec + `{name: web, image: "web:1"}]}}}}`
	}
	token := `{apiVersion: v1, kind: Secret, metadata: {name: x, namespace: ns, annotations: {kubernetes.io/service-account.name: a%s}}, type: kubernetes.io/service-account-token}`
	account := func(manager, name string) written {
		return written{declared: fmt.Sprintf(token, ""), live: fmt.Sprintf(token, ", "+name+": v"), manager: manager, fields: `{"f:metadata":{"f:annotations":{"f:` + name + `":{}}}}`}
	}
	annotated := func(name string) written {
		return written{declared: deployment("", ""), live: deployment(", annotations: {"+name+": v}", ""), fields: `{"f:metadata":{"f:annotations":{"f:` + name + `":{}}}}`}
	}
	status := func(w written) written {
		w.through = "status"
		return w
	}
	stamped := annotated("example.org/stamp")
	const application = `{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: x, namespace: ns}, spec: {project: a}%s}`
	requested := written{declared: fmt.Sprintf(application, ""), live: fmt.Sprintf(application, ", operation: {sync: {revision: abc}}"), manager: "argocd-application-controller",
		fields: `{"f:operation":{".":{},"f:sync":{".":{},"f:revision":{}}}}`}
	sidecar := written{declared: deployment("", ""), live: deployment("", `{name: istio-proxy, image: "proxy:1"}, `), manager: "istio-sidecar-injector",
		fields: `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"istio-proxy\"}":{".":{},"f:name":{},"f:image":{}}}}}}}`}
	hook := func(resource string) string {
		return `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: mesh}, webhooks: [{name: a.b.c, rules: [{operations: [CREATE], apiGroups: [apps], apiVersions: [v1], resources: [` + resource + `]}]}]}`
	}
	const webhook = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: x%s}, webhooks: [{name: a.b.c, clientConfig: {service: {name: h, namespace: ns}%s}}]}`
	bundle := written{declared: fmt.Sprintf(webhook, "", ""), live: fmt.Sprintf(webhook, "", ", caBundle: QQ=="), manager: "cert-manager-cainjector",
		fields: `{"f:webhooks":{"k:{\"name\":\"a.b.c\"}":{"f:clientConfig":{"f:caBundle":{}}}}}`}
	asked := bundle
	asked.declared = fmt.Sprintf(webhook, ", annotations: {cert-manager.io/inject-ca-from: a/b}", "")
	asked.live = fmt.Sprintf(webhook, ", annotations: {cert-manager.io/inject-ca-from: a/b}", ", caBundle: QQ==")
	with := func(w written, change func(*written)) written { change(&w); return w }
	const replicas = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {%stemplate: {spec: {containers: [{name: web, image: "web:1"}]}}}}`
	scaled := written{declared: fmt.Sprintf(replicas, "replicas: 2, "), live: fmt.Sprintf(replicas, "replicas: 9, "), manager: "kube-controller-manager", fields: `{"f:spec":{"f:replicas":{}}}`}
	unset := scaled
	unset.declared = fmt.Sprintf(replicas, "")
	const hpa = `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h, namespace: ns}, spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}}}`
	off := with(scaled, func(w *written) { w.live = fmt.Sprintf(replicas, "replicas: 0, ") })
	toZero := strings.Replace(hpa, "maxReplicas: 9", "minReplicas: 0, maxReplicas: 9", 1)
	const keda = `{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: h, namespace: ns}, spec: {scaleTargetRef: {name: x}}}`
	const certificate = `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: c, namespace: ns}, spec: {secretName: x}}`
	const secret = `{apiVersion: v1, kind: Secret, metadata: {name: x, namespace: ns}%s}`
	issued := written{declared: fmt.Sprintf(secret, ""), live: fmt.Sprintf(secret, ", data: {tls.key: YQ==}"), manager: "cert-manager-certificates-issuing", fields: `{"f:data":{"f:tls.key":{}}}`}
	const role = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x}%s}`
	aggregated := written{declared: fmt.Sprintf(role, ""), live: fmt.Sprintf(role, `, aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]`),
		manager: "clusterrole-aggregation-controller", fields: `{"f:rules":{}}`}
	const pvc = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x, namespace: ns}, spec: {%saccessModes: [ReadWriteOnce]}}`
	classified := written{declared: fmt.Sprintf(pvc, ""), live: fmt.Sprintf(pvc, "storageClassName: std, "), manager: "kube-controller-manager", fields: `{"f:spec":{"f:storageClassName":{}}}`}
	entry := kube.Entry{Writer: "my-operator", Kinds: []string{"Deployment.apps"}, Fields: []string{"metadata.annotations.example.org/*"}}
	by := func(w written, manager string, accounts ...string) written {
		return with(w, func(w *written) { w.manager, w.accounts = manager, accounts })
	}
	beside := func(w written, others ...string) written { return with(w, func(w *written) { w.others = others }) }
	listed := func(w written, e ...kube.Entry) written { return with(w, func(w *written) { w.entries = e }) }
	tests := map[string]struct {
		reason string
		write  written
		found  string
		why    string
	}{
		"a default class":                   {"the claim was made before the default class", classified, "", "in the table"},
		"a class by hand":                   {"a person chose it", by(classified, "kubectl-edit"), "undeclared spec.storageClassName", ""},
		"a class by a person":               {"the log overrides the name", by(classified, "kube-controller-manager", "alice"), "undeclared spec.storageClassName", ""},
		"the revision":                      {"kube-controller-manager writes it", by(annotated("deployment.kubernetes.io/revision"), "kube-controller-manager"), "", "in the table"},
		"a token":                           {"the controller fills in the Secret of an account", account("kube-controller-manager", "kubernetes.io/service-account.uid"), "", "in the table"},
		"a token is used":                   {"the server dates it", account("kube-apiserver", "kubernetes.io/legacy-token-last-used"), "", "in the table"},
		"a token by hand":                   {"a person wrote it", account("kubectl-edit", "kubernetes.io/service-account.uid"), `undeclared metadata.annotations["kubernetes.io/service-account.uid"]`, ""},
		"the revision, under another name":  {"a distribution has all controllers in one program", status(by(annotated("deployment.kubernetes.io/revision"), "k3s")), "", "a label or annotation of a controller"},
		"through the status":                {"a person can write it, too", status(by(annotated("example.org/stamp"), "kubectl-patch")), `undeclared metadata.annotations["example.org/stamp"]`, ""},
		"by another":                        {"a scheduler does not", by(annotated("deployment.kubernetes.io/revision"), "kube-scheduler"), `undeclared metadata.annotations["deployment.kubernetes.io/revision"]`, ""},
		"by its account":                    {"the log says so", by(annotated("deployment.kubernetes.io/revision"), "kube-controller-manager", "system:serviceaccount:kube-system:deployment-controller"), "", "audit log: system:serviceaccount"},
		"by a person":                       {"the log overrides the name", by(annotated("deployment.kubernetes.io/revision"), "kube-controller-manager", "alice"), `undeclared metadata.annotations["deployment.kubernetes.io/revision"]`, ""},
		"by both":                           {"whose field it is, nothing tells", by(annotated("deployment.kubernetes.io/revision"), "kube-controller-manager", "alice", "system:kube-controller-manager"), `undeclared metadata.annotations["deployment.kubernetes.io/revision"]`, ""},
		"a cluster's own":                   {"any field of a control plane's account", by(stamped, "x", "system:kube-controller-manager"), "", "audit log"},
		"a node's":                          {"kubelets are accounts of nodes", by(stamped, "kubelet", "system:node:n1"), "", "audit log"},
		"helm's mark":                       {"a tracking mark", by(annotated("meta.helm.sh/release-name"), "helm"), "", "in the table"},
		"flux's mark":                       {"a tracking mark", by(annotated("kustomize.toolkit.fluxcd.io/checksum"), "kustomize-controller"), "", "in the table"},
		"argo's mark":                       {"a tracking mark", by(annotated("argocd.argoproj.io/tracking-id"), "argocd-controller"), "", "in the table"},
		"a webhook for flux":                {"a Receiver requests a reconciliation", by(annotated("reconcile.fluxcd.io/requestedAt"), "notification-controller"), "", "in the table"},
		"flux is reset":                     {"a command of flux", by(annotated("reconcile.fluxcd.io/resetAt"), "flux"), "", "in the table"},
		"flux is reset by hand":             {"kubectl annotate is no controller", by(annotated("reconcile.fluxcd.io/resetAt"), "kubectl-annotate"), `undeclared metadata.annotations["reconcile.fluxcd.io/resetAt"]`, ""},
		"argo's notification":               {"the controller records what it sent", by(annotated("notified.notifications.argoproj.io"), "argocd-notifications"), "", "in the table"},
		"argo's subscription":               {"people subscribe", by(annotated("notifications.argoproj.io/subscribe.x.slack"), "argocd-notifications"), `undeclared metadata.annotations["notifications.argoproj.io/subscribe.x.slack"]`, ""},
		"argo's sync":                       {"the controller requested it", requested, "", "in the table"},
		"argo's sync by a user":             {"the server requested it", by(requested, "argocd-server"), "", "in the table"},
		"argo's sync in the log":            {"the log has its account", by(requested, "argocd-server", "system:serviceaccount:argocd:argocd-server"), "", "audit log"},
		"argo's sync by hand":               {"kubectl patch is no controller", by(requested, "kubectl-patch"), "undeclared operation.sync.revision", ""},
		"argo's sync by a person":           {"the log overrides the name", by(requested, "argocd-server", "alice"), "undeclared operation.sync.revision", ""},
		"argo is stopped":                   {"the controller sets no such mark", by(annotated("argocd.argoproj.io/sync-options"), "argocd-controller"), `undeclared metadata.annotations["argocd.argoproj.io/sync-options"]`, ""},
		"argo ignores the object":           {"the controller sets no such mark", by(annotated("argocd.argoproj.io/compare-options"), "argocd-controller"), `undeclared metadata.annotations["argocd.argoproj.io/compare-options"]`, ""},
		"flux is stopped":                   {"the controller sets no such mark", by(annotated("kustomize.toolkit.fluxcd.io/reconcile"), "kustomize-controller"), `undeclared metadata.annotations["kustomize.toolkit.fluxcd.io/reconcile"]`, ""},
		"pilot's image":                     {"an instruction for the controller", by(annotated("sidecar.istio.io/proxyImage"), "pilot-discovery"), `undeclared metadata.annotations["sidecar.istio.io/proxyImage"]`, ""},
		"a role in the cloud":               {"an instruction for the controller", by(annotated("eks.amazonaws.com/role-arn"), "eks"), `undeclared metadata.annotations["eks.amazonaws.com/role-arn"]`, ""},
		"a public load balancer":            {"an instruction for the controller", by(annotated("service.beta.kubernetes.io/aws-load-balancer-scheme"), "cloud-controller-manager"), `undeclared metadata.annotations["service.beta.kubernetes.io/aws-load-balancer-scheme"]`, ""},
		"no login":                          {"an instruction for the controller", by(annotated("alb.ingress.kubernetes.io/auth-type"), "controller"), `undeclared metadata.annotations["alb.ingress.kubernetes.io/auth-type"]`, ""},
		"a paused scaler":                   {"an instruction for the controller", by(annotated("autoscaling.keda.sh/paused-replicas"), "keda"), `undeclared metadata.annotations["autoscaling.keda.sh/paused-replicas"]`, ""},
		"a weaker policy":                   {"an instruction for the controller", by(annotated("pod-policies.kyverno.io/autogen-controllers"), "kyverno"), `undeclared metadata.annotations["pod-policies.kyverno.io/autogen-controllers"]`, ""},
		"another name in DNS":               {"an instruction for the controller", by(annotated("external-dns.alpha.kubernetes.io/hostname"), "external-dns"), `undeclared metadata.annotations["external-dns.alpha.kubernetes.io/hostname"]`, ""},
		"another issuer":                    {"an instruction for the controller", by(annotated("cert-manager.io/cluster-issuer"), "cert-manager"), `undeclared metadata.annotations["cert-manager.io/cluster-issuer"]`, ""},
		"a public load balancer in the log": {"the log has its account", by(annotated("alb.ingress.kubernetes.io/scheme"), "controller", "system:serviceaccount:kube-system:aws-load-balancer-controller"), "", "audit log"},
		"rancher's mark":                    {"a vendor's mark", by(annotated("field.cattle.io/publicEndpoints"), "rancher"), "", "in the table"},
		"openshift's mark":                  {"a vendor's mark", by(annotated("openshift.io/scc"), "openshift-controller-manager"), "", "in the table"},
		"a mark under a tool of hand":       {"kubectl annotate is no controller", by(annotated("field.cattle.io/publicEndpoints"), "kubectl-annotate"), `undeclared metadata.annotations["field.cattle.io/publicEndpoints"]`, ""},
		"a bundle":                          {"the table has it", bundle, "", "in the table"},
		"a bundle under any name":           {"webhooks inject their own", by(bundle, "my-webhook-server"), "", "in the table"},
		"a bundle by hand":                  {"kubectl edit is no injector", by(bundle, "kubectl-edit"), "undeclared webhooks[name=a.b.c].clientConfig.caBundle", ""},
		"a bundle by a person":              {"the log overrides the name", by(bundle, "cert-manager-cainjector", "alice"), "undeclared webhooks[name=a.b.c].clientConfig.caBundle", ""},
		"a bundle by a pipeline":            {"any other service account is a writer like a person", by(bundle, "cert-manager-cainjector", "system:serviceaccount:ci:x"), "undeclared webhooks[name=a.b.c].clientConfig.caBundle", ""},
		"a bundle by cert-manager":          {"the table has its account", by(bundle, "cainjector", "system:serviceaccount:cert-manager:cert-manager-cainjector"), "", "audit log"},
		"a bundle that is asked for":        {"the declared annotation asks for it", by(asked, "x"), "", "declared annotation cert-manager.io/inject-ca-from"},
		"by another account":                {"the annotation asks for it", by(asked, "x", "system:serviceaccount:pki:injector"), "", "audit log"},
		"asked for, by a person":            {"a person is no injector", by(asked, "x", "alice"), "undeclared webhooks[name=a.b.c].clientConfig.caBundle", ""},
		"a sidecar":                         {"a name never hides what code runs", sidecar, "undeclared spec.template.spec.containers[name=istio-proxy]", ""},
		"a sidecar and its webhook":         {"a declared webhook matches the kind", beside(sidecar, hook("deployments")), "", "declared MutatingWebhookConfiguration"},
		"a webhook for pods":                {"its rules do not match the kind", beside(sidecar, hook("pods")), "undeclared spec.template.spec.containers[name=istio-proxy]", ""},
		"a webhook made by hand":            {"nobody declared it", beside(sidecar, "!"+hook("deployments")), "undeclared spec.template.spec.containers[name=istio-proxy]", ""},
		"under another name":                {"the webhook leaves no such name", beside(by(sidecar, "my-injector"), hook("deployments")), "undeclared spec.template.spec.containers[name=istio-proxy]", ""},
		"by a person, with a webhook":       {"the log overrides the name", beside(by(sidecar, "istio-sidecar-injector", "alice"), hook("deployments")), "undeclared spec.template.spec.containers[name=istio-proxy]", ""},
		"at admission":                      {"a webhook leaves no owner", beside(by(sidecar, ""), hook(`"*"`)), "", "no field manager, and the declared"},
		"at an admission by hand":           {"nobody declared it", beside(by(sidecar, ""), "!"+hook("deployments")), "undeclared spec.template.spec.containers[name=istio-proxy]", ""},
		"a mark at admission":               {"an undeclared webhook may set what decides nothing", beside(by(stamped, ""), "!"+hook("deployments")), "", "no field manager, and a webhook"},
		"a default at admission":            {"a webhook is no reason for what scale leaves", beside(by(unset, ""), "!"+hook("deployments")), "undeclared spec.replicas", ""},
		"autoscaled":                        {"a declared autoscaler decides", beside(scaled, hpa), "", "decided by another declared object"},
		"autoscaled, undeclared":            {"a declared autoscaler decides", beside(unset, hpa), "", "decided by another declared object"},
		"scaled to zero":                    {"an autoscaler is off without replicas", beside(off, hpa), "changed spec.replicas", ""},
		"zero, and scaled up": {"an autoscaler does nothing while the target has no replicas", beside(with(scaled, func(w *written) { w.declared = fmt.Sprintf(replicas, "replicas: 0, ") }), hpa),
			"changed spec.replicas", ""},
		"scaled to zero, as allowed": {"this autoscaler may do so", beside(off, toZero), "", "decided by another declared object"},
		"scaled to zero by KEDA":     {"KEDA does so by default", beside(off, keda), "", "decided by another declared object"},
		"an autoscaler made by hand": {"nobody declared it", beside(scaled, "!"+hpa), "changed spec.replicas", ""},
		"by hand, undeclared":        {"nobody declared it", beside(by(unset, "kube-controller-manager", "system:serviceaccount:kube-system:horizontal-pod-autoscaler"), "!"+hpa), "undeclared spec.replicas", ""},
		"a certificate":              {"its Secret is filled", beside(issued, certificate), "", "added by the declared Certificate.cert-manager.io c"},
		"a certificate by a person":  {"the log overrides", beside(by(issued, "cert-manager-certificates-issuing", "alice"), certificate), `undeclared data["tls.key"]`, ""},
		"no certificate":             {"a name never hides a secret", issued, `undeclared data["tls.key"]`, ""},
		"a certificate made by hand": {"nobody declared it", beside(issued, "!"+certificate), `undeclared data["tls.key"]`, ""},
		"aggregated by hand":         {"the rule itself is not declared", aggregated, "undeclared aggregationRule.clusterRoleSelectors, undeclared rules", ""},
		"listed":                     {"the operator listed it", listed(by(stamped, "my-operator"), entry), "", "field manager my-operator in the table"},
		"listed for another field":   {"only its fields", listed(by(annotated("example.com/stamp"), "my-operator"), entry), `undeclared metadata.annotations["example.com/stamp"]`, ""},
		"listed for another kind":    {"only its kinds", listed(by(stamped, "my-operator"), kube.Entry{Writer: "my-operator", Kinds: []string{"Service"}}), `undeclared metadata.annotations["example.org/stamp"]`, ""},
		"listed by name":             {"a bare name", listed(by(stamped, "my-operator"), kube.Entry{Writer: "my-*"}), "", "in the table"},
		"listed by name, guarded":    {"a bare name never hides what code runs", listed(by(sidecar, "my-operator"), kube.Entry{Writer: "my-*"}), "undeclared spec.template.spec.containers[name=istio-proxy]", ""},
		"listed, and a person":       {"the log overrides the name", listed(by(stamped, "my-operator", "alice"), entry), `undeclared metadata.annotations["example.org/stamp"]`, ""},
		"a listed account": {"the log and the operator agree", listed(by(sidecar, "x", "system:serviceaccount:a:b"),
			kube.Entry{Writer: "system:serviceaccount:a:b", Fields: []string{"spec.template.spec.containers"}}), "", "audit log: system:serviceaccount:a:b"},
		"a listed account, guarded": {"without fields", listed(by(sidecar, "x", "system:serviceaccount:a:b"), kube.Entry{Writer: "system:serviceaccount:a:b"}), "undeclared spec.template.spec.containers[name=istio-proxy]", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := tt.write.judge(t)
			if got := found(j); got != tt.found {
				t.Errorf("%s: found %q, want %q", tt.reason, got, tt.found)
			}
			if (len(j.Exempt) == 1) != (tt.why != "") || len(j.Exempt) > 1 || tt.why != "" && !strings.Contains(j.Exempt[0].Why, tt.why) {
				t.Errorf("%s: exempt %+v, want %q", tt.reason, j.Exempt, tt.why)
			}
		})
	}
}

// TestAdmission matches the rules of what changes objects at admission.
func TestAdmission(t *testing.T) {
	t.Parallel()
	const rule = `operations: ["%s"], apiGroups: ["%s"], apiVersions: [v1], resources: ["%s"]`
	hook := func(operation, group, resource string) string {
		return `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: h}, webhooks: [{rules: [{` + fmt.Sprintf(rule, operation, group, resource) + `}]}]}`
	}
	selecting := func(selector string) string {
		return strings.Replace(hook("CREATE", "apps", "deployments"), "{rules", "{namespaceSelector: {"+selector+"}, rules", 1)
	}
	policy := func(kind, group, body string) string {
		metadata := "{name: h}"
		if kind == "Policy" {
			metadata = "{name: h, namespace: other}"
		}
		return `{apiVersion: ` + group + `/v1, kind: ` + kind + `, metadata: ` + metadata + `, spec: {` + body + `}}`
	}
	tests := map[string]struct {
		object string
		want   string
	}{
		"a webhook":              {hook("UPDATE", "apps", "deployments"), "Deployment"},
		"of all groups":          {hook("CREATE", "*", "deployments"), "Deployment"},
		"of all":                 {hook("*", "*", "*/*"), "Deployment NetworkPolicy Ingress"},
		"of another group":       {hook("CREATE", "batch", "deployments"), ""},
		"of deletions":           {hook("DELETE", "apps", "deployments"), ""},
		"of a subresource":       {hook("UPDATE", "apps", "deployments/scale"), ""},
		"plurals":                {hook("CREATE", "networking.k8s.io", `networkpolicies", "ingresses`), "NetworkPolicy Ingress"},
		"its namespaces":         {selecting("matchLabels: {team: a}"), "Deployment"},
		"others":                 {selecting("matchLabels: {team: b}"), ""},
		"without the label":      {selecting("matchLabels: {other: a}"), ""},
		"in":                     {selecting("matchExpressions: [{key: team, operator: In, values: [b, a]}]"), "Deployment"},
		"in none":                {selecting("matchExpressions: [{key: other, operator: In, values: [b, a]}]"), ""},
		"not in":                 {selecting("matchExpressions: [{key: team, operator: NotIn, values: [a]}]"), ""},
		"exists":                 {selecting("matchExpressions: [{key: team, operator: Exists}]"), "Deployment"},
		"does not exist":         {selecting("matchExpressions: [{key: team, operator: DoesNotExist}]"), ""},
		"neither exists":         {selecting("matchExpressions: [{key: other, operator: Exists}]"), ""},
		"is not there":           {selecting("matchExpressions: [{key: other, operator: DoesNotExist}]"), "Deployment"},
		"a policy":               {policy("MutatingAdmissionPolicy", "admissionregistration.k8s.io", "matchConstraints: {resourceRules: [{"+fmt.Sprintf(rule, "CREATE", "apps", "deployments")+"}]}"), "Deployment"},
		"kyverno for pods":       {policy("ClusterPolicy", "kyverno.io", "rules: [{mutate: {a: b}, match: {any: [{resources: {kinds: [Pod]}}]}}]"), "Deployment"},
		"kyverno of a version":   {policy("ClusterPolicy", "kyverno.io", "rules: [{mutate: {a: b}, match: {resources: {kinds: [networking.k8s.io/v1/Ingress]}}}]"), "Ingress"},
		"kyverno that validates": {policy("ClusterPolicy", "kyverno.io", "rules: [{validate: {a: b}, match: {any: [{resources: {kinds: [Deployment]}}]}}]"), ""},
		"kyverno elsewhere":      {policy("Policy", "kyverno.io", "rules: [{mutate: {a: b}, match: {any: [{resources: {kinds: [Deployment]}}]}}]"), ""},
		"gatekeeper":             {policy("Assign", "mutations.gatekeeper.sh", "applyTo: [{groups: [apps], kinds: [Deployment], versions: [v1]}]"), "Deployment"},
		"gatekeeper's metadata":  {policy("AssignMetadata", "mutations.gatekeeper.sh", `match: {kinds: [{apiGroups: ["*"], kinds: [Ingress]}]}`), "Ingress"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := []model.Resource{
				resource(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: ns}}`),
				resource(t, `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a, namespace: ns}}`),
				resource(t, `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, namespace: ns}}`),
				// The API server sends it to no webhook, with any rules.
				resource(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: a}}`),
				resource(t, tt.object),
				resource(t, `{apiVersion: v1, kind: Namespace, metadata: {name: ns, labels: {team: a}}}`),
			}
			kube.Relate(all, whole)
			var got []string
			for _, r := range all[:4] {
				if len(r.Admission) > 0 {
					_, kind, _ := strings.Cut(r.Kind, "/")
					kind, _, _ = strings.Cut(kind, ".")
					got = append(got, kind)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("it may change %v, want %s", got, tt.want)
			}
		})
	}
}

// TestController is about who is named, not about what is hidden.
func TestController(t *testing.T) {
	t.Parallel()
	p := kube.NewPolicy([]kube.Entry{{Writer: "our-*"}})
	for name, want := range map[string]bool{"kube-controller-manager": true, "istiod": true, "our-injector": true, "system:node:n1": true,
		"kubectl-edit": false, "kubectl": false, "terraform": false, "my-tool": false, "alice": false} {
		if p.Controller(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}
