package kube

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// severities rates drift of a kind: first what gives power over the cluster or opens it
// to the world, then what decides who may do what, what code runs, and what can be
// reached.
func severities(kind string) []model.SeverityRule {
	kind = plainKind(kind)
	var rules []model.SeverityRule
	for _, rated := range ratedKinds {
		if slices.Contains(rated.kinds, kind) {
			rules = append(rules, rated.rules...)
		}
	}
	if path := podPath(kind); path != nil {
		rules = append(rules, podSeverities(kind, path)...)
	}
	return rules
}

// The verdicts of the rules: brought are those on what is live, and touched those of
// them on the fields of a declared object; appeared are all that matter where the whole
// kind does.
var (
	touched  = []model.Verdict{model.Undeclared, model.Changed, model.Disputed, model.Conflict}
	brought  = append([]model.Verdict{model.Unmanaged}, touched...)
	appeared = append([]model.Verdict{model.Missing}, brought...)
	alone    = brought[:1]
	gone     = appeared[:1]
)

// The reasons that several rules share.
const (
	whoMayDo   = "decides who may do what"
	whoReaches = "decides who can be reached"
	admits     = "decides what the cluster admits"
	openWorld  = "open to the world"
	allRights  = "grants all rights"
	everybody  = "grants rights to everybody without a login"
	unguarded  = "the cluster admits what it should refuse"
)

// ratedKinds are the kinds other than those that run pods, with their rules in order.
var ratedKinds = []struct {
	kinds []string
	rules []model.SeverityRule
}{
	{[]string{"Role.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io"}, []model.SeverityRule{
		{Verdicts: brought, Path: "rules", Where: []model.Condition{{Path: "rules", With: []model.Condition{
			{Path: "apiGroups", In: []string{"*", "", "rbac.authorization.k8s.io"}},
			{Path: "resources", In: []string{"*"}}, {Path: "verbs", In: []string{"*", "create", "update", "patch"}},
		}}}, Severity: model.Critical, Reason: allRights},
		{Verdicts: appeared, Severity: model.High, Reason: whoMayDo},
	}},
	{[]string{"RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io"}, slices.Concat(
		each([]string{"subjects", "roleRef"}, model.SeverityRule{Verdicts: brought, Severity: model.Critical, Reason: allRights,
			Where: []model.Condition{{Path: "subjects.name", Present: true}, {Path: "roleRef.kind", In: []string{"ClusterRole"}},
				{Path: "roleRef.name", In: []string{"cluster-admin"}}}}),
		each([]string{"subjects", "roleRef"}, model.SeverityRule{Verdicts: brought, Severity: model.Critical, Reason: everybody,
			Where: []model.Condition{{Path: "subjects.name", In: []string{"system:anonymous", "system:unauthenticated"}}}}),
		[]model.SeverityRule{{Verdicts: appeared, Severity: model.High, Reason: whoMayDo}},
	)},
	{[]string{"NetworkPolicy.networking.k8s.io"}, slices.Concat(
		openFrom("spec.ingress", []model.Condition{{Path: "from.ipBlock.cidr", World: true}}, []model.Condition{{Path: "from", In: []string{""}}}),
		[]model.SeverityRule{
			{Verdicts: touched, Path: "spec.policyTypes", Removed: true, Where: []model.Condition{{Path: "spec.policyTypes", In: []string{"Ingress"}}},
				Severity: model.Critical, Reason: openWorld},
			{Verdicts: gone, Where: []model.Condition{{Path: "spec.policyTypes", In: []string{"Ingress", ""}}}, Severity: model.Critical, Reason: openWorld},
			{Verdicts: appeared, Severity: model.High, Reason: whoReaches},
		},
	)},
	{[]string{"CiliumNetworkPolicy.cilium.io", "CiliumClusterwideNetworkPolicy.cilium.io"}, slices.Concat(
		openFrom("spec.ingress", []model.Condition{{Path: "fromCIDR", World: true}}, []model.Condition{{Path: "fromCIDRSet.cidr", World: true}},
			[]model.Condition{{Path: "fromEntities", In: []string{"world", "all"}}}),
		[]model.SeverityRule{{Verdicts: appeared, Severity: model.High, Reason: whoReaches}},
	)},
	{[]string{"NetworkPolicy.projectcalico.org", "NetworkPolicy.crd.projectcalico.org", "GlobalNetworkPolicy.projectcalico.org", "GlobalNetworkPolicy.crd.projectcalico.org"}, slices.Concat(
		openFrom("spec.ingress", []model.Condition{{Path: "action", In: []string{"Allow"}}, {Path: "source.nets", World: true}},
			[]model.Condition{{Path: "action", In: []string{"Allow"}}, {Path: "source", In: []string{""}}}),
		[]model.SeverityRule{{Verdicts: appeared, Severity: model.High, Reason: whoReaches}},
	)},
	{[]string{"Service"}, slices.Concat(
		[]model.SeverityRule{
			{Verdicts: brought, Path: "spec.loadBalancerSourceRanges", Where: []model.Condition{{Path: "spec.loadBalancerSourceRanges", World: true}},
				Severity: model.Critical, Reason: openWorld},
			{Verdicts: touched, Path: "spec.loadBalancerSourceRanges", Severity: model.Critical, Reason: openWorld,
				Where: []model.Condition{{Path: "spec.type", In: []string{"LoadBalancer"}}, {Path: "spec.loadBalancerSourceRanges", In: []string{""}}}},
			{Verdicts: alone, Where: []model.Condition{{Path: "spec.type", In: []string{"LoadBalancer", "NodePort"}}}, Severity: model.High, Reason: whoReaches},
			{Verdicts: alone, Where: []model.Condition{{Path: "spec.externalIPs", Present: true}}, Severity: model.High, Reason: whoReaches},
		},
		each([]string{"spec.type", "spec.externalIPs", "spec.loadBalancerSourceRanges"},
			model.SeverityRule{Verdicts: touched, Severity: model.High, Reason: whoReaches}),
	)},
	{[]string{"Endpoints", "EndpointSlice.discovery.k8s.io"}, []model.SeverityRule{
		{Verdicts: appeared, Severity: model.High, Reason: "decides where traffic goes"}}},
	{[]string{"MutatingWebhookConfiguration.admissionregistration.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io"},
		admission("webhooks.failurePolicy", "webhooks", "webhooks.rules")},
	{[]string{"MutatingAdmissionPolicy.admissionregistration.k8s.io", "ValidatingAdmissionPolicy.admissionregistration.k8s.io"},
		admission("spec.failurePolicy", "spec.validations", "spec.mutations", "spec.matchConstraints.resourceRules")},
	{[]string{"MutatingAdmissionPolicyBinding.admissionregistration.k8s.io"}, admission("")},
	{[]string{"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io"}, append([]model.SeverityRule{
		{Verdicts: touched, Path: "spec.validationActions", Removed: true, Where: []model.Condition{{Path: "spec.validationActions", In: []string{"Deny"}}},
			Severity: model.Critical, Reason: unguarded}}, admission("")...)},
	{[]string{"APIService.apiregistration.k8s.io"}, []model.SeverityRule{
		{Verdicts: appeared, Severity: model.High, Reason: "decides who serves the API"}}},
	{[]string{"Secret"}, []model.SeverityRule{
		{Verdicts: alone, Where: []model.Condition{{Path: "type", In: credentialTypes}}, Severity: model.High,
			Reason: "lets its holder act in the cluster"},
		{Verdicts: []model.Verdict{model.Changed, model.Conflict}, Severity: model.High, Reason: "a credential changed"},
	}},
	{[]string{"ConfigMap"}, configSeverities()},
}

// each returns the rule for each of several fields.
func each(paths []string, rule model.SeverityRule) []model.SeverityRule {
	rules := make([]model.SeverityRule, len(paths))
	for i, path := range paths {
		rules[i] = rule
		rules[i].Path = path
	}
	return rules
}

// openFrom returns a rule for each way in which an element of the list at path lets in
// the world: the conditions that it holds.
func openFrom(path string, ways ...[]model.Condition) []model.SeverityRule {
	rules := make([]model.SeverityRule, len(ways))
	for i, way := range ways {
		rules[i] = model.SeverityRule{Verdicts: brought, Path: path, Where: []model.Condition{{Path: path, With: way}},
			Severity: model.Critical, Reason: openWorld}
	}
	return rules
}

// admission returns the rules of a kind that decides what the cluster admits: failure is
// the field that lets objects pass if the check fails, or "", and checks are the fields
// whose elements check.
func admission(failure string, checks ...string) []model.SeverityRule {
	lost := model.SeverityRule{Verdicts: gone, Severity: model.Critical, Reason: unguarded}
	var rules []model.SeverityRule
	if failure != "" {
		lost.Where = []model.Condition{{Path: failure, In: []string{"", "Fail"}}}
		rules = append(rules, model.SeverityRule{Verdicts: touched, Path: failure, Where: []model.Condition{{Path: failure, In: []string{"Ignore"}}},
			Severity: model.Critical, Reason: unguarded})
	}
	rules = append(rules, each(checks, model.SeverityRule{Verdicts: touched, Removed: true, Severity: model.Critical, Reason: unguarded})...)
	return append(rules, lost, model.SeverityRule{Verdicts: appeared, Severity: model.High, Reason: admits})
}

// configSeverities rates ConfigMaps in which well-known tools store access rights or the targets of
// names. https://argo-cd.readthedocs.io/en/stable/operator-manual/rbac/
// https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html
func configSeverities() []model.SeverityRule {
	var rules []model.SeverityRule
	for _, rated := range []struct{ ids, paths, reason string }{
		{"*/argocd-rbac-cm", "data", whoMayDo},
		{"*/argocd-cm", `data["admin.enabled"] data["dex.config"] data["oidc.config"] data["users.anonymous.enabled"]`, whoMayDo},
		{"kube-system/aws-auth kube-system/extension-apiserver-authentication", "data", whoMayDo},
		{"kube-system/coredns kube-system/coredns-custom kube-system/kube-dns kube-system/node-local-dns", "data", "decides where names lead"},
	} {
		for path := range strings.FieldsSeq(rated.paths) {
			rule := model.SeverityRule{IDs: strings.Fields(rated.ids), Path: path, Severity: model.High, Reason: rated.reason}
			live, changed := rule, rule
			live.Verdicts, live.Where = alone, []model.Condition{{Path: path, Present: true}}
			changed.Verdicts = touched
			rules = append(rules, live, changed)
		}
	}
	return rules
}
