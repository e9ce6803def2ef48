package kubernetes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// TestRights compares what the same credentials may do in the namespaces shop and web with what different rules need.
func TestRights(t *testing.T) {
	t.Parallel()
	const (
		broad   = "* *.batch: it covers more than driftd changes: name the kinds and the verbs get and patch"
		pods    = "delete pods: the API server has no such kind"
		deletes = "delete services: driftd deletes nothing"
		roles   = "patch roles.rbac.authorization.k8s.io: driftd never changes it: it decides who may do what"
		none    = ": no rule for actions matches it"
	)
	rule := func(create bool, namespaces, kinds []string) reconcile.Rule {
		return reconcile.Rule{Name: "shop", Mode: reconcile.Approve, Match: model.Selector{Kinds: kinds, Namespaces: namespaces}, Limits: reconcile.Limits{Create: create}}
	}
	off := reconcile.Rule{Name: "off", Mode: reconcile.Off, Match: model.Selector{Kinds: []string{"Secret"}}}
	one := off
	one.Match.Resources = []string{"shop/db"}
	for name, c := range map[string]struct {
		rules           []reconcile.Rule
		excess, missing []string
	}{
		"no rules":       {nil, []string{broad, "create deployments.apps" + none, "patch deployments.apps" + none, pods, roles, "patch secrets db" + none, deletes}, nil},
		"a rule for all": {[]reconcile.Rule{rule(true, nil, []string{"*"})}, []string{broad, pods, roles, deletes}, nil},
		"a rule for one kind": {[]reconcile.Rule{rule(false, nil, []string{"kubernetes/Deployment.apps"})},
			[]string{broad, "create deployments.apps: no rule that matches it sets create", pods, roles, "patch secrets db" + none, deletes}, nil},
		"in one namespace": {[]reconcile.Rule{rule(true, []string{"shop"}, []string{"Deployment.apps", "Secret"})},
			[]string{broad, "create deployments.apps in web" + none, "patch deployments.apps in web" + none, pods, roles, "patch secrets db in web" + none, deletes},
			[]string{"get secrets in shop: rule \"shop\" needs it", "create secrets in shop: rule \"shop\" needs it"}},
		"a kind that is not served": {[]reconcile.Rule{rule(true, nil, []string{"*", "Certificate.cert-manager.io"})}, []string{broad, pods, roles, deletes},
			[]string{"Certificate.cert-manager.io: the API server does not serve the kind, which rule \"shop\" names"}},
		"a rule with the mode off": {[]reconcile.Rule{off, rule(true, nil, []string{"*"})}, []string{broad, pods, roles, "patch secrets db" + none, deletes}, nil},
		"off for one object":       {[]reconcile.Rule{one, rule(true, nil, []string{"*"})}, []string{broad, pods, roles, deletes}, nil},
		"a kind of another system": {[]reconcile.Rule{rule(true, nil, []string{"*", "proxmox/vm"})}, []string{broad, pods, roles, deletes}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.kinds["/apis/rbac.authorization.k8s.io/v1"] = `{"name":"roles","kind":"Role","namespaced":true,"verbs":["list"]}`
			f.objects["/api/v1/namespaces"] = `{"items":[{"metadata":{"name":"shop"}},{"metadata":{"name":"web"}}]}`
			f.objects["/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"] = `{"status":{"resourceRules":[
{"verbs":["get","patch","create"],"apiGroups":["apps"],"resources":["deployments"]},
{"verbs":["create"],"apiGroups":["authorization.k8s.io"],"resources":["selfsubjectaccessreviews"]},
{"verbs":["delete"],"apiGroups":[""],"resources":["pods","services"]},
{"verbs":["patch"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"]},
{"verbs":["patch"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["db"]},
{"verbs":["*"],"apiGroups":["batch"],"resources":["*"]}]}}`
			got, err := f.actuator(t).Rights(t.Context(), c.rules)
			if err != nil {
				t.Fatal(err)
			}
			want := reconcile.Rights{Endpoint: f.URL, Identity: "system:serviceaccount:driftd:writer",
				May:    []string{"* *.batch", "create deployments.apps", "get deployments.apps", "patch deployments.apps", "delete pods", "patch roles.rbac.authorization.k8s.io", "patch secrets db", "delete services"},
				Excess: c.excess, Missing: c.missing}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Rights() (-want +got):\n%s", diff)
			}
		})
	}
}
