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

// Rights implements reconcile.Actuator. It reads the rights of the credentials for writing in each
// namespace that the credentials for reading can list.
func (a *Actuator) Rights(ctx context.Context) (reconcile.Rights, error) {
	writer, reader, err := a.clients()
	if err != nil {
		return reconcile.Rights{}, err
	}
	r, err := a.rights(ctx, writer, reader)
	if err != nil {
		a.drop(err)
		return r, a.public(writer, err)
	}
	return r, nil
}

func (a *Actuator) rights(ctx context.Context, writer, reader *client) (reconcile.Rights, error) {
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
	// The namespaces of each right.
	rights, incomplete := map[right][]string{}, false
	for _, namespace := range namespaces {
		status, err := reviewRules(ctx, writer, namespace)
		if err != nil {
			return r, err
		}
		incomplete = incomplete || status.At("incomplete").Text() == "true"
		for _, held := range rightsOf(status) {
			rights[held] = append(rights[held], namespace)
		}
	}
	for _, held := range slices.SortedFunc(maps.Keys(rights), right.compare) {
		text := held.text()
		if where := rights[held]; len(where) < len(namespaces) {
			text += " in " + strings.Join(where, ", ")
		}
		r.May = append(r.May, text)
		if why := held.excess(); why != "" {
			r.Excess = append(r.Excess, text+": "+why)
		}
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

// excess returns why the credentials do not need a right; "" if they may.
func (r right) excess() string {
	if r.verb == "*" || r.resource == "*" || r.group == "*" {
		return "it covers more than driftd changes: name the kinds and the verbs get and patch"
	}
	if !r.changes() {
		return ""
	}
	for _, f := range forbiddenKinds() {
		if f.fits(f.kind, r.group) && (f.kind == "" || strings.EqualFold(f.kind+"s", r.resource)) {
			return "driftd never changes it: " + f.reason
		}
	}
	switch r.verb {
	case "delete", "deletecollection":
		return "driftd deletes nothing"
	case "create":
		return "driftd needs it only for what a rule with create creates"
	case "patch":
		return r.excessPatch()
	}
	return "driftd only patches"
}

func (r right) excessPatch() string {
	switch {
	case r.resource == "secrets" && r.group == "":
		return "driftd needs it only to put Secrets back"
	case strings.Contains(r.resource, "/"):
		return "driftd writes no subresources"
	}
	return ""
}

// changes reports whether the verb changes objects.
func (r right) changes() bool { return r.verb != "get" && r.verb != "list" && r.verb != "watch" }
