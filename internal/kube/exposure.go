package kube

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// exposedKinds are the kinds whose guarded fields, see guardOf, have an exposure.
// The guarded fields of what runs pods decide what code runs.
var exposedKinds = []struct {
	what  model.Exposure
	whole bool
	kinds []string
}{
	{model.ExposesAccess, true, []string{
		"Role.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io",
		"RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io",
		"MutatingWebhookConfiguration.admissionregistration.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
		"MutatingAdmissionPolicy.admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"APIService.apiregistration.k8s.io",
	}},
	{model.ExposesAccess, false, []string{"Namespace", "Secret", "ServiceAccount"}},
	{model.ExposesReach, true, []string{"NetworkPolicy.networking.k8s.io", "Endpoints", "EndpointSlice.discovery.k8s.io"}},
	{model.ExposesReach, false, []string{
		"Service", "Ingress.networking.k8s.io", "HTTPRoute.gateway.networking.k8s.io", "Gateway.gateway.networking.k8s.io",
		"GRPCRoute.gateway.networking.k8s.io", "TLSRoute.gateway.networking.k8s.io", "TCPRoute.gateway.networking.k8s.io",
		"ReferenceGrant.gateway.networking.k8s.io",
	}},
}

// exposed returns the fields of a kind that have an exposure.
func exposed(kind string) []model.ExposedField {
	kind = plainKind(kind)
	what := model.Exposure("")
	if podPath(kind) != nil {
		what = model.ExposesCode
	}
	for _, e := range exposedKinds {
		if slices.Contains(e.kinds, kind) {
			if what = e.what; e.whole {
				return []model.ExposedField{{What: what}}
			}
		}
	}
	if what == "" {
		return nil
	}
	var fields []model.ExposedField
	for _, path := range guardOf(kind).fields {
		fields = append(fields, model.ExposedField{Path: path, What: what})
	}
	return fields
}
