package kube_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// changedObjects are declared and live parts of objects by "apiVersion kind"; live is ""
// where the object is gone. field is the change that must have the severity of the
// finding; "" for any.
var changedObjects = map[string]map[string]struct {
	declared, live string
	want           model.Severity
	field          string
}{
	"networking.k8s.io/v1 NetworkPolicy": {
		"opened": {`spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}`,
			`spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}]}]}`, critical, "spec.ingress[0].from[0].ipBlock.cidr"},
		"closed": {`spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}]}]}`,
			`spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}`, high, ""},
		"another rule beside an open one": {`spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}]}, {from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}`,
			`spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}]}, {from: [{ipBlock: {cidr: 10.1.0.0/16}}]}]}`, high, ""},
		"a second open rule": {`spec: {podSelector: {}, ingress: [{ports: [{port: 80}], from: [{ipBlock: {cidr: 0.0.0.0/0}}]}]}`,
			`spec: {podSelector: {}, ingress: [{ports: [{port: 80}], from: [{ipBlock: {cidr: 0.0.0.0/0}}]}, {ports: [{port: 22}], from: [{ipBlock: {cidr: "::/0"}}]}]}`, critical, ""},
		"another open port": {`spec: {podSelector: {}, ingress: [{ports: [{port: 80}], from: [{ipBlock: {cidr: 0.0.0.0/0}}]}]}`,
			`spec: {podSelector: {}, ingress: [{ports: [{port: 22}], from: [{ipBlock: {cidr: 0.0.0.0/0}}]}]}`, critical, ""},
		"a second source": {`spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}]}]}`,
			`spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}, {ipBlock: {cidr: 0.0.0.0/0}}]}]}`, critical, ""},
		"the sources removed": {`spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}]}]}`, `spec: {podSelector: {}, ingress: [{}]}`, critical, ""},
		"one of two sources removed": {`spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}, {ipBlock: {cidr: 10.0.0.0/8}}]}]}`,
			`spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}]}]}`, high, ""},
		"a source removed beside an open one": {`spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: 10.0.0.0/8}}]}]}`,
			`spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}]}]}`, high, ""},
		"a rule removed beside an open one": {`spec: {podSelector: {}, ingress: [{}, {from: [{podSelector: {}}]}]}`, `spec: {podSelector: {}, ingress: [{}]}`, high, ""},
		"rules for all that had none":       {`spec: {podSelector: {}, policyTypes: [Ingress]}`, `spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{}]}`, critical, ""},
		"egress": {`spec: {podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}`,
			`spec: {podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0}}]}]}`, high, ""},
		"for egress alone now":  {`spec: {podSelector: {}, policyTypes: [Ingress, Egress]}`, `spec: {podSelector: {}, policyTypes: [Egress]}`, critical, ""},
		"for ingress alone now": {`spec: {podSelector: {}, policyTypes: [Ingress, Egress]}`, `spec: {podSelector: {}, policyTypes: [Ingress]}`, high, ""},
		"gone":                  {`spec: {podSelector: {}}`, ``, critical, ""},
		"gone, and of egress":   {`spec: {podSelector: {}, policyTypes: [Egress]}`, ``, high, ""},
	},
	"rbac.authorization.k8s.io/v1 Role": {
		"all rights":           {`rules: [{apiGroups: ["*"], resources: [pods], verbs: ["*"]}]`, `rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`, critical, ""},
		"less than all rights": {`rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`, `rules: [{apiGroups: ["*"], resources: [pods], verbs: ["*"]}]`, high, ""},
		"a rule beside all rights": {`rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}, {apiGroups: [""], resources: [pods], verbs: [get]}]`,
			`rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}, {apiGroups: [""], resources: [pods], verbs: [list]}]`, high, ""},
		"a rule added": {`rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]`,
			`rules: [{apiGroups: [""], resources: [pods], verbs: [get]}, {apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`, critical, ""},
		"gone": {`rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`, ``, high, ""},
	},
	"rbac.authorization.k8s.io/v1 ClusterRoleBinding": {
		"another subject": {`roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: User, name: ann}]`,
			`roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: User, name: ann}, {kind: User, name: eve}]`, critical, ""},
		"a subject less": {`roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: User, name: ann}, {kind: User, name: eve}]`,
			`roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: User, name: ann}]`, high, ""},
		"everybody": {`roleRef: {kind: ClusterRole, name: view}, subjects: [{kind: User, name: ann}]`,
			`roleRef: {kind: ClusterRole, name: view}, subjects: [{kind: User, name: ann}, {kind: Group, name: "system:unauthenticated"}]`, critical, ""},
		"another beside everybody": {`roleRef: {kind: ClusterRole, name: view}, subjects: [{kind: Group, name: "system:unauthenticated"}]`,
			`roleRef: {kind: ClusterRole, name: view}, subjects: [{kind: Group, name: "system:unauthenticated"}, {kind: User, name: ann}]`, high, ""},
	},
	"v1 Service": {
		"opened":              {`spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8]}`, `spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8, 0.0.0.0/0]}`, critical, ""},
		"replaced":            {`spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8]}`, `spec: {type: LoadBalancer, loadBalancerSourceRanges: [0.0.0.0/0]}`, critical, ""},
		"closed":              {`spec: {type: LoadBalancer, loadBalancerSourceRanges: [0.0.0.0/0]}`, `spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8]}`, high, ""},
		"no ranges":           {`spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8]}`, `spec: {type: LoadBalancer}`, critical, ""},
		"fewer ranges":        {`spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8, 192.0.2.0/24]}`, `spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8]}`, high, ""},
		"an external address": {`spec: {type: ClusterIP}`, `spec: {type: ClusterIP, externalIPs: [192.0.2.1]}`, high, ""},
	},
	"apps/v1 Deployment": {
		"a privileged container": {`spec: {replicas: 2, template: {spec: {containers: [{name: a, image: x}]}}}`,
			`spec: {replicas: 3, template: {spec: {containers: [{name: a, image: x, securityContext: {privileged: true}}]}}}`, critical,
			"spec.template.spec.containers[name=a].securityContext.privileged"},
		"no privileged container": {`spec: {template: {spec: {containers: [{name: a, image: x, securityContext: {privileged: true}}]}}}`,
			`spec: {template: {spec: {containers: [{name: a, image: x, securityContext: {privileged: false}}]}}}`, high, ""},
		"an image beside a privileged container": {`spec: {template: {spec: {containers: [{name: a, image: x, securityContext: {privileged: true}}, {name: b, image: y}]}}}`,
			`spec: {template: {spec: {containers: [{name: a, image: x, securityContext: {privileged: true}}, {name: b, image: z}]}}}`, high, ""},
		"a container": {`spec: {template: {spec: {containers: [{name: a, image: x}]}}}`,
			`spec: {template: {spec: {containers: [{name: a, image: x}, {name: b, image: y}]}}}`, high, "spec.template.spec.containers[name=b]"},
		"an init container": {`spec: {template: {spec: {containers: [{name: a, image: x}]}}}`,
			`spec: {template: {spec: {containers: [{name: a, image: x}], initContainers: [{name: b, image: y}]}}}`, high, "spec.template.spec.initContainers[name=b]"},
		"a privileged container added": {`spec: {template: {spec: {containers: [{name: a, image: x}]}}}`,
			`spec: {template: {spec: {containers: [{name: a, image: x}, {name: b, image: y, securityContext: {capabilities: {add: [SYS_ADMIN]}}}]}}}`, critical, "spec.template.spec.containers[name=b]"},
		"a command": {`spec: {template: {spec: {containers: [{name: a, image: x}]}}}`,
			`spec: {template: {spec: {containers: [{name: a, image: x, command: [sh]}]}}}`, high, ""},
		"a limit": {`spec: {template: {spec: {containers: [{name: a, image: x, resources: {limits: {cpu: "1"}}}]}}}`,
			`spec: {template: {spec: {containers: [{name: a, image: x, resources: {limits: {cpu: "2"}}}]}}}`, medium, ""},
		"the host's network": {`spec: {template: {spec: {containers: [{name: a, image: x}]}}}`,
			`spec: {template: {spec: {hostNetwork: true, containers: [{name: a, image: x}]}}}`, critical, "spec.template.spec.hostNetwork"},
		"a capability": {`spec: {template: {spec: {containers: [{name: a, image: x, securityContext: {capabilities: {add: [CHOWN]}}}]}}}`,
			`spec: {template: {spec: {containers: [{name: a, image: x, securityContext: {capabilities: {add: [CHOWN, ALL]}}}]}}}`, critical, ""},
		"a capability beside a strong one": {`spec: {template: {spec: {containers: [{name: a, image: x, securityContext: {capabilities: {add: [ALL]}}}]}}}`,
			`spec: {template: {spec: {containers: [{name: a, image: x, securityContext: {capabilities: {add: [ALL, CHOWN]}}}]}}}`, high, ""},
		"the host's files": {`spec: {template: {spec: {containers: [{name: a, image: x}]}}}`,
			`spec: {template: {spec: {containers: [{name: a, image: x}], volumes: [{name: v, hostPath: {path: /}}]}}}`, critical, ""},
		"the host's logs": {`spec: {template: {spec: {containers: [{name: a, image: x}]}}}`,
			`spec: {template: {spec: {containers: [{name: a, image: x}], volumes: [{name: v, hostPath: {path: /var/log}}]}}}`, high, ""},
	},
	"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration": {
		"gone":                     {`webhooks: [{name: a.b.c, failurePolicy: Fail}]`, ``, critical, ""},
		"gone, and it failed open": {`webhooks: [{name: a.b.c, failurePolicy: Ignore}]`, ``, high, ""},
		"one gone":                 {`webhooks: [{name: a.b.c}, {name: d.b.c}]`, `webhooks: [{name: a.b.c}]`, critical, ""},
		"one more":                 {`webhooks: [{name: a.b.c}]`, `webhooks: [{name: a.b.c}, {name: d.b.c}]`, high, ""},
		"fails open":               {`webhooks: [{name: a.b.c, failurePolicy: Fail}]`, `webhooks: [{name: a.b.c, failurePolicy: Ignore}]`, critical, ""},
		"fails shut":               {`webhooks: [{name: a.b.c, failurePolicy: Ignore}]`, `webhooks: [{name: a.b.c, failurePolicy: Fail}]`, high, ""},
		"fewer kinds": {`webhooks: [{name: a.b.c, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}, {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}]`,
			`webhooks: [{name: a.b.c, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}]`, critical, ""},
		"another operation": {`webhooks: [{name: a.b.c, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}]`,
			`webhooks: [{name: a.b.c, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}]}]`, high, ""},
	},
	"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding": {
		"gone":           {`spec: {policyName: p, validationActions: [Deny]}`, ``, critical, ""},
		"denies no more": {`spec: {policyName: p, validationActions: [Deny, Audit]}`, `spec: {policyName: p, validationActions: [Audit]}`, critical, ""},
		"audits instead": {`spec: {policyName: p, validationActions: [Deny]}`, `spec: {policyName: p, validationActions: [Audit]}`, critical, ""},
		"audits no more": {`spec: {policyName: p, validationActions: [Deny, Audit]}`, `spec: {policyName: p, validationActions: [Deny]}`, high, ""},
	},
	"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy": {
		"fails open":    {`spec: {validations: [{expression: a}]}`, `spec: {failurePolicy: Ignore, validations: [{expression: a}]}`, critical, ""},
		"another check": {`spec: {validations: [{expression: a}]}`, `spec: {validations: [{expression: b}]}`, high, ""},
	},
	"v1 ConfigMap": {
		"Argo CD": {`metadata: {name: argocd-rbac-cm, namespace: argocd}, data: {policy.default: "role:readonly"}`,
			`metadata: {name: argocd-rbac-cm, namespace: argocd}, data: {policy.default: "role:admin"}`, high, `data["policy.default"]`},
		"a grant in Argo CD": {`metadata: {name: argocd-rbac-cm, namespace: argocd}`,
			`metadata: {name: argocd-rbac-cm, namespace: argocd}, data: {policy.csv: "g, eve, role:admin"}`, high, ""},
		"anybody in Argo CD": {`metadata: {name: argocd-cm, namespace: argocd}, data: {url: a}`,
			`metadata: {name: argocd-cm, namespace: argocd}, data: {url: a, users.anonymous.enabled: "true"}`, high, ""},
		"an address in Argo CD": {`metadata: {name: argocd-cm, namespace: argocd}, data: {url: a}`,
			`metadata: {name: argocd-cm, namespace: argocd}, data: {url: b}`, medium, ""},
		"names": {`metadata: {name: coredns, namespace: kube-system}, data: {Corefile: a}`,
			`metadata: {name: coredns, namespace: kube-system}, data: {Corefile: b}`, high, ""},
		"names elsewhere": {`metadata: {name: coredns, namespace: shop}, data: {Corefile: a}`,
			`metadata: {name: coredns, namespace: shop}, data: {Corefile: b}`, medium, ""},
	},
}

func TestReasonsOfContainers(t *testing.T) {
	t.Parallel()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const one = `spec: {template: {spec: {containers: [{name: a, image: x}]`
	for reason, tc := range map[string]struct{ live, want string }{
		"a debug container": {one + `, ephemeralContainers: [{name: debugger-x, image: busybox, command: [sh], targetContainerName: a}]}}}`, "a debug container was added"},
		"a container":       {`spec: {template: {spec: {containers: [{name: a, image: x}, {name: b, image: z}]}}}`, "runs another container"},
		"an init container": {one + `, initContainers: [{name: b, image: z, command: [sh]}]}}}`, "runs another container"},
		"an image":          {`spec: {template: {spec: {containers: [{name: a, image: z}]}}}`, "runs a different image"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			const about = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, `
			c, live := claim(t, about+one+"}}}}", kinds), resource(t, about+tc.live+"}")
			if f := finding(kinds[c.Kind], &live, &c); f.Severity != high || !strings.HasPrefix(f.Reason, tc.want) {
				t.Errorf("%s because %q, want %q: %v", f.Severity, f.Reason, tc.want, f.Changes)
			}
		})
	}
}
