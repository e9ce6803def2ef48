package kube

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

const (
	rbacGroup          = "rbac.authorization.k8s.io"
	roleBinding        = "RoleBinding." + rbacGroup
	clusterRoleBinding = "ClusterRoleBinding." + rbacGroup
	admissionGroup     = "admissionregistration.k8s.io"
)

// watches returns a function that returns the reason why an object of the kind is watched outside
// of the governed namespaces, or "". It returns nil for kinds that are not watched.
func watches(kind string) func(object model.Value) string {
	_, name, _ := strings.Cut(kind, "/")
	switch name {
	case clusterRoleBinding:
		return func(model.Value) string { return "it grants rights in the whole cluster" }
	case "ClusterRole." + rbacGroup:
		return watchedRole
	case roleBinding:
		return watchedBinding
	case "MutatingWebhookConfiguration." + admissionGroup, "ValidatingWebhookConfiguration." + admissionGroup,
		"MutatingAdmissionPolicy." + admissionGroup, "ValidatingAdmissionPolicy." + admissionGroup,
		"MutatingAdmissionPolicyBinding." + admissionGroup, "ValidatingAdmissionPolicyBinding." + admissionGroup:
		return func(model.Value) string { return "it decides what the cluster admits" }
	case "APIService.apiregistration.k8s.io":
		return watchedAPIService
	case "Namespace":
		return watchedNamespace
	}
	path := podPath(kind)
	if path == nil {
		return nil
	}
	return func(object model.Value) string {
		if all := powers(object.At(path...)); len(all) > 0 {
			return "its pods have power over their node: " + strings.Join(all[:min(len(all), 3)], ", ")
		}
		return ""
	}
}

// watched returns why an object is expected to be declared in every namespace, or "".
func watched(kind string, object model.Value) string {
	if reason := watches(kind); reason != nil {
		return reason(object)
	}
	return ""
}

// aggregateLabel is the prefix of the labels by which the rules of a role are added to the
// API server's own roles (admin, edit, view).
const aggregateLabel = "rbac.authorization.k8s.io/aggregate-to-"

const addsRights = "it adds rights to the ClusterRole "

// watchedRole returns a reason for a ClusterRole with a wildcard, with a verb that allows
// privilege escalation, or whose rules are aggregated into other roles.
func watchedRole(object model.Value) string {
	for _, label := range object.At("metadata", "labels").Fields() {
		if role, ok := strings.CutPrefix(label.Name, aggregateLabel); ok && label.Value.Text() == "true" {
			return addsRights + role
		}
	}
	for _, rule := range object.At("rules").Items() {
		for _, field := range []string{"verbs", "resources", "apiGroups", "nonResourceURLs"} {
			for _, text := range rule.At(field).Items() {
				switch entry := text.Str(); {
				case strings.Contains(entry, "*"):
					return "it allows " + entry + " of " + field
				case field == "verbs" && slices.Contains([]string{"escalate", "bind", "impersonate"}, entry):
					return "it allows to " + entry
				}
			}
		}
	}
	return ""
}

// watchAggregated sets Watched of the ClusterRoles whose rules the aggregation rule of another
// ClusterRole adds to that role. The label is free: the API server's own roles have only one
// of the possible ones.
func watchAggregated(resources []model.Resource) {
	var roles, sums []*model.Resource
	for i := range resources {
		r := &resources[i]
		if plainKind(r.Kind) != "ClusterRole."+rbacGroup {
			continue
		}
		roles = append(roles, r)
		if len(selectorsOf(r)) > 0 {
			sums = append(sums, r)
		}
	}
	slices.SortFunc(sums, func(a, b *model.Resource) int { return strings.Compare(a.Name, b.Name) })
	for _, r := range roles {
		labels := r.Value.At("metadata", "labels")
		for _, sum := range sums {
			if r.Watched == "" && r != sum && slices.ContainsFunc(selectorsOf(sum), func(s model.Value) bool { return matchesLabels(s, labels) }) {
				r.Watched = addsRights + sum.Name
			}
		}
	}
}

// selectorsOf returns the label selectors of the roles whose rules a ClusterRole has.
func selectorsOf(role *model.Resource) []model.Value {
	return role.Value.At("aggregationRule", "clusterRoleSelectors").Items()
}

// watchedBinding returns a reason for a RoleBinding in kube-system, where the cluster keeps
// its own credentials: permission to read Secrets or run pods there makes a cluster
// administrator.
func watchedBinding(object model.Value) string {
	if object.At("metadata", "namespace").Str() == "kube-system" {
		return "it grants rights in kube-system"
	}
	return ""
}

// watchedAPIService returns a reason for an APIService that another server serves. Those
// without a service are the API server's own, one for each of its groups.
func watchedAPIService(object model.Value) string {
	if service := object.At("spec", "service"); !service.IsNull() && !service.IsEmpty() {
		return "another server answers a part of the API"
	}
	return ""
}

// watchedNamespace returns a reason for a namespace that the API server did not create.
func watchedNamespace(object model.Value) string {
	switch object.At("metadata", "name").Str() {
	case "default", "kube-system", "kube-public", "kube-node-lease":
		return ""
	}
	return "no declaration declares the namespace"
}
