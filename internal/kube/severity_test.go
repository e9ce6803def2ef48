package kube_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// An unmanaged workload that may take over its node is never low.
func TestSeverityOfUnmanagedObjects(t *testing.T) {
	t.Parallel()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	pod := func(spec string) string {
		return `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ns}, spec: ` + spec + `}`
	}
	template := func(kind, spec string) string {
		return `{apiVersion: apps/v1, kind: ` + kind + `, metadata: {name: a, namespace: ns}, spec: {template: {spec: ` + spec + `}}}`
	}
	container := func(list, context string) string {
		return `{` + list + `: [{name: x}, {name: y, securityContext: ` + context + `}]}`
	}
	network := func(ingress string) string {
		return `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {}, ingress: ` + ingress + `}}`
	}
	role := func(rules string) string {
		return `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}, rules: ` + rules + `}`
	}
	binding := func(kind, role, subject string) string {
		subjects := `[{kind: User, name: "` + subject + `"}]`
		if subject == "" {
			subjects = `[]`
		}
		return `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: a}, roleRef: {kind: ` + kind + `, name: ` + role + `}, subjects: ` + subjects + `}`
	}
	for reason, tc := range map[string]struct {
		object string
		want   model.Severity
	}{
		"an ordinary pod":             {pod(`{containers: [{name: a, securityContext: {privileged: false, capabilities: {add: [NET_BIND_SERVICE]}}}], volumes: [{name: v, emptyDir: {}}]}`), low},
		"a privileged pod":            {pod(container("containers", `{privileged: true}`)), critical},
		"a privileged init container": {pod(container("initContainers", `{privileged: true}`)), critical},
		"a privileged debugger":       {pod(container("ephemeralContainers", `{privileged: true}`)), critical},
		"the host's network":          {pod(`{hostNetwork: true}`), critical},
		"the host's processes":        {pod(`{hostPID: true}`), critical},
		"the host's memory":           {pod(`{hostIPC: true}`), critical},
		"the host's users":            {pod(`{hostUsers: true}`), low},
		"the host's files":            {pod(`{volumes: [{name: e, emptyDir: {}}, {name: v, hostPath: {path: /}}]}`), critical},
		"all capabilities":            {pod(container("containers", `{capabilities: {add: [ALL]}}`)), critical},
		"a strong capability":         {pod(container("containers", `{capabilities: {add: [CHOWN, CAP_SYS_ADMIN]}}`)), critical},
		"dropped capabilities":        {pod(container("containers", `{capabilities: {drop: [ALL]}}`)), low},
		"a Windows host process":      {pod(`{securityContext: {windowsOptions: {hostProcess: true}}}`), critical},
		"an unmasked /proc":           {pod(container("containers", `{procMount: Unmasked}`)), high},
		"a masked /proc":              {pod(container("containers", `{procMount: Default}`)), low},
		"a Deployment":                {template("Deployment", `{hostPID: true}`), critical},
		"a plain Deployment":          {template("Deployment", `{containers: [{name: a}]}`), low},
		"a DaemonSet":                 {template("DaemonSet", `{hostPID: true}`), critical},
		"a StatefulSet":               {template("StatefulSet", `{hostPID: true}`), critical},
		"a ReplicaSet":                {template("ReplicaSet", `{hostPID: true}`), critical},
		"a Job":                       {`{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {hostPID: true}}}}`, critical},
		"a CronJob":                   {`{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {jobTemplate: {spec: {template: {spec: {hostPID: true}}}}}}`, critical},
		"a plain CronJob":             {`{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {jobTemplate: {spec: {template: {spec: {}}}}}}`, low},
		"a token of an account":       {`{apiVersion: v1, kind: Secret, metadata: {name: a}, type: kubernetes.io/service-account-token}`, high},
		"a token that joins nodes":    {`{apiVersion: v1, kind: Secret, metadata: {name: a}, type: bootstrap.kubernetes.io/token}`, high},
		"an ordinary secret":          {`{apiVersion: v1, kind: Secret, metadata: {name: a}, type: Opaque}`, low},
		"Endpoints":                   {`{apiVersion: v1, kind: Endpoints, metadata: {name: a}}`, high},
		"an EndpointSlice":            {`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a}}`, high},
		"an admission policy":         {`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: a}}`, high},
		"a webhook":                   {`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}}`, high},
		"a binding":                   {`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: a}}`, high},
		"a node's device plugins":     {pod(`{volumes: [{name: v, hostPath: {path: /var/lib/kubelet/device-plugins}}]}`), high},
		"a folder above the pods":     {pod(`{volumes: [{name: v, hostPath: {path: /var//lib/}}]}`), critical},
		"the runtime's socket":        {pod(`{volumes: [{name: v, hostPath: {path: /run/containerd/containerd.sock}}]}`), critical},
		"a weaker capability":         {pod(container("containers", `{capabilities: {add: [cap_net_admin]}}`)), high},
		"kubectl run":                 {`{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {run: a}}, spec: {containers: [{name: a, image: nginx}]}}`, high},
		"a terminal":                  {pod(`{containers: [{name: a, tty: true}]}`), high},
		"standard input":              {pod(`{containers: [{name: a, stdin: true}]}`), high},
		"a shell":                     {pod(`{containers: [{name: a, command: [/bin/bash, -c, "curl x | sh"]}]}`), high},
		"a pod that waits":            {pod(`{containers: [{name: a, args: [sleep, infinity]}]}`), high},
		"another command":             {pod(`{containers: [{name: a, command: [/server, sh.example]}]}`), low},
		"a debugged pod":              {pod(`{containers: [{name: a}], ephemeralContainers: [{name: debugger}]}`), high},
		"a Deployment with a shell":   {template("Deployment", `{containers: [{name: a, command: [sh]}]}`), low},
		"a network policy":            {network(`[{from: [{podSelector: {}}]}]`), high},
		"a policy for the world":      {network(`[{from: [{podSelector: {}}]}, {from: [{ipBlock: {cidr: 0.0.0.0/0}}]}]`), critical},
		"a policy for half of it":     {network(`[{from: [{ipBlock: {cidr: "128.0.0.0/1"}}]}]`), critical},
		"a policy for all of IPv6":    {network(`[{from: [{ipBlock: {cidr: "::0/0"}}]}]`), critical},
		"a policy without a source":   {network(`[{ports: [{port: 80}]}]`), critical},
		"a policy that lets none in":  {network(`[]`), high},
		"a load balancer":             {`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: LoadBalancer}}`, high},
		"an open load balancer":       {`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8, 0.0.0.0/0]}}`, critical},
		"external addresses":          {`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {externalIPs: [192.0.2.1]}}`, high},
		"a service":                   {`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: ClusterIP}}`, low},
		"a role with all rights":      {role(`[{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`), critical},
		"a role for the core group":   {role(`[{apiGroups: [apps], resources: [deployments], verbs: [get]}, {apiGroups: [""], resources: ["*"], verbs: [create, delete]}]`), critical},
		"a role that reads all":       {role(`[{apiGroups: ["*"], resources: ["*"], verbs: [get, list, watch]}]`), high},
		"a role for one group":        {role(`[{apiGroups: [example.com], resources: ["*"], verbs: ["*"]}]`), high},
		"a role of two halves":        {role(`[{apiGroups: ["*"], resources: [pods], verbs: ["*"]}, {apiGroups: ["*"], resources: ["*"], verbs: [get]}]`), high},
		"cluster-admin":               {binding("ClusterRole", "cluster-admin", "ann"), critical},
		"a role of that name":         {binding("Role", "cluster-admin", "ann"), high},
		"cluster-admin for nobody":    {binding("ClusterRole", "cluster-admin", ""), high},
		"a right for everybody":       {binding("ClusterRole", "view", "system:unauthenticated"), critical},
		"a right for somebody":        {binding("ClusterRole", "view", "ann"), high},
		"grants of Argo CD":           {`{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-rbac-cm, namespace: gitops}, data: {policy.default: "role:admin"}}`, high},
		"users of AWS":                {`{apiVersion: v1, kind: ConfigMap, metadata: {name: aws-auth, namespace: kube-system}, data: {mapUsers: "[]"}}`, high},
		"no users of AWS":             {`{apiVersion: v1, kind: ConfigMap, metadata: {name: aws-auth, namespace: ns}, data: {mapUsers: "[]"}}`, low},
		"a ConfigMap":                 {`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`, low},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r := resource(t, tc.object)
			kind := kinds[r.Kind]
			if kind == nil {
				t.Fatalf("%s is not known", r.Kind)
			}
			f := finding(kind, &r, nil)
			if f.Severity != tc.want {
				t.Errorf("%s because %q", f.Severity, f.Reason)
			}
			if privileged := kube.Privileged(&r); privileged && f.Severity.Rank() > high.Rank() {
				t.Error("a privileged workload is not rated high")
			}
		})
	}
}

const critical, high, medium, low = model.Critical, model.High, model.Medium, model.Low

// finding returns the worst finding on an object that is live, or on its claim.
func finding(kind *model.Kind, live *model.Resource, claim *model.Claim, others ...*model.Claim) model.Finding {
	s := &model.Subject{Kind: kind, Live: live}
	if claim == nil {
		s.Key, s.UndeclaredBy = live.Key, [][]string{{"shop"}}
	} else {
		s.Key, s.Claims = model.Key{Kind: claim.Kind, ID: claim.ID}, append([]*model.Claim{claim}, others...)
	}
	found := classify.Findings(classify.Input{Judged: []model.Judged{diff.Judge(s, diff.Options{})}}).Current
	if len(found) == 0 {
		return model.Finding{}
	}
	return found[0]
}

// Network policies of Cilium and Calico are rated like those of Kubernetes.
func TestSeverityOfCustomPolicies(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		kind, ingress string
		want          model.Severity
	}{
		"a network":                {"CiliumNetworkPolicy.cilium.io", `[{fromCIDR: [10.0.0.0/8]}]`, high},
		"the world":                {"CiliumNetworkPolicy.cilium.io", `[{fromCIDR: [10.0.0.0/8]}, {fromCIDR: [0.0.0.0/0]}]`, critical},
		"the world in a set":       {"CiliumClusterwideNetworkPolicy.cilium.io", `[{fromCIDRSet: [{cidr: "::/0"}]}]`, critical},
		"the entity of the world":  {"CiliumNetworkPolicy.cilium.io", `[{fromEntities: [cluster, world]}]`, critical},
		"another entity":           {"CiliumNetworkPolicy.cilium.io", `[{fromEntities: [cluster]}]`, high},
		"the world, denied":        {"GlobalNetworkPolicy.crd.projectcalico.org", `[{action: Deny}, {action: Allow, source: {nets: [10.0.0.0/8]}}]`, high},
		"the world, allowed":       {"GlobalNetworkPolicy.crd.projectcalico.org", `[{action: Allow, source: {nets: [0.0.0.0/0]}}]`, critical},
		"without a source":         {"NetworkPolicy.projectcalico.org", `[{action: Allow, destination: {ports: [80]}}]`, critical},
		"with a selector":          {"NetworkPolicy.projectcalico.org", `[{action: Allow, source: {selector: a}}]`, high},
		"a policy of another kind": {"Policy.example.org", `[{action: Allow}]`, low},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			name, group, _ := strings.Cut(tc.kind, ".")
			crd := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}, spec: {group: ` + group + `, names: {kind: ` + name +
				`}, scope: Cluster, versions: [{name: v1, storage: true, served: true, schema: {openAPIV3Schema: {type: object}}}]}}`
			r := resource(t, `{apiVersion: `+group+`/v1, kind: `+name+`, metadata: {name: a}, spec: {ingress: `+tc.ingress+`}}`)
			if f := finding(kube.KindsFromCRD(object(t, crd))[r.Kind], &r, nil); f.Severity != tc.want {
				t.Errorf("%s because %q", f.Severity, f.Reason)
			}
		})
	}
}

// TestSeverityOfChanges tests that the live value determines the severity of a change, and
// not the same rule elsewhere in the object.
func TestSeverityOfChanges(t *testing.T) {
	t.Parallel()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for kind, tests := range changedObjects {
		for reason, tc := range tests {
			t.Run(kind+" "+reason, func(t *testing.T) {
				t.Parallel()
				about := `{apiVersion: ` + strings.ReplaceAll(kind, " ", `, kind: `) + `, metadata: {name: x, namespace: ns}, `
				if strings.HasSuffix(kind, "ConfigMap") {
					about = strings.ReplaceAll(about, `metadata: {name: x, namespace: ns}, `, "")
				}
				c := claim(t, about+tc.declared+"}", kinds)
				var live *model.Resource
				if tc.live != "" {
					r := resource(t, about+tc.live+"}")
					live = &r
				}
				f := finding(kinds[c.Kind], live, &c)
				if f.Severity != tc.want {
					t.Errorf("%s %s because %q, want %s: %v", f.Severity, f.Verdict, f.Reason, tc.want, f.Changes)
				}
				worst := tc.field == ""
				for _, change := range f.Changes {
					worst = worst || change.Path == tc.field && change.Severity == f.Severity
				}
				if !worst {
					t.Errorf("%s is not the worst: %v", tc.field, f.Changes)
				}
			})
		}
	}
}

// That two declarations dispute a field makes an edit of it no milder.
func TestSeverityOfDisputedChanges(t *testing.T) {
	t.Parallel()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	running := func(image string) string {
		return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {template: {spec: {containers: [{name: a, image: ` + image + `}]}}}}`
	}
	first, second := claim(t, running("x"), kinds), claim(t, running("y"), kinds)
	first.Declaration, second.Declaration = "a", "b"
	live := resource(t, running("z"))
	if f := finding(kinds[first.Kind], &live, &first, &second); f.Verdict != model.Disputed || f.Severity != high {
		t.Errorf("%s %s because %q, want disputed, high: %v", f.Severity, f.Verdict, f.Reason, f.Changes)
	}
}
