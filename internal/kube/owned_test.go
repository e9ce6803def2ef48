package kube_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// related returns the resources of a snapshot by "Kind name".
func related(t *testing.T, yaml string, covers func(kind, place string) bool) map[string]model.Resource {
	t.Helper()
	documents, err := decode.YAML(strings.NewReader(yaml))
	if err != nil {
		t.Fatal(err)
	}
	var resources []model.Resource
	for _, d := range documents {
		r, err := kube.NewResource("test", d.Value, sealer)
		if err != nil {
			t.Fatal(err)
		}
		resources = append(resources, r)
	}
	kube.Relate(resources, covers)
	named := map[string]model.Resource{}
	for _, r := range resources {
		kind, _, _ := strings.Cut(strings.TrimPrefix(r.Kind, "kubernetes/"), ".")
		named[kind+" "+r.Name] = r
	}
	return named
}

// owners are objects that others name as their owners.
const owners = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ns, uid: dep, creationTimestamp: "2026-01-01T10:00:00Z", managedFields: [{manager: kubectl, operation: Apply, time: "2026-01-01T10:00:00Z", fieldsV1: {"f:spec": {"f:template": {}}}}]}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {serviceAccountName: web, containers: [{name: web, image: "web:1", args: [serve]}]}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, namespace: ns, uid: rs, creationTimestamp: "2026-01-01T10:00:01Z", labels: {app: web, pod-template-hash: "1"}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: dep, controller: true}], managedFields: [{manager: kube-controller-manager, operation: Update, time: "2026-01-01T10:00:01Z", fieldsV1: {"f:spec": {"f:template": {}}}}]}
spec:
  selector: {matchLabels: {app: web, pod-template-hash: "1"}}
  template: {metadata: {labels: {app: web, pod-template-hash: "1"}}, spec: {serviceAccountName: web, containers: [{name: web, image: "web:1", args: [serve]}]}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: ns, uid: svc}
spec: {selector: {app: web}}
---
apiVersion: v1
kind: Service
metadata: {name: bare, namespace: ns, uid: bare}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Node
metadata: {name: node-1, uid: node}
---
apiVersion: example.org/v1
kind: Widget
metadata: {name: w, namespace: ns, uid: widget}
---
apiVersion: example.org/v1
kind: Widget
metadata: {name: far, namespace: other, uid: far}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: ns, uid: cm}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: ns, uid: sts, managedFields: [{manager: m, operation: Update, time: "2026-01-01T10:00:01Z", fieldsV1: {"f:spec": {"f:template": {}}}}]}
spec:
  selector: {matchLabels: {app: db}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast, accessModes: [ReadWriteOnce]}}]
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: "db:1"}]}}
---
`

// longName has 59 characters: generated names keep 58.
const longName = "a23456789-b23456789-c23456789-d23456789-e23456789-f23456789"

// longOwner makes a pod whose name is cut off.
func longOwner(pod string) string {
	return `{apiVersion: batch/v1, kind: Job, metadata: {name: ` + longName + `, namespace: ns, uid: job}, spec: {template: {spec: {containers: [{name: a, image: a}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: ` + pod + `, namespace: ns, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: ` + longName + `, uid: job, controller: true}]}, spec: {containers: [{name: a, image: a}]}}`
}

const rollouts = `
{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: r, namespace: ns, uid: roll}, spec: {selector: {matchLabels: {app: r}}, template: {spec: {hostPID: true, containers: [{name: a, image: a}]}}}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r-1, namespace: ns, labels: {app: r}, ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: r, uid: roll, controller: true}]}, spec: {template: {spec: {hostPID: true, containers: [{name: a, image: a}]}}}}`

const podHead = `
apiVersion: v1
kind: Pod
metadata: {name: web-1-x, namespace: ns, creationTimestamp: "2026-01-01T10:00:05Z", labels: {app: web, pod-template-hash: "1"}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: rs, controller: true}]}
`

const webhook = `
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: injector}
webhooks: [{name: i, rules: [{apiGroups: [""], resources: [pods]}]}]
`

func TestOwnedObjects(t *testing.T) {
	t.Parallel()
	pod := func(from, to string) string { return strings.Replace(podHead, from, to, 1) }
	const spec = `spec: {serviceAccountName: web, containers: [{name: web, image: "web:1", args: [serve]}]}`
	deployment := func(ref string) string {
		return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: ns, ownerReferences: [` + ref + `]}, spec: {template: {spec: {containers: [{name: a, image: a}]}}}}`
	}
	for reason, tc := range map[string]struct {
		object, name string
		want         bool
	}{
		"its ReplicaSet made it":                     {podHead + spec, "Pod web-1-x", true},
		"the owner is not live":                      {pod("uid: rs", "uid: gone") + spec, "Pod web-1-x", false},
		"the owner has another name":                 {pod("name: web-1, uid", "name: web-2, uid") + spec, "Pod web-1-x", false},
		"the owner is of another kind":               {pod("kind: ReplicaSet", "kind: Deployment") + spec, "Pod web-1-x", false},
		"the owner is not the controller":            {pod("controller: true", "controller: false") + spec, "Pod web-1-x", false},
		"the owner does not select it":               {pod("app: web", "app: evil") + spec, "Pod web-1-x", false},
		"the pod is not named after its owner":       {pod("name: web-1-x", "name: evil") + spec, "Pod evil", false},
		"the owner lies in another namespace":        {pod("namespace: ns", "namespace: other") + spec, "Pod web-1-x", false},
		"the pod runs another image":                 {podHead + strings.Replace(spec, "web:1", "evil:1", 1), "Pod web-1-x", false},
		"the pod runs another version":               {podHead + strings.Replace(spec, "web:1", "web:2", 1), "Pod web-1-x", false},
		"the pod runs another command":               {podHead + strings.Replace(spec, "serve", "shell", 1), "Pod web-1-x", false},
		"the pod has another environment":            {podHead + strings.Replace(spec, "args", "env: [{name: LD_PRELOAD, value: /evil.so}], args", 1), "Pod web-1-x", false},
		"the pod reads another Secret":               {podHead + strings.Replace(spec, "args", "envFrom: [{secretRef: {name: pw}}], args", 1), "Pod web-1-x", false},
		"the pod runs a hook":                        {podHead + strings.Replace(spec, "args", "lifecycle: {postStart: {exec: {command: [evil]}}}, args", 1), "Pod web-1-x", false},
		"the pod runs a probe":                       {podHead + strings.Replace(spec, "args", "livenessProbe: {exec: {command: [evil]}}, args", 1), "Pod web-1-x", false},
		"a Job numbers its pods":                     {podHead + strings.Replace(spec, "args", "env: [{name: JOB_COMPLETION_INDEX}], args", 1), "Pod web-1-x", true},
		"the cluster injects variables":              {podHead + strings.Replace(spec, "args", "env: [{name: PROXY}], args", 1) + webhook, "Pod web-1-x", true},
		"somebody edits the pod":                     {pod("name: web-1-x", "name: web-1-x, managedFields: [{manager: kubectl-edit, operation: Update, time: '2026-01-01T10:00:09Z', fieldsV1: {'f:spec': {'f:containers': {}}}}]") + spec, "Pod web-1-x", false},
		"a pod of the same content":                  {pod("name: web-1-x", "name: web-1-x, managedFields: [{manager: kubectl-create, operation: Update, time: '2026-01-01T10:00:05Z', fieldsV1: {'f:spec': {'f:containers': {}}}}]") + spec, "Pod web-1-x", true},
		"somebody labels the pod":                    {pod("name: web-1-x", "name: web-1-x, managedFields: [{manager: kubectl-label, operation: Update, time: '2026-01-01T10:00:09Z', fieldsV1: {'f:metadata': {'f:labels': {}}}}]") + spec, "Pod web-1-x", true},
		"the pod has another account":                {podHead + strings.Replace(spec, "serviceAccountName: web", "serviceAccountName: admin", 1), "Pod web-1-x", false},
		"the pod is privileged":                      {podHead + strings.Replace(spec, "args", "securityContext: {privileged: true}, args", 1), "Pod web-1-x", false},
		"the pod has one more container":             {podHead + strings.Replace(spec, "containers: [", "containers: [{name: b, image: b}, ", 1), "Pod web-1-x", false},
		"the cluster injects containers":             {podHead + strings.Replace(spec, "containers: [", "containers: [{name: b, image: b, securityContext: {capabilities: {add: [NET_ADMIN]}}}, ", 1) + webhook, "Pod web-1-x", true},
		"the cluster rewrites images":                {podHead + strings.Replace(spec, "web:1", "mirror.example.org/web@sha256:1", 1) + webhook, "Pod web-1-x", true},
		"no injector adds a privileged container":    {podHead + strings.Replace(spec, "containers: [", "containers: [{name: b, image: b, securityContext: {privileged: true}}, ", 1) + webhook, "Pod web-1-x", false},
		"no injector exchanges an image":             {podHead + strings.Replace(spec, "web:1", "evil:1", 1) + webhook, "Pod web-1-x", false},
		"somebody debugs in the pod":                 {podHead + strings.Replace(spec, "spec: {", "spec: {ephemeralContainers: [{name: debug, image: busybox}], ", 1), "Pod web-1-x", false},
		"its Deployment made it":                     {"", "ReplicaSet web-1", true},
		"the generated name is cut off":              {longOwner(longName[:58] + "x1y2z"), "Pod " + longName[:58] + "x1y2z", true},
		"the name is cut off before that":            {longOwner(longName[:57] + "-x1y2z"), "Pod " + longName[:57] + "-x1y2z", false},
		"its Rollout made it":                        {rollouts, "ReplicaSet r-1", true},
		"OpenShift resolves images":                  {podHead + strings.Replace(spec, "web:1", "registry.example.org/web@sha256:1", 1) + "\n---\n{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}}", "Pod web-1-x", true},
		"an admission policy rewrites images":        {podHead + strings.Replace(spec, "web:1", "mirror.example.org/web:1", 1) + "\n---\n{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: p}, spec: {matchConstraints: {resourceRules: [{resources: ['*']}]}}}", "Pod web-1-x", true},
		"a webhook for other kinds":                  {podHead + strings.Replace(spec, "web:1", "mirror.example.org/web:1", 1) + strings.Replace(webhook, "[pods]", "[services]", 1), "Pod web-1-x", false},
		"a ReplicaSet with another template":         {forgedSet("web-2", `containers: [{name: web, image: "evil:1", args: [serve]}]`), "ReplicaSet web-2", false},
		"a privileged ReplicaSet":                    {forgedSet("web-2", `hostPID: true, containers: [{name: web, image: "web:1", args: [serve]}]`), "ReplicaSet web-2", false},
		"a ReplicaSet with the same template":        {forgedSet("web-2", `containers: [{name: web, image: "web:1", args: [serve]}]`), "ReplicaSet web-2", true},
		"a ReplicaSet of another name":               {forgedSet("evil", `containers: [{name: web, image: "web:1", args: [serve]}]`), "ReplicaSet evil", false},
		"a ReplicaSet makes no Deployments":          {deployment(`{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: rs, controller: true}`), "Deployment d", false},
		"a ConfigMap makes nothing":                  {deployment(`{apiVersion: v1, kind: ConfigMap, name: settings, uid: cm, controller: true}`), "Deployment d", false},
		"the controller of EndpointSlices made it":   {slice("svc", "web", "web", "endpointslice-controller"), "EndpointSlice s", true},
		"nobody keeps the slice":                     {slice("svc", "web", "web", "by-hand"), "EndpointSlice s", false},
		"a slice of a Service without a selector":    {slice("bare", "bare", "bare", "endpointslice-controller"), "EndpointSlice s", false},
		"a slice for another Service than its owner": {slice("svc", "web", "bare", "endpointslice-controller"), "EndpointSlice s", false},
		"Endpoints of a Service with a selector":     {`{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: ns}}`, "Endpoints web", true},
		"Endpoints of a Service without a selector":  {`{apiVersion: v1, kind: Endpoints, metadata: {name: bare, namespace: ns}}`, "Endpoints bare", false},
		"Endpoints of no Service":                    {`{apiVersion: v1, kind: Endpoints, metadata: {name: none, namespace: ns}}`, "Endpoints none", false},
		"Endpoints of a Service elsewhere":           {`{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: other}}`, "Endpoints web", false},
		"Endpoints of a leader election":             {`{apiVersion: v1, kind: Endpoints, metadata: {name: e, namespace: ns, annotations: {control-plane.alpha.kubernetes.io/leader: "{}"}}}`, "Endpoints e", true},
		"Endpoints that only claim an election":      {`{apiVersion: v1, kind: Endpoints, metadata: {name: e, namespace: ns, annotations: {control-plane.alpha.kubernetes.io/leader: "{}"}}, subsets: [{addresses: [{ip: 192.0.2.1}]}]}`, "Endpoints e", false},
		"a static pod's mirror":                      {mirror("node-1", "node", "node-1"), "Pod etcd-node-1", true},
		"a mirror on another node than its owner":    {mirror("node-1", "node", "node-2"), "Pod etcd-node-1", false},
		"a mirror of no node":                        {mirror("node-1", "gone", "node-1"), "Pod etcd-node-1", false},
		"a node owns pods only as their mirrors":     {strings.Replace(mirror("node-1", "node", "node-1"), "config.mirror", "config.other", 1), "Pod etcd-node-1", false},
		"a claim from the set's template":            {pvc("data-db-12", "fast"), "PersistentVolumeClaim data-db-12", true},
		"a claim of another class":                   {pvc("data-db-12", "slow"), "PersistentVolumeClaim data-db-12", false},
		"a claim that has no ordinal":                {pvc("data-db-x", "fast"), "PersistentVolumeClaim data-db-x", false},
		"a claim of another set":                     {pvc("data-web-0", "fast"), "PersistentVolumeClaim data-web-0", false},
		"a revision of a live set":                   {`{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: db-1, namespace: ns, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: sts, controller: true}]}}`, "ControllerRevision db-1", true},
		"a pod of an earlier revision":               {revised("db-0", "db:0", ""), "Pod db-0", true},
		"a pod of no revision":                       {revised("db-0", "evil:0", ""), "Pod db-0", false},
		"a debugged pod of an earlier revision":      {revised("db-0", "db:0", "ephemeralContainers: [{name: d, image: d}], "), "Pod db-0", false},
		"a revision of another set":                  {strings.Replace(revised("db-0", "db:0", ""), "name: db, uid: sts}]}, data", "name: db, uid: other}]}, data", 1), "Pod db-0", false},
		"a pod of another revision":                  {strings.Replace(revised("db-0", "db:0", ""), "hash: db-1", "hash: db-2", 1), "Pod db-0", false},
		"a claim of an ephemeral volume":             {podOwns("spec: {volumes: [{name: tmp, ephemeral: {}}]}", "PersistentVolumeClaim", "v1", "p-tmp"), "PersistentVolumeClaim p-tmp", true},
		"a claim of no ephemeral volume":             {podOwns("spec: {volumes: [{name: tmp, emptyDir: {}}]}", "PersistentVolumeClaim", "v1", "p-tmp"), "PersistentVolumeClaim p-tmp", false},
		"a claim of another name":                    {podOwns("spec: {volumes: [{name: tmp, ephemeral: {}}]}", "PersistentVolumeClaim", "v1", "p-evil"), "PersistentVolumeClaim p-evil", false},
		"a claim on a device":                        {podOwns("spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: t}]}", "ResourceClaim", "resource.k8s.io/v1", "p-gpu-1"), "ResourceClaim p-gpu-1", true},
		"a claim that no pod makes":                  {podOwns("spec: {}", "ResourceClaim", "resource.k8s.io/v1", "p-gpu-1"), "ResourceClaim p-gpu-1", false},
		"a certificate of an Ingress":                {certified("tls"), "Certificate c", true},
		"a certificate for something else":           {certified("evil"), "Certificate c", false},
		"a certificate without a Secret":             {certified(`""`), "Certificate c", false},
		"a revision of nothing":                      {`{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: db-1, namespace: ns}}`, "ControllerRevision db-1", false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r, ok := related(t, owners+tc.object, whole)[tc.name]
			if !ok || (r.SystemOwned != "") != tc.want || len(r.Makers) > 0 {
				t.Errorf("automatic = %q, makers %v, found %t", r.SystemOwned, r.Makers, ok)
			}
		})
	}
}

// revised makes a pod of the StatefulSet db, and the revision of an older template.
func revised(name, image, fields string) string {
	return `{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: db-1, namespace: ns, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: sts}]}, data: {spec: {template: {spec: {containers: [{name: db, image: "db:0"}]}}}}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x, namespace: ns}}
---
{apiVersion: v1, kind: Pod, metadata: {name: ` + name + `, namespace: ns, creationTimestamp: "2026-01-01T10:00:05Z", labels: {app: db, controller-revision-hash: db-1}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: sts, controller: true}]}, spec: {` + fields + `containers: [{name: db, image: "` + image + `"}]}}`
}

// podOwns makes an object that a pod p owns.
func podOwns(spec, kind, version, name string) string {
	return `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, uid: pod}, ` + spec + `}
---
{apiVersion: ` + version + `, kind: ` + kind + `, metadata: {name: ` + name + `, namespace: ns, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: pod, controller: true}]}}`
}

// certified makes a Certificate that an Ingress owns.
func certified(secret string) string {
	return `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i, namespace: ns, uid: ing}, spec: {tls: [{hosts: [a]}, {secretName: tls}]}}
---
{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: c, namespace: ns, ownerReferences: [{apiVersion: networking.k8s.io/v1, kind: Ingress, name: i, uid: ing, controller: true}]}, spec: {secretName: ` + secret + `}}`
}

func slice(uid, owner, service, controller string) string {
	return `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: s, namespace: ns, labels: {kubernetes.io/service-name: ` + service +
		`, endpointslice.kubernetes.io/managed-by: ` + controller + `.k8s.io}, ownerReferences: [{apiVersion: v1, kind: Service, name: ` + owner + `, uid: ` + uid + `, controller: true}]}}`
}

// forgedSet makes a ReplicaSet that names the Deployment web as its owner.
func forgedSet(name, spec string) string {
	return `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: ` + name + `, namespace: ns, creationTimestamp: "2026-01-01T10:00:05Z", labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: dep, controller: true}]}, spec: {template: {spec: {serviceAccountName: web, ` + spec + `}}}}`
}

func mirror(owner, uid, node string) string {
	return `{apiVersion: v1, kind: Pod, metadata: {name: etcd-node-1, namespace: ns, annotations: {kubernetes.io/config.mirror: x}, ownerReferences: [{apiVersion: v1, kind: Node, name: ` +
		owner + `, uid: ` + uid + `, controller: true}]}, spec: {nodeName: ` + node + `, hostNetwork: true, containers: [{name: etcd, image: etcd}]}}`
}

func pvc(name, class string) string {
	return `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: ` + name + `, namespace: ns}, spec: {storageClassName: ` + class + `, accessModes: [ReadWriteOnce]}}`
}

// The API server counts the changes of a specification: managedFields with other
// times, or none, do not let a template have held anything else before.
func TestTemplatesThatNeverChanged(t *testing.T) {
	t.Parallel()
	for _, written := range []string{"", "2026-01-01T10:00:05Z", "2099-01-01T00:00:00Z"} {
		for generation, want := range map[string]bool{"1": false, "2": true} {
			record := ""
			if written != "" {
				record = `, managedFields: [{manager: m, operation: Update, time: "` + written + `", fieldsV1: {"f:spec": {"f:template": {}}}}]`
			}
			r := related(t, `
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: d, namespace: ns, uid: d, generation: `+generation+record+`}, spec: {template: {spec: {containers: [{name: web, image: "web:1"}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: d-0, namespace: ns, creationTimestamp: "2026-01-01T10:00:05Z", ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: d, uid: d, controller: true}]}, spec: {containers: [{name: web, image: "evil:1"}]}}
`, whole)["Pod d-0"]
			if got := r.SystemOwned != ""; got != want {
				t.Errorf("written %q, generation %s: automatic = %q", written, generation, r.SystemOwned)
			}
		}
	}
}

// A pod that names a revision holds its template, whenever the set's own was
// written.
func TestPodsOfARevision(t *testing.T) {
	t.Parallel()
	late := strings.Replace(owners, `uid: sts, managedFields: [{manager: m, operation: Update, time: "2026-01-01T10:00:01Z"`, `uid: sts, managedFields: [{manager: m, operation: Update, time: "2099-01-01T10:00:01Z"`, 1)
	for image, want := range map[string]bool{"db:0": true, "evil:1": false} {
		if r := related(t, late+revised("db-0", image, ""), whole)["Pod db-0"]; (r.SystemOwned != "") != want {
			t.Errorf("%s: automatic = %q", image, r.SystemOwned)
		}
	}
}

// A template that was written after a pod was made can have held anything then:
// a rollout is no drift. Those of ReplicaSets that a Deployment made, and of Jobs,
// are never written again.
func TestPodsOfAnOlderTemplate(t *testing.T) {
	t.Parallel()
	const old, privileged = `[{name: web, image: "old:1"}]`, `[{name: web, image: "old:1", securityContext: {privileged: true}}]`
	const deployment = `, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: d, uid: x, controller: true}]`
	for reason, tc := range map[string]struct {
		kind, owner, written, pod string
		want                      bool
	}{
		"written later":                           {"apps/v1, kind: DaemonSet", "", "10:00:06", privileged, true},
		"written before":                          {"apps/v1, kind: DaemonSet", "", "10:00:04", old, false},
		"written in the same second":              {"apps/v1, kind: DaemonSet", "", "10:00:05", old, true},
		"in the same second, but with more power": {"apps/v1, kind: DaemonSet", "", "10:00:05", privileged, false},
		"a ReplicaSet of its own":                 {"apps/v1, kind: ReplicaSet", "", "10:00:06", old, true},
		"a ReplicaSet of a Deployment":            {"apps/v1, kind: ReplicaSet", deployment, "10:00:06", old, false},
		"a Job":                                   {"batch/v1, kind: Job", "", "10:00:06", old, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			_, kind, _ := strings.Cut(tc.kind, "kind: ")
			r := related(t, `
{apiVersion: `+tc.kind+`, metadata: {name: d, namespace: ns, uid: d, managedFields: [{manager: m, operation: Update, time: "2026-01-01T`+tc.written+`Z", fieldsV1: {"f:spec": {"f:template": {}}}}]`+tc.owner+`}, spec: {selector: {matchLabels: {app: d}}, template: {spec: {containers: [{name: web, image: "new:1"}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: d-x, namespace: ns, labels: {app: d}, creationTimestamp: "2026-01-01T10:00:05Z", ownerReferences: [{apiVersion: `+tc.kind[:strings.Index(tc.kind, ",")]+`, kind: `+kind+`, name: d, uid: d, controller: true}]}, spec: {containers: `+tc.pod+`}}
`, whole)["Pod d-x"]
			if (r.SystemOwned != "") != tc.want {
				t.Errorf("automatic = %q", r.SystemOwned)
			}
		})
	}
}

// Any client can name a custom resource as an owner: it accounts for what its
// controller may have made, and for nothing that could take over the cluster.
func TestOwnedByCustomResources(t *testing.T) {
	t.Parallel()
	const ref = `ownerReferences: [{apiVersion: example.org/v1, kind: Widget, name: w, uid: widget}]`
	deployment := func(pod, fields string) string {
		return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: ns, ` + ref + fields + `}, spec: {template: {spec: ` + pod + `}}}`
	}
	binding := func(role, subject string) string {
		return `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: d, namespace: ns, ` + ref + `}, roleRef: {kind: ClusterRole, name: ` + role + `}, subjects: [` + subject + `]}`
	}
	role := func(rule string) string {
		return `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: d, namespace: ns, ` + ref + `}, rules: [` + rule + `]}`
	}
	const plain = `{containers: [{name: a, image: a}]}`
	widget := []model.Ref{{Kind: "kubernetes/Widget.example.org", ID: "ns/w"}}
	for reason, tc := range map[string]struct {
		object, name string
		want         []model.Ref
	}{
		"what applies anything":   {`{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: d, namespace: ns, ` + ref + `}}`, "HelmRelease d", nil},
		"another custom resource": {`{apiVersion: example.org/v1, kind: Gadget, metadata: {name: d, namespace: ns, ` + ref + `}}`, "Gadget d", widget},
		"an application of an ApplicationSet": {`{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, metadata: {name: set, namespace: ns, uid: set}}
---
{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: d, namespace: ns, ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: set, uid: set}]}}`, "Application d", []model.Ref{{Kind: "kubernetes/ApplicationSet.argoproj.io", ID: "ns/set"}}},
		"an ordinary workload":          {deployment(plain, ""), "Deployment d", widget},
		"written by an operator":        {deployment(plain, `, managedFields: [{manager: widget-operator, operation: Update, fieldsV1: {"f:spec": {}}}]`), "Deployment d", widget},
		"written with kubectl":          {deployment(plain, `, managedFields: [{manager: kubectl-create, operation: Update, fieldsV1: {"f:spec": {}}}, {manager: x, operation: Update, subresource: status, fieldsV1: {}}]`), "Deployment d", nil},
		"touched with kubectl":          {deployment(plain, `, managedFields: [{manager: kubectl-label, operation: Update, time: '2026-01-01T10:00:09Z', fieldsV1: {}}, {manager: widget-operator, operation: Update, fieldsV1: {"f:spec": {}}}]`), "Deployment d", widget},
		"an owner in another namespace": {strings.NewReplacer("name: w,", "name: far,", "uid: widget", "uid: far").Replace(deployment(plain, "")), "Deployment d", nil},
		"on the host's network":         {deployment(`{hostNetwork: true, containers: [{name: a, image: a}]}`, ""), "Deployment d", nil},
		"with the host's processes":     {deployment(`{hostPID: true, containers: [{name: a, image: a}]}`, ""), "Deployment d", nil},
		"with a path of the host":       {deployment(`{volumes: [{name: v, hostPath: {path: /}}], containers: [{name: a, image: a}]}`, ""), "Deployment d", nil},
		"with all capabilities":         {deployment(`{containers: [{name: a, image: a, securityContext: {capabilities: {add: [ALL]}}}]}`, ""), "Deployment d", nil},
		"with a harmless capability":    {deployment(`{containers: [{name: a, image: a, securityContext: {capabilities: {add: [NET_BIND_SERVICE]}}}]}`, ""), "Deployment d", widget},
		"a privileged init container":   {deployment(`{initContainers: [{name: i, image: i, securityContext: {privileged: true}}], containers: [{name: a, image: a}]}`, ""), "Deployment d", nil},
		"a Windows host process":        {deployment(`{securityContext: {windowsOptions: {hostProcess: true}}, containers: [{name: a, image: a}]}`, ""), "Deployment d", nil},
		"an unmasked /proc":             {deployment(`{containers: [{name: a, image: a, securityContext: {procMount: Unmasked}}]}`, ""), "Deployment d", nil},
		"rights for its account":        {binding("view", `{kind: ServiceAccount, name: a}`), "RoleBinding d", widget},
		"all rights for its account":    {binding("cluster-admin", `{kind: ServiceAccount, name: a}`), "RoleBinding d", nil},
		"rights for a person":           {binding("view", `{kind: User, name: mallory}`), "RoleBinding d", nil},
		"rights for another namespace":  {binding("view", `{kind: ServiceAccount, name: a, namespace: other}`), "RoleBinding d", nil},
		"a narrow role":                 {role(`{apiGroups: [""], resources: [pods], verbs: [get]}`), "Role d", widget},
		"every resource":                {role(`{apiGroups: [""], resources: ["*"], verbs: [get]}`), "Role d", nil},
		"a role that gives itself more": {role(`{apiGroups: [""], resources: [roles], verbs: [escalate]}`), "Role d", nil},
		"an ordinary Secret":            {`{apiVersion: v1, kind: Secret, metadata: {name: d, namespace: ns, ` + ref + `}}`, "Secret d", widget},
		"a token of a service account":  {`{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: d, namespace: ns, ` + ref + `}}`, "Secret d", nil},
		"a token that joins nodes":      {`{apiVersion: v1, kind: Secret, type: bootstrap.kubernetes.io/token, metadata: {name: d, namespace: ns, ` + ref + `}}`, "Secret d", nil},
		"a webhook":                     {`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: d, namespace: ns, ` + ref + `}}`, "ValidatingWebhookConfiguration d", nil},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r, ok := related(t, owners+tc.object, whole)[tc.name]
			if diff := cmp.Diff(tc.want, r.Makers); diff != "" || r.SystemOwned != "" || !ok {
				t.Errorf("automatic = %q, found %t; makers (-want +got):\n%s", r.SystemOwned, ok, diff)
			}
		})
	}
}

// TestOwnersThatWereNotRead tests objects whose owners are of a kind that was not read: they
// are not reported, unless they are dangerous.
func TestOwnersThatWereNotRead(t *testing.T) {
	t.Parallel()
	unread := func(kind, _ string) bool {
		return kind != "kubernetes/ReplicaSet.apps" && kind != "kubernetes/Service" && kind != "kubernetes/Certificate.cert-manager.io"
	}
	pod := strings.Replace(podHead, "uid: rs", "uid: unread", 1)
	for reason, tc := range map[string]struct {
		object, name string
		want         bool
	}{
		"an ordinary pod":                           {pod + `spec: {containers: [{name: a, image: a}]}`, "Pod web-1-x", true},
		"a privileged pod":                          {pod + `spec: {hostPID: true, containers: [{name: a, image: a}]}`, "Pod web-1-x", false},
		"Endpoints of a Service":                    {`{apiVersion: v1, kind: Endpoints, metadata: {name: unread, namespace: ns}}`, "Endpoints unread", true},
		"Endpoints of a Service without a selector": {`{apiVersion: v1, kind: Endpoints, metadata: {name: bare, namespace: ns}}`, "Endpoints bare", false},
		"an issued certificate":                     {`{apiVersion: v1, kind: Secret, type: kubernetes.io/tls, metadata: {name: tls, namespace: ns, annotations: {cert-manager.io/certificate-name: c}}}`, "Secret tls", true},
		"another certificate":                       {`{apiVersion: v1, kind: Secret, type: kubernetes.io/tls, metadata: {name: tls, namespace: ns}}`, "Secret tls", false},
		"no certificate":                            {`{apiVersion: v1, kind: Secret, type: Opaque, metadata: {name: tls, namespace: ns, annotations: {cert-manager.io/certificate-name: c}}}`, "Secret tls", false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if r := related(t, owners+tc.object, unread)[tc.name]; (r.SystemOwned != "") != tc.want {
				t.Errorf("automatic = %q", r.SystemOwned)
			}
		})
	}
}

// Pods end with their owner, after a while.
func TestObjectsThatEnd(t *testing.T) {
	t.Parallel()
	pod := strings.Replace(podHead, "uid: rs", "uid: gone", 1) + `spec: {containers: [{name: a, image: a}]}`
	ending := func(fields string) string { return strings.Replace(pod, "namespace: ns", "namespace: ns, "+fields, 1) }
	const deleted = `deletionTimestamp: "2026-01-01T11:00:00Z"`
	for reason, tc := range map[string]struct {
		object string
		want   bool
	}{
		"not deleted":       {pod, false},
		"deleted":           {ending(deleted + ", deletionGracePeriodSeconds: 30"), true},
		"at once":           {ending(deleted), true},
		"the longest grace": {ending(deleted + ", deletionGracePeriodSeconds: 300"), true},
		"in a day":          {ending(deleted + ", deletionGracePeriodSeconds: 301"), false},
		"kept":              {ending(deleted + ", finalizers: [example.org/keep]"), false},
		"only with a grace": {ending("deletionGracePeriodSeconds: 30"), false},
		"privileged":        {strings.Replace(ending(deleted), "spec: {", "spec: {hostPID: true, ", 1), false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if r := related(t, owners+tc.object, whole)["Pod web-1-x"]; (r.SystemOwned != "") != tc.want {
				t.Errorf("automatic = %q", r.SystemOwned)
			}
		})
	}
}

func TestCertificateSecrets(t *testing.T) {
	t.Parallel()
	const certificate = `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: site, namespace: ns}, spec: {secretName: tls}}`
	site := []model.Ref{{Kind: "kubernetes/Certificate.cert-manager.io", ID: "ns/site"}}
	for reason, tc := range map[string]struct {
		secret string
		want   []model.Ref
	}{
		"the certificate asks for it": {`{apiVersion: v1, kind: Secret, type: kubernetes.io/tls, metadata: {name: tls, namespace: ns}}`, site},
		"it holds no certificate":     {`{apiVersion: v1, kind: Secret, type: Opaque, metadata: {name: tls, namespace: ns, annotations: {cert-manager.io/certificate-name: site}}}`, nil},
		"nobody asks for it":          {`{apiVersion: v1, kind: Secret, type: kubernetes.io/tls, metadata: {name: other, namespace: ns, annotations: {cert-manager.io/certificate-name: site}}}`, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			for name, r := range related(t, certificate+"\n---\n"+tc.secret, whole) {
				if diff := cmp.Diff(tc.want, r.Makers); strings.HasPrefix(name, "Secret") && (diff != "" || r.SystemOwned != "") {
					t.Errorf("automatic = %q, makers (-want +got):\n%s", r.SystemOwned, diff)
				}
			}
		})
	}
}
