package kube_test

import (
	"strings"
	"testing"
)

// TestKnownBindings has bindings with the names of those that the API server and
// installers make. They count with their content, and with that of a live role.
func TestKnownBindings(t *testing.T) {
	t.Parallel()
	binding := func(namespace, name, role, subjects string) string {
		return `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: "` + name + `", namespace: ` + namespace + `, labels: {kubernetes.io/bootstrapping: rbac-defaults}, annotations: {rbac.authorization.kubernetes.io/autoupdate: "true"}}, roleRef: {kind: ` + role + `}, subjects: [` + subjects + `]}`
	}
	const (
		signer, signerOf = "system:controller:bootstrap-signer", `Role, name: "system:controller:bootstrap-signer"`
		signerAccount    = `{kind: ServiceAccount, name: bootstrap-signer, namespace: kube-system}`
		mallory          = `{kind: User, name: mallory}`
		pullers, puller  = "system:image-pullers", `ClusterRole, name: "system:image-puller"`
		group            = `{kind: Group, name: "system:serviceaccounts:ns"}`
		openShift        = "\n---\n{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}}"
	)
	reads := "\n---\n" + signerRole(`{apiGroups: [""], resources: [secrets], verbs: [get, list, watch]}`)
	deletes := "\n---\n" + signerRole(`{apiGroups: [""], resources: [secrets], verbs: [get, delete]}`)
	pulls := "\n---\n" + clusterRole("system:image-puller", `rules: [{apiGroups: ["", image.openshift.io], resources: [imagestreams/layers], verbs: [get]}]`)
	executes := "\n---\n" + clusterRole("system:image-puller", `rules: [{apiGroups: [""], resources: [secrets, pods/exec], verbs: [get, list, create]}]`)
	admin := "\n---\n" + clusterRole("cluster-admin", `rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`)
	without := func(unread string) func(string, string) bool {
		return func(kind, _ string) bool { return !strings.HasPrefix(kind, "kubernetes/"+unread+".") }
	}
	for reason, tc := range map[string]struct {
		object string
		covers func(kind, place string) bool
		want   bool
	}{
		"as the API server makes it":             {binding("kube-system", signer, signerOf, signerAccount) + reads, whole, true},
		"of nobody":                              {binding("kube-system", signer, signerOf, "") + reads, whole, true},
		"in another namespace":                   {binding("ns", signer, signerOf, signerAccount) + reads, whole, false},
		"with one more subject":                  {binding("kube-system", signer, signerOf, signerAccount+", "+mallory) + reads, whole, false},
		"to another role":                        {binding("kube-system", signer, "ClusterRole, name: cluster-admin", signerAccount) + reads + admin, whole, false},
		"to a ClusterRole of the name":           {binding("kube-system", signer, strings.Replace(signerOf, "Role", "ClusterRole", 1), signerAccount) + reads, whole, false},
		"only named like one":                    {binding("kube-system", "system:x", "ClusterRole, name: cluster-admin", mallory) + admin, whole, false},
		"to a role that grants more":             {binding("kube-system", signer, signerOf, signerAccount) + deletes, whole, false},
		"to a role that is not live":             {binding("kube-system", signer, signerOf, signerAccount), whole, false},
		"to a role elsewhere":                    {binding("kube-system", signer, signerOf, signerAccount) + strings.Replace(reads, "namespace: kube-system", "namespace: ns", 1), whole, false},
		"to a role that was not read":            {binding("kube-system", signer, signerOf, signerAccount), without("Role"), true},
		"OpenShift's pullers":                    {binding("ns", pullers, puller, group) + pulls + openShift, whole, true},
		"pullers of another namespace":           {binding("ns", pullers, puller, strings.Replace(group, "ns", "other", 1)) + pulls + openShift, whole, false},
		"pullers with rights":                    {binding("ns", pullers, "ClusterRole, name: cluster-admin", group) + admin + openShift, whole, false},
		"pullers with a role that grants more":   {binding("ns", pullers, puller, group) + executes + openShift, whole, false},
		"pullers where there is no OpenShift":    {binding("ns", pullers, puller, group) + pulls, whole, false},
		"pullers where there may be one":         {binding("ns", pullers, puller, group) + pulls, without("ClusterVersion"), true},
		"forged pullers where there may be one":  {binding("ns", pullers, puller, group) + executes, without("ClusterVersion"), false},
		"pullers where ClusterRoles are unknown": {binding("ns", pullers, puller, group) + openShift, without("ClusterRole"), true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			for name, r := range related(t, tc.object, tc.covers) {
				if strings.HasPrefix(name, "RoleBinding") && (r.SystemOwned != "") != tc.want {
					t.Errorf("automatic = %q", r.SystemOwned)
				}
			}
		})
	}
}
