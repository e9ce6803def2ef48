package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// maxNamespaces bounds the namespaces in which rights are read.
const maxNamespaces = 200

// Rights implements reconcile.Actuator. It reads the permissions of the credentials for writing, in each
// namespace that the credentials for reading can list.
func (a *Actuator) Rights(ctx context.Context, rules []reconcile.Rule) (reconcile.Rights, error) {
	writer, reader, err := a.clients()
	if err != nil {
		return reconcile.Rights{}, err
	}
	r, err := a.rights(ctx, writer, reader, rules)
	if err != nil {
		a.drop(err)
		return r, a.public(writer, err)
	}
	return r, nil
}

func (a *Actuator) rights(ctx context.Context, writer, reader *client, rules []reconcile.Rule) (reconcile.Rights, error) {
	identity, err := a.who(ctx, writer)
	if err != nil {
		return reconcile.Rights{}, err
	}
	r := reconcile.Rights{Endpoint: writer.server(), Identity: identity}
	namespaces := []string{"default"}
	items, failed := reader.list(ctx, "/api/v1/namespaces", nil, onlyMetadata)
	if len(items) > 0 {
		namespaces = nil
	}
	for _, item := range items[:min(len(items), maxNamespaces)] {
		namespaces = append(namespaces, item.At("metadata", "name").Str())
	}
	held, incomplete := heldRights{}, false
	for _, namespace := range namespaces {
		status, err := reviewRules(ctx, writer, namespace)
		if err != nil {
			return r, err
		}
		incomplete = incomplete || status.At("incomplete").Text() == "true"
		for _, one := range rightsOf(status) {
			held[one] = append(held[one], namespace)
		}
	}
	judge := judge{rules: rules, reader: reader, kinds: map[string]*served{}}
	for _, one := range slices.SortedFunc(maps.Keys(held), right.compare) {
		r.May = append(r.May, one.in(held[one], namespaces))
		excess, err := judge.excess(ctx, one, held[one])
		if err != nil {
			return r, err
		}
		for _, e := range excess {
			r.Excess = append(r.Excess, one.in(e.namespaces, namespaces)+": "+e.why)
		}
	}
	if r.Missing, err = a.missing(ctx, writer, reader, held, rules); err != nil {
		return r, err
	}
	switch {
	case failed != nil:
		r.May = append(r.May, "perhaps more in other namespaces than default: list them: "+reader.explain(failed))
	case len(items) > maxNamespaces:
		r.May = append(r.May, fmt.Sprintf("perhaps more: only %d of %d namespaces were asked", maxNamespaces, len(items)))
	}
	if incomplete {
		r.May = append(r.May, "perhaps more: an authorizer of the API server cannot list its rules")
	}
	return r, nil
}

// reviewRules returns the rules of the user in a namespace, with those for the whole cluster.
func reviewRules(ctx context.Context, c *client, namespace string) (model.Value, error) {
	spec := model.MapOf(model.Field{Name: "namespace", Value: model.StringOf(namespace)})
	review, err := c.review(ctx, "authorization.k8s.io/v1", "SelfSubjectRulesReview", spec)
	if err != nil {
		return model.Value{}, fmt.Errorf("ask for the rights in namespace %s: %w", namespace, err)
	}
	return review.At("status"), nil
}

// A right is one verb on one resource. The names are those of the objects to which it is limited.
type right struct{ verb, group, resource, names string }

func (r right) compare(o right) int {
	return strings.Compare(r.resource+" "+r.group+" "+r.verb+" "+r.names, o.resource+" "+o.group+" "+o.verb+" "+o.names)
}

func (r right) text() string {
	text := r.verb + " " + r.resource
	if r.group != "" {
		text += "." + r.group
	}
	if r.names != "" {
		text += " " + r.names
	}
	return text
}

// rightsOf returns the rights in the status of a review, without those that every user has.
func rightsOf(status model.Value) (all []right) {
	for _, rule := range status.At("resourceRules").Items() {
		var names []string
		for _, n := range rule.At("resourceNames").Items() {
			names = append(names, n.Str())
		}
		slices.Sort(names)
		for _, group := range rule.At("apiGroups").Items() {
			if group.Str() == "authorization.k8s.io" || group.Str() == "authentication.k8s.io" {
				continue
			}
			for _, resource := range rule.At("resources").Items() {
				for _, verb := range rule.At("verbs").Items() {
					r := right{verb.Str(), group.Str(), resource.Str(), strings.Join(names, ", ")}
					if !slices.Contains(all, r) {
						all = append(all, r)
					}
				}
			}
		}
	}
	return all
}

// in returns the text of the right with the namespaces in which it is held, unless those are all.
func (r right) in(held, all []string) string {
	if len(held) == len(all) {
		return r.text()
	}
	return r.text() + " in " + strings.Join(held, ", ")
}

// changes reports whether the verb changes objects.
func (r right) changes() bool { return r.verb != "get" && r.verb != "list" && r.verb != "watch" }

// isBroad reports whether the right covers verbs, groups or resources that it does not name.
func (r right) isBroad() bool { return r.verb == "*" || r.resource == "*" || r.group == "*" }

// heldRights are the namespaces of each right.
type heldRights map[right][]string

// has reports whether a right on a resource, on all objects or on some, is held in a namespace; "" stands for any.
func (h heldRights) has(verb string, s *served, namespace string) bool {
	for held, namespaces := range h {
		fits := (held.verb == verb || held.verb == "*") && (held.group == s.group || held.group == "*") && (held.resource == s.resource || held.resource == "*")
		if fits && (namespace == "" || slices.Contains(namespaces, namespace)) {
			return true
		}
	}
	return false
}
