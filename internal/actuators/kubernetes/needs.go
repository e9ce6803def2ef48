package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// A judge compares rights with what rules need.
type judge struct {
	rules  []reconcile.Rule
	reader *client
	// kinds are the kinds of resources, by "resource.group"; nil if the API server does not serve one.
	kinds map[string]*served
}

// An excess is why a right is not needed in some namespaces.
type excess struct {
	why        string
	namespaces []string
}

// excess returns where a right is not needed, and why.
func (j *judge) excess(ctx context.Context, r right, namespaces []string) ([]excess, error) {
	if !r.changes() && !r.isBroad() {
		return nil, nil
	}
	kind, err := j.kind(ctx, r)
	if err != nil {
		return nil, err
	}
	var all []excess
	for _, namespace := range namespaces {
		why := j.unneeded(r, kind, namespace)
		if why == "" {
			continue
		}
		at := slices.IndexFunc(all, func(e excess) bool { return e.why == why })
		if at < 0 {
			at, all = len(all), append(all, excess{why: why})
		}
		all[at].namespaces = append(all[at].namespaces, namespace)
	}
	return all, nil
}

// kind returns the kind of a right's resource; nil if the API server does not serve it, or the right covers several.
func (j *judge) kind(ctx context.Context, r right) (*served, error) {
	if r.isBroad() || strings.Contains(r.resource, "/") {
		return nil, nil
	}
	name := r.resource + "." + r.group
	if known, ok := j.kinds[name]; ok {
		return known, nil
	}
	found, err := j.reader.kindOf(ctx, r.group, r.resource)
	if err != nil && !errors.Is(err, errNotServed) {
		return nil, fmt.Errorf("find the kind of %s: %w", strings.TrimSuffix(name, "."), err)
	}
	j.kinds[name] = found
	return found, nil
}

// unneeded returns why the credentials do not need a right in a namespace; "" if they may. kind is nil if it is not
// known.
func (j *judge) unneeded(r right, kind *served, namespace string) string {
	switch {
	case r.isBroad():
		return "it covers more than driftd changes: name the kinds and the verbs get and patch"
	case strings.Contains(r.resource, "/"):
		return "driftd writes no subresources"
	case kind == nil:
		return "the API server has no such kind"
	}
	for _, f := range forbiddenKinds() {
		if f.fits(kind.kind, kind.group) {
			return "driftd never changes it: " + f.reason
		}
	}
	switch r.verb {
	case "delete", "deletecollection":
		return "driftd deletes nothing"
	case "create", "patch":
		if r.verb == "patch" && isAsked(kind.name()) && slices.ContainsFunc(j.rules, func(r reconcile.Rule) bool { return r.Acts() }) {
			return "" // with it driftd asks the tool
		}
		return j.unused(r.verb, kind, namespace)
	}
	return "driftd only patches"
}

// unused returns that no rule uses the verb create or patch on a kind in a namespace; "" if one may.
func (j *judge) unused(verb string, kind *served, namespace string) string {
	if !kind.namespaced {
		namespace = ""
	}
	why := "no rule for actions matches it"
	for i := range j.rules {
		r := &j.rules[i]
		switch {
		case !r.Match.MayFit(kind.name(), namespace):
		case r.Acts() && (verb != "create" || r.Create):
			return ""
		case r.Acts():
			why = "no rule that matches it sets create"
		}
		if r.Ends(kind.name(), namespace) {
			break
		}
	}
	return why
}

// missing returns the rights that rules need and the credentials do not have. Kinds and namespaces that a rule does
// not name, but matches with a pattern, are not among them: it may be meant for some of them only.
func (a *Actuator) missing(ctx context.Context, writer, reader *client, held heldRights, rules []reconcile.Rule) (missing []string, err error) {
	for i := range rules {
		r := &rules[i]
		if !r.Acts() {
			continue
		}
		verbs := []string{"get", "patch"}
		if r.Create {
			verbs = append(verbs, "create")
		}
		for _, pattern := range r.Match.Kinds {
			name := strings.TrimPrefix(pattern, "kubernetes/")
			if strings.ContainsAny(name, "*?[/") { // a pattern, or a kind of another system
				continue
			}
			kind, err := a.served(ctx, reader, "kubernetes/"+name)
			if errors.Is(err, errNotServed) {
				missing = append(missing, fmt.Sprintf("%s: the API server does not serve the kind, which rule %q names", pattern, r.Name))
				continue
			}
			if err != nil {
				return missing, err
			}
			for _, namespace := range placesOf(r, kind) {
				for _, verb := range verbs {
					text, err := lacks(ctx, writer, held, kind, verb, namespace)
					if err != nil {
						return missing, err
					}
					if text != "" {
						missing = append(missing, fmt.Sprintf("%s: rule %q needs it", text, r.Name))
					}
				}
			}
		}
	}
	return missing, nil
}

// placesOf returns the namespaces that a rule names for a kind; "" stands for any.
func placesOf(r *reconcile.Rule, kind *served) []string {
	patterns := slices.ContainsFunc(r.Match.Namespaces, func(p string) bool { return strings.ContainsAny(p, "*?[") })
	if !kind.namespaced || patterns || len(r.Match.Namespaces) == 0 {
		return []string{""}
	}
	return r.Match.Namespaces
}

// lacks returns the right that the credentials do not have; "" if they have it. A right that is not listed is asked
// for: not every authorizer lists what it allows.
func lacks(ctx context.Context, writer *client, held heldRights, kind *served, verb, namespace string) (string, error) {
	if held.has(verb, kind, namespace) {
		return "", nil
	}
	attributes := model.MapOf(model.Field{Name: "group", Value: model.StringOf(kind.group)}, model.Field{Name: "namespace", Value: model.StringOf(namespace)},
		model.Field{Name: "resource", Value: model.StringOf(kind.resource)}, model.Field{Name: "verb", Value: model.StringOf(verb)})
	review, err := writer.review(ctx, "authorization.k8s.io/v1", "SelfSubjectAccessReview", model.MapOf(model.Field{Name: "resourceAttributes", Value: attributes}))
	if err != nil {
		return "", fmt.Errorf("ask for the right to %s %s: %w", verb, kind.resource, err)
	}
	if review.At("status", "allowed").Text() == "true" {
		return "", nil
	}
	text := right{verb: verb, group: kind.group, resource: kind.resource}.text()
	if namespace != "" {
		text += " in " + namespace
	}
	return text, nil
}

// name returns the name of the kind in findings.
func (s *served) name() string { return kube.KindName(s.apiVersion(), s.kind) }

// kindOf returns the kind of a resource.
func (c *client) kindOf(ctx context.Context, group, resource string) (*served, error) {
	versions, err := c.versions(ctx, group)
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		answer, err := c.get(ctx, versionPath(group, version))
		if err != nil {
			return nil, err
		}
		resources, err := part(answer, "resources")
		if err != nil {
			return nil, err
		}
		for _, r := range resources.Items() {
			if r.At("name").Str() == resource {
				return &served{group: group, version: version, kind: r.At("kind").Str(), resource: resource, namespaced: r.At("namespaced").Text() == "true"}, nil
			}
		}
	}
	return nil, errNotServed
}
