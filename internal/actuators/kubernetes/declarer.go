package kubernetes

import (
	"context"
	"errors"
	"fmt"
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
	// tool is the name of the tool, and ask the command that makes it apply again, up to the name.
	tool, ask string
	// flag is the flag of the command for the namespace, with what follows it.
	flag, options string
	// asked reports whether driftd itself can ask it to apply again.
	asked bool
}

// An applied is an object of a tool that records that it applied another one.
type applied struct {
	*applier

	where  *served
	object model.Value
}

func (a *applied) name() string      { return a.object.At("metadata", "name").Str() }
func (a *applied) namespace() string { return a.object.At("metadata", "namespace").Str() }

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

// fluxKind is the kind of the objects of Flux that driftd asks.
const fluxKind = "kubernetes/Kustomization.kustomize.toolkit.fluxcd.io"

// appliers are those that record what they applied in their status. Only these records count: every
// client that can write an object can set and remove its labels. An object of another cluster in a
// record counts as one of this cluster, since both may be the same.
func appliers() []applier {
	return []applier{
		{fluxKind, inInventory, "Flux", "flux reconcile kustomization ", "--namespace=", " --with-source", true},
		{"kubernetes/HelmRelease.helm.toolkit.fluxcd.io", inInventory, "Flux", "flux reconcile helmrelease ", "--namespace=", " --force", false},
		{"kubernetes/Application.argoproj.io", inResources, "Argo CD", "argocd app sync ", "--app-namespace=", "", false},
	}
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
	for _, x := range applier.At("status", "resources").Items() {
		if (ref{x.At("group").Str(), x.At("kind").Str(), x.At("namespace").Str(), x.At("name").Str()}) == r {
			return true
		}
	}
	return false
}

// checkDeclarer refuses objects that Flux, Argo CD or Helm apply, or may apply, unless that is one Kustomization of Flux, which it
// returns: driftd asks it. shown is the object or, if it does not exist, what is declared.
func (a *Actuator) checkDeclarer(ctx context.Context, reader *client, s *subject, shown model.Value) (asked *applied, refusal *reconcile.Refusal) {
	tools := appliers()
	refusals := make([]*reconcile.Refusal, len(tools)+1)
	found := make([]*applied, len(tools))
	var wait sync.WaitGroup
	for i := range tools {
		wait.Go(func() { found[i], refusals[i] = checkApplier(ctx, reader, &tools[i], s) })
	}
	wait.Go(func() { refusals[len(tools)] = a.checkHelm(ctx, reader, s, shown) })
	wait.Wait()
	for _, r := range refusals {
		if r != nil {
			return nil, r
		}
	}
	tool := ""
	for _, f := range found {
		if f != nil {
			asked, tool = f, f.tool
		}
	}
	return asked, checkManagers(s, shown, tool)
}

// checkApplier returns the object of a tool that applied a subject; nil if there is none. It refuses those that driftd cannot ask.
func checkApplier(ctx context.Context, c *client, by *applier, s *subject) (asked *applied, refusal *reconcile.Refusal) {
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
		if !by.has(item, s.ref()) {
			continue
		}
		found := &applied{by, where, item}
		switch {
		case asked != nil:
			return nil, refuse(guardDeclarer, "%s and %s both apply it: remove it from one of them", asked.title(), found.title())
		case !by.asked:
			return nil, refuse(guardDeclarer, "%s applies it, and would overrule another writer: run %s%s %s%s%s, which applies all that its source has",
				found.title(), by.ask, found.name(), by.flag, found.namespace(), by.options)
		}
		asked = found
	}
	return asked, nil
}
