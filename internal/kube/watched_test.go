package kube_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// watched returns what makes the object worth watching everywhere.
func watched(t *testing.T, object string) string {
	t.Helper()
	docs, err := decode.YAML(strings.NewReader(object))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	r, err := kube.NewResource("test", docs[0].Value, model.NewSealer([]byte("key")))
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if kind := kinds[r.Kind]; kind != nil && r.Watched != "" && !kind.Watched {
		t.Errorf("%s is watched, and its kind is not", r.Key)
	}
	return r.Watched
}

func TestWatched(t *testing.T) {
	t.Parallel()
	const (
		rbac      = "apiVersion: rbac.authorization.k8s.io/v1\nmetadata: {name: x}\n"
		admission = "apiVersion: admissionregistration.k8s.io/v1\nmetadata: {name: x}\n"
		core      = "apiVersion: v1\nmetadata: {name: x, namespace: n}\n"
	)
	for reason, tc := range map[string]struct{ object, want string }{
		"ClusterRoleBinding":            {rbac + "kind: ClusterRoleBinding", "it grants rights in the whole cluster"},
		"RoleBinding":                   {rbac + "kind: RoleBinding", ""},
		"RoleBinding in kube-system":    {strings.Replace(rbac, "name: x", "name: x, namespace: kube-system", 1) + "kind: RoleBinding", "it grants rights in kube-system"},
		"every verb":                    {rbac + "kind: ClusterRole\nrules: [{verbs: [get], resources: [pods]}, {verbs: ['*'], resources: [pods]}]", "it allows * of verbs"},
		"every resource":                {rbac + "kind: ClusterRole\nrules: [{verbs: [get], resources: ['*']}]", "it allows * of resources"},
		"every subresource":             {rbac + "kind: ClusterRole\nrules: [{verbs: [get], resources: ['*/status']}]", "it allows */status of resources"},
		"every group":                   {rbac + "kind: ClusterRole\nrules: [{verbs: [get], apiGroups: ['*'], resources: [pods]}]", "it allows * of apiGroups"},
		"every path":                    {rbac + "kind: ClusterRole\nrules: [{verbs: [get], nonResourceURLs: ['/*']}]", "it allows /* of nonResourceURLs"},
		"rights over rights":            {rbac + "kind: ClusterRole\nrules: [{verbs: [escalate], resources: [roles]}]", "it allows to escalate"},
		"another user's rights":         {rbac + "kind: ClusterRole\nrules: [{verbs: [impersonate], resources: [users]}]", "it allows to impersonate"},
		"an ordinary ClusterRole":       {rbac + "kind: ClusterRole\nrules: [{verbs: [get, list], apiGroups: [''], resources: [pods]}]", ""},
		"rights for another role":       {"apiVersion: rbac.authorization.k8s.io/v1\nmetadata: {name: x, labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}}\nkind: ClusterRole\nrules: [{verbs: [get], resources: [secrets]}]", "it adds rights to the ClusterRole view"},
		"rights that are not added":     {"apiVersion: rbac.authorization.k8s.io/v1\nmetadata: {name: x, labels: {rbac.authorization.k8s.io/aggregate-to-view: 'false', other: 'true'}}\nkind: ClusterRole\nrules: [{verbs: [get], resources: [secrets]}]", ""},
		"a resource called bind":        {rbac + "kind: ClusterRole\nrules: [{verbs: [get], resources: [bind]}]", ""},
		"mutating webhook":              {admission + "kind: MutatingWebhookConfiguration", "it decides what the cluster admits"},
		"validating webhook":            {admission + "kind: ValidatingWebhookConfiguration", "it decides what the cluster admits"},
		"admission policy":              {admission + "kind: ValidatingAdmissionPolicy", "it decides what the cluster admits"},
		"admission policy binding":      {admission + "kind: ValidatingAdmissionPolicyBinding", "it decides what the cluster admits"},
		"an APIService":                 {"apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.x}\nspec: {service: {name: x, namespace: n}}", "another server answers a part of the API"},
		"the API server's own group":    {"apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.x}\nspec: {group: x}", ""},
		"a namespace":                   {"apiVersion: v1\nkind: Namespace\nmetadata: {name: x}", "no declaration declares the namespace"},
		"a namespace of the cluster":    {"apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}", ""},
		"a ConfigMap":                   {core + "kind: ConfigMap", ""},
		"a plain pod":                   {core + "kind: Pod\nspec: {hostNetwork: false, containers: [{name: a, securityContext: {privileged: false, capabilities: {add: [NET_BIND_SERVICE], drop: [ALL]}}}]}", ""},
		"a privileged pod":              {core + "kind: Pod\nspec: {containers: [{name: a}, {name: b, securityContext: {privileged: true}}]}", "its pods have power over their node: privileged"},
		"a privileged init container":   {core + "kind: Pod\nspec: {initContainers: [{name: b, securityContext: {privileged: true}}]}", "its pods have power over their node: privileged"},
		"an ephemeral container":        {core + "kind: Pod\nspec: {ephemeralContainers: [{name: b, securityContext: {privileged: true}}]}", "its pods have power over their node: privileged"},
		"a capability":                  {core + "kind: Pod\nspec: {containers: [{name: b, securityContext: {capabilities: {add: [SYS_ADMIN]}}}]}", "its pods have power over their node: capability SYS_ADMIN"},
		"a capability by its long name": {core + "kind: Pod\nspec: {containers: [{name: b, securityContext: {capabilities: {add: [cap_all]}}}]}", "its pods have power over their node: capability ALL"},
		"the node's network":            {core + "kind: Pod\nspec: {hostNetwork: true}", "its pods have power over their node: hostNetwork"},
		"the node's processes":          {core + "kind: Pod\nspec: {hostPID: true}", "its pods have power over their node: hostPID"},
		"the node's memory":             {core + "kind: Pod\nspec: {hostIPC: true}", "its pods have power over their node: hostIPC"},
		"the node's files":              {core + "kind: Pod\nspec: {volumes: [{name: a, emptyDir: {}}, {name: b, hostPath: {path: /}}]}", "its pods have power over their node: hostPath /"},
		"a Deployment":                  {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x, namespace: n}\nspec: {template: {spec: {hostPID: true}}}", "its pods have power over their node: hostPID"},
		"a DaemonSet":                   {"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: x, namespace: n}\nspec: {template: {spec: {hostPID: true}}}", "its pods have power over their node: hostPID"},
		"a Job":                         {"apiVersion: batch/v1\nkind: Job\nmetadata: {name: x, namespace: n}\nspec: {template: {spec: {hostPID: true}}}", "its pods have power over their node: hostPID"},
		"a CronJob":                     {"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: x, namespace: n}\nspec: {jobTemplate: {spec: {template: {spec: {hostPID: true}}}}}", "its pods have power over their node: hostPID"},
		"a kind of another group":       {"apiVersion: example.org/v1\nkind: ClusterRoleBinding\nmetadata: {name: x}", ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if got := watched(t, tc.object); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestWatchedAggregation tests that a ClusterRole is watched if the aggregation rule of another one
// adds its rules there, whichever label the rule names.
func TestWatchedAggregation(t *testing.T) {
	t.Parallel()
	const byLabel = `{matchLabels: {rbac.example.com/aggregate-to-monitoring: "true"}}`
	for reason, tc := range map[string]struct{ selectors, labels, rules, want string }{
		"its label":                {byLabel, `rbac.example.com/aggregate-to-monitoring: "true"`, "", "it adds rights to the ClusterRole monitoring"},
		"the second selector":      {`{matchLabels: {a: b}}, ` + byLabel, `rbac.example.com/aggregate-to-monitoring: "true"`, "", "it adds rights to the ClusterRole monitoring"},
		"an expression":            {`{matchExpressions: [{key: team, operator: In, values: [a, b]}]}`, "team: b", "", "it adds rights to the ClusterRole monitoring"},
		"every role":               {`{}`, "", "", "it adds rights to the ClusterRole monitoring"},
		"another value":            {byLabel, `rbac.example.com/aggregate-to-monitoring: "false"`, "", ""},
		"one label of two":         {`{matchLabels: {a: b, c: d}}`, "a: b", "", ""},
		"no label":                 {byLabel, "", "", ""},
		"no selector":              {"", `rbac.example.com/aggregate-to-monitoring: "true"`, "", ""},
		"a reason of its own, too": {byLabel, `rbac.example.com/aggregate-to-monitoring: "true"`, "{verbs: [escalate], resources: [roles]}", "it allows to escalate"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			all := related(t, `
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: z, labels: {`+tc.labels+`}}, rules: [`+tc.rules+`]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: monitoring}, aggregationRule: {clusterRoleSelectors: [`+tc.selectors+`]}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: other}, aggregationRule: {clusterRoleSelectors: [`+tc.selectors+`]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: n, labels: {`+tc.labels+`}}}`, whole)
			if got := all["ClusterRole z"].Watched; got != tc.want {
				t.Errorf("watched = %q, want %q", got, tc.want)
			}
			if all["ConfigMap c"].Watched != "" || tc.selectors != "{}" && all["ClusterRole monitoring"].Watched != "" {
				t.Errorf("the ConfigMap is watched = %q, the aggregated role %q", all["ConfigMap c"].Watched, all["ClusterRole monitoring"].Watched)
			}
		})
	}
}

// TestAlteredBindings tests that a ClusterRoleBinding of the API server with an added subject
// is reported at any age.
func TestAlteredBindings(t *testing.T) {
	t.Parallel()
	binding := func(name, subjects string) string {
		return "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: " + name +
			"}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [" + subjects + "]}"
	}
	const masters, mallory = "{kind: Group, name: system:masters}", "{kind: User, name: mallory}"
	for reason, tc := range map[string]struct {
		object    string
		altered   bool
		automatic string
	}{
		"as the API server makes it":       {binding("cluster-admin", masters), false, "made by the API server"},
		"with nobody":                      {binding("cluster-admin", ""), false, "made by the API server"},
		"with one more":                    {binding("cluster-admin", masters+", "+mallory), true, ""},
		"with another":                     {binding("cluster-admin", mallory), true, ""},
		"a binding of another name":        {binding("mallory", mallory), false, ""},
		"an installer's with one more":     {binding("kubeadm:cluster-admins", mallory), false, ""},
		"a role, of which versions differ": {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: system:basic-user}, rules: [{verbs: ['*'], apiGroups: ['*'], resources: ['*']}]}", false, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r := related(t, tc.object+`
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: cluster-admin}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}`, whole)
			delete(r, "ClusterRole cluster-admin")
			for _, r := range r {
				if r.Altered != tc.altered || r.SystemOwned != tc.automatic || tc.altered && r.Watched != "it binds others than the API server does" {
					t.Errorf("altered = %t, automatic = %q, watched = %q", r.Altered, r.SystemOwned, r.Watched)
				}
			}
		})
	}
}
