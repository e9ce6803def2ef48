package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// A ref identifies an object without its version. The namespace is "" if the kind has none.
type ref struct{ group, kind, namespace, name string }

func (s *subject) ref() ref { return ref{s.group, s.kind, s.namespace, s.name} }

// An applier is a kind of objects that apply others and record which.
type applier struct {
	kind string
	// has reports whether such an object records that it applied another one.
	has func(applier model.Value, r ref) bool
	// tool is the name of the tool, and ask and show are its commands that make it apply again and that show its object,
	// up to the name.
	tool, ask, show string
	// flag is the flag of the commands for the namespace, and options what follows it in the command that asks.
	flag, options string
	// asker asks it to apply again; nil if driftd cannot ask it.
	asker asker
	// whole reports whether it applies all objects of its source then, and person is what needs a person, for messages.
	whole  bool
	person string
}

// An applied is an object of a tool that records that it applied another one.
type applied struct {
	*applier

	where  *served
	object model.Value
}

func (a *applied) name() string      { return a.object.At("metadata", "name").Str() }
func (a *applied) namespace() string { return a.object.At("metadata", "namespace").Str() }
func (a *applied) uid() string       { return a.object.At("metadata", "uid").Str() }

// see returns the command that shows the object.
func (a *applied) see() string { return a.show + a.name() + " " + a.flag + a.namespace() }

// command returns the command that makes the tool apply again.
func (a *applied) command() string {
	return a.ask + a.name() + " " + a.flag + a.namespace() + a.options
}

// title returns the kind and the name, for messages.
func (a *applied) title() string {
	return fmt.Sprintf("%s %s/%s of %s", a.where.kind, a.namespace(), a.name(), a.tool)
}

// path returns the path of the object in the API.
func (a *applied) path() string { return a.where.collection(a.namespace()) + "/" + a.name() }

// appliedNow reads the object of a tool again.
func (a *Actuator) appliedNow(ctx context.Context, reader *client, before *applied) (*applied, error) {
	object, err := reader.get(ctx, before.path())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", before.title(), err)
	}
	now := *before
	now.object = object
	return &now, nil
}

// appliers are those that record what they applied in their status. Only these records count: every
// client that can write an object can set and remove its labels. An object of another cluster in a
// record counts as one of this cluster, since both may be the same.
func appliers() []applier {
	return []applier{
		{kind: "kubernetes/Kustomization.kustomize.toolkit.fluxcd.io", has: inInventory, tool: "Flux",
			ask: "flux reconcile kustomization ", show: "flux get kustomization ", flag: "--namespace=", options: " --with-source",
			asker: flux{}, whole: true, person: "a request to Flux, which applies all that its source has,"},
		{kind: "kubernetes/HelmRelease.helm.toolkit.fluxcd.io", has: inInventory, tool: "Flux",
			ask: "flux reconcile helmrelease ", show: "flux get helmrelease ", flag: "--namespace=", options: " --force"},
		{kind: "kubernetes/Application.argoproj.io", has: inResources, tool: "Argo CD",
			ask: "argocd app sync ", show: "argocd app get ", flag: "--app-namespace=",
			asker: argo{}, person: "a request to Argo CD, which applies what it renders itself,"},
	}
}

// isAsked reports whether driftd asks objects of a kind.
func isAsked(kind string) bool {
	return slices.ContainsFunc(appliers(), func(a applier) bool { return a.kind == kind && a.asker != nil })
}

// inInventory reports whether the inventory of a Flux object has an entry for an object.
// https://fluxcd.io/flux/components/kustomize/kustomizations/#inventory
func inInventory(applier model.Value, r ref) bool {
	id := r.namespace + "_" + strings.ReplaceAll(r.name, ":", "__") + "_" + r.group + "_" + r.kind
	for _, entry := range applier.At("status", "inventory", "entries").Items() {
		if entry.At("id").Str() == id {
			return true
		}
	}
	return false
}

// inResources reports whether an Application of Argo CD has an object among its resources.
func inResources(applier model.Value, r ref) bool {
	return slices.ContainsFunc(applier.At("status", "resources").Items(), func(one model.Value) bool { return resourceRef(one) == r })
}

// resourceRef returns the ref of an entry of the resources of an Application.
func resourceRef(r model.Value) ref {
	return ref{r.At("group").Str(), r.At("kind").Str(), r.At("namespace").Str(), r.At("name").Str()}
}

// checkDeclarer refuses objects that Flux, Argo CD or Helm apply, or may apply, unless that is one object that driftd can ask, which
// it returns. shown is the object or, if it does not exist, what is declared.
func (a *Actuator) checkDeclarer(ctx context.Context, reader *client, s *subject, shown model.Value) (asked *applied, refusal *reconcile.Refusal) {
	tools := appliers()
	refusals := make([]*reconcile.Refusal, len(tools)+1)
	found := make([][]*applied, len(tools))
	var wait sync.WaitGroup
	for i := range tools {
		wait.Go(func() { found[i], refusals[i] = appliedBy(ctx, reader, &tools[i], s) })
	}
	wait.Go(func() { refusals[len(tools)] = a.checkHelm(ctx, reader, s, shown) })
	wait.Wait()
	for _, r := range refusals {
		if r != nil {
			return nil, r
		}
	}
	tool := ""
	switch all := slices.Concat(found...); {
	case len(all) > 1:
		return nil, refuse(guardDeclarer, "%s and %s both apply it: remove it from one of them", all[0].title(), all[1].title())
	case len(all) == 1 && all[0].asker == nil:
		return nil, refuse(guardDeclarer, "%s applies it, and would overrule another writer: run %s, which applies all that its source has", all[0].title(), all[0].command())
	case len(all) == 1:
		asked, tool = all[0], all[0].tool
	}
	return asked, checkManagers(s, shown, tool)
}

// appliedBy returns the objects of a tool that applied a subject.
func appliedBy(ctx context.Context, c *client, by *applier, s *subject) (found []*applied, refusal *reconcile.Refusal) {
	where, err := c.discover(ctx, by.kind)
	var items []model.Value
	if err == nil {
		items, err = c.list(ctx, where.collection(""), nil, "")
	}
	if errors.Is(err, errNotServed) {
		return nil, nil
	}
	if err != nil {
		return nil, refuse(guardDeclarer, "%s may apply it: %s", by.tool, notListed(c, err, by.kind, where))
	}
	for _, item := range items {
		if by.has(item, s.ref()) {
			found = append(found, &applied{by, where, item})
		}
	}
	return found, nil
}
