package kube

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// severities rates drift of a kind: first what decides who may do what, what
// code runs, and what can be reached.
func severities(kind string) []model.SeverityRule {
	appeared := []model.Verdict{model.Unmanaged, model.Undeclared, model.Changed, model.Conflict, model.Missing}
	kind = plainKind(kind)
	for _, rated := range ratedKinds {
		if slices.Contains(rated.kinds, kind) {
			return []model.SeverityRule{{Verdicts: appeared, Severity: model.High, Reason: rated.reason}}
		}
	}
	switch kind {
	case "Secret":
		return []model.SeverityRule{
			{Verdicts: []model.Verdict{model.Unmanaged}, Where: []model.Condition{{Path: "type", In: credentialTypes}}, Severity: model.High,
				Reason: "lets its holder act in the cluster"},
			{Verdicts: []model.Verdict{model.Changed, model.Conflict}, Severity: model.High, Reason: "a credential changed"},
		}
	case "Service":
		return []model.SeverityRule{
			{Verdicts: appeared[1:], Path: "spec.type", Severity: model.High, Reason: "decides who can be reached"},
			{Verdicts: appeared[1:], Path: "spec.externalIPs", Severity: model.High, Reason: "decides who can be reached"},
			{Verdicts: appeared[1:], Path: "spec.loadBalancerSourceRanges", Severity: model.High, Reason: "decides who can be reached"},
		}
	}
	if path := podPath(kind); path != nil {
		return podSeverities(strings.Join(path, ".") + ".")
	}
	return nil
}

// ratedKinds are the kinds of which every change matters.
var ratedKinds = []struct {
	kinds  []string
	reason string
}{
	{[]string{
		"Role.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io",
		"RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io",
	}, "decides who may do what"},
	{[]string{"NetworkPolicy.networking.k8s.io"}, "decides who can be reached"},
	{[]string{"Endpoints", "EndpointSlice.discovery.k8s.io"}, "decides where traffic goes"},
	{[]string{
		"MutatingWebhookConfiguration.admissionregistration.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
		"MutatingAdmissionPolicy.admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io",
	}, "decides what the cluster admits"},
	{[]string{"APIService.apiregistration.k8s.io"}, "decides who serves the API"},
}

// podSeverities rates drift of what runs pods, whose specification is at spec.
func podSeverities(spec string) []model.SeverityRule {
	touched := []model.Verdict{model.Undeclared, model.Changed, model.Conflict}
	rules := privilegedSeverities(spec)
	for _, field := range []string{"containers.image", "initContainers.image", "ephemeralContainers"} {
		rules = append(rules, model.SeverityRule{Verdicts: touched, Path: spec + field, Severity: model.High, Reason: "a different image runs"})
	}
	for _, field := range slices.Concat(hostFields, []string{
		"volumes.hostPath", "containers.securityContext", "initContainers.securityContext", "securityContext", "serviceAccountName",
	}) {
		rules = append(rules, model.SeverityRule{Verdicts: touched, Path: spec + field, Severity: model.High,
			Reason: "decides what the pod may do"})
	}
	return rules
}

// privilegedSeverities rates unmanaged pods that may take over their nodes, as
// powers finds them.
func privilegedSeverities(spec string) []model.SeverityRule {
	conditions := []model.Condition{{Path: spec + "volumes.hostPath", Present: true}}
	for _, field := range hostFields {
		conditions = append(conditions, model.Condition{Path: spec + field, In: []string{"true"}})
	}
	capabilities := slices.Clone(strongCapabilities)
	for _, name := range strongCapabilities {
		capabilities = append(capabilities, "CAP_"+name)
	}
	for _, context := range []string{"", "containers.", "initContainers.", "ephemeralContainers."} {
		context = spec + context + "securityContext."
		conditions = append(conditions,
			model.Condition{Path: context + "privileged", In: []string{"true"}},
			model.Condition{Path: context + "windowsOptions.hostProcess", In: []string{"true"}},
			model.Condition{Path: context + "procMount", In: []string{"Unmasked"}},
			model.Condition{Path: context + "capabilities.add", In: capabilities})
	}
	rules := make([]model.SeverityRule, len(conditions))
	for i, condition := range conditions {
		rules[i] = model.SeverityRule{Verdicts: []model.Verdict{model.Unmanaged}, Where: []model.Condition{condition},
			Severity: model.High, Reason: "may take over its node"}
	}
	return rules
}
