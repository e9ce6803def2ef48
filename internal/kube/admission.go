package kube

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An admitter is an object that changes other objects at admission.
type admitter struct {
	ref model.Ref
	// place is the only namespace in which it applies; "" for all namespaces.
	place string
	rules []admissionRule
}

// An admissionRule names groups and resources, or groups and kinds, in lower
// case; "*" stands for all. Namespaces selects namespaces by their labels; null
// selects all.
type admissionRule struct {
	groups, resources, kinds []string
	namespaces               model.Value
}

type admitters struct {
	all  []admitter
	seen map[string][]model.Ref
	// labels are the labels of the namespaces that were read, by name.
	labels map[string]model.Value
}

// add adds the object if it changes other objects at admission.
func (a *admitters) add(r *model.Resource) {
	var rules []admissionRule
	spec := r.Value.At("spec")
	switch _, name, _ := strings.Cut(r.Kind, "/"); name {
	case "Namespace":
		if a.labels == nil {
			a.labels = map[string]model.Value{}
		}
		a.labels[r.Name] = r.Value.At("metadata", "labels")
	case "MutatingWebhookConfiguration.admissionregistration.k8s.io":
		for _, hook := range r.Value.At("webhooks").Items() {
			rules = append(rules, resourceRules(hook.At("rules"), hook.At("namespaceSelector"))...)
		}
	case "MutatingAdmissionPolicy.admissionregistration.k8s.io", "MutatingPolicy.policies.kyverno.io":
		rules = resourceRules(spec.At("matchConstraints", "resourceRules"), spec.At("matchConstraints", "namespaceSelector"))
	case "ClusterPolicy.kyverno.io", "Policy.kyverno.io":
		rules = kyvernoRules(spec)
	case "Assign.mutations.gatekeeper.sh", "AssignImage.mutations.gatekeeper.sh", "ModifySet.mutations.gatekeeper.sh":
		for _, to := range spec.At("applyTo").Items() {
			rules = append(rules, admissionRule{groups: lowered(to.At("groups")), kinds: lowered(to.At("kinds"))})
		}
	case "AssignMetadata.mutations.gatekeeper.sh":
		for _, to := range spec.At("match", "kinds").Items() {
			rules = append(rules, admissionRule{groups: lowered(to.At("apiGroups")), kinds: lowered(to.At("kinds"))})
		}
	}
	if len(rules) > 0 {
		a.all = append(a.all, admitter{model.Ref{Kind: r.Kind, ID: r.ID}, r.Place, rules})
	}
}

// resourceRules returns the rules of a webhook or policy that apply to the creation or
// update of objects.
func resourceRules(list, namespaces model.Value) []admissionRule {
	var rules []admissionRule
	for _, rule := range list.Items() {
		writes := func(op string) bool { return op == "*" || op == "create" || op == "update" }
		if slices.ContainsFunc(lowered(rule.At("operations")), writes) {
			rules = append(rules, admissionRule{groups: lowered(rule.At("apiGroups")), resources: lowered(rule.At("resources")), namespaces: namespaces})
		}
	}
	return rules
}

// kyvernoRules returns the mutating rules of a Kyverno policy. A rule for pods also applies to the
// objects that create pods.
func kyvernoRules(spec model.Value) []admissionRule {
	var rules []admissionRule
	for _, rule := range spec.At("rules").Items() {
		if rule.At("mutate").IsEmpty() {
			continue
		}
		match := rule.At("match")
		for _, filter := range slices.Concat([]model.Value{match}, match.At("any").Items(), match.At("all").Items()) {
			var kinds []string
			for _, kind := range lowered(filter.At("resources", "kinds")) {
				kinds = append(kinds, kind[strings.LastIndex(kind, "/")+1:])
			}
			if slices.Contains(kinds, "pod") {
				kinds = append(kinds, "deployment", "statefulset", "daemonset", "job", "cronjob", "replicaset", "replicationcontroller")
			}
			if len(kinds) > 0 {
				rules = append(rules, admissionRule{groups: []string{"*"}, kinds: kinds})
			}
		}
	}
	return rules
}

// lowered returns the strings of a list in lower case.
func lowered(list model.Value) []string {
	all := make([]string, len(list.Items()))
	for i, item := range list.Items() {
		all[i] = strings.ToLower(item.Str())
	}
	return all
}

// of returns the admitters of objects of a kind in a place, sorted. It returns none for webhook
// configurations and policies, for which the API server calls no webhook. The caller must not
// modify the result.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
func (a *admitters) of(kind, place string) []model.Ref {
	if len(a.all) == 0 || strings.HasSuffix(kind, ".admissionregistration.k8s.io") {
		return nil
	}
	key := kind + " " + place
	refs, known := a.seen[key]
	if known {
		return refs
	}
	for i := range a.all {
		if m := &a.all[i]; (m.place == "" || m.place == place) && a.matches(m, kind, place) {
			refs = append(refs, m.ref)
		}
	}
	slices.SortFunc(refs, func(x, y model.Ref) int { return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.ID, y.ID)) })
	if a.seen == nil {
		a.seen = map[string][]model.Ref{}
	}
	a.seen[key] = refs
	return refs
}

func (a *admitters) matches(m *admitter, kind, place string) bool {
	_, name, _ := strings.Cut(strings.ToLower(kind), "/")
	name, group, _ := strings.Cut(name, ".")
	has := func(list []string, text string) bool {
		return slices.Contains(list, text) || slices.Contains(list, "*")
	}
	return slices.ContainsFunc(m.rules, func(r admissionRule) bool {
		return a.selects(r.namespaces, place) && has(r.groups, group) && (has(r.resources, plural(name)) || slices.Contains(r.resources, "*/*") || has(r.kinds, name))
	})
}

// selects reports whether a label selector may select a namespace. It returns true for a namespace
// that was not read, and for objects outside of namespaces.
func (a *admitters) selects(selector model.Value, place string) bool {
	labels, read := a.labels[place]
	return place == "" || !read || matchesLabels(selector, labels)
}

// matchesLabels reports whether a label selector selects an object with the labels.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
func matchesLabels(selector, labels model.Value) bool {
	for _, want := range selector.At("matchLabels").Fields() {
		if have, ok := labels.Get(want.Name); !ok || !have.Equal(want.Value) {
			return false
		}
	}
	return !slices.ContainsFunc(selector.At("matchExpressions").Items(), func(e model.Value) bool {
		have, ok := labels.Get(e.At("key").Str())
		in := ok && slices.ContainsFunc(e.At("values").Items(), have.Equal)
		switch e.At("operator").Str() {
		case "In":
			return !in
		case "NotIn":
			return in
		case "Exists":
			return !ok
		case "DoesNotExist":
			return ok
		}
		return false
	})
}

// plural returns the resource name of a lower-case kind, by the naming rule of
// Kubernetes.
func plural(kind string) string {
	switch {
	case kind == "endpoints":
		return kind
	case strings.HasSuffix(kind, "s") || strings.HasSuffix(kind, "x") || strings.HasSuffix(kind, "ch"):
		return kind + "es"
	case strings.HasSuffix(kind, "y") && !strings.HasSuffix(kind, "ey") && !strings.HasSuffix(kind, "ay"):
		return strings.TrimSuffix(kind, "y") + "ies"
	}
	return kind + "s"
}
