package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// A look is all that one pass over the API server found. Nobody changes it
// after it was made.
type look struct {
	source  string
	taken   time.Time
	version string
	// catalog is what the server serves, listings what was read of it, sorted
	// by kind and namespace.
	catalog  *catalog
	listings []listing
	// scopes is the coverage of what was not listed, with the reason.
	scopes []model.Coverage
	kinds  map[string]*model.Kind
	// awaits tells that a kind is defined and not served; tries counts the looks
	// of a watch, in a row, that found it so.
	awaits bool
	tries  int
}

// look reads everything once. An error means that nothing could be read.
func (c *cluster) look(ctx context.Context) (*look, error) {
	r, err := c.reader()
	if err != nil {
		return nil, err
	}
	found := &look{source: c.env.Name, taken: c.now()}
	if found.catalog, err = discover(ctx, r.client); err != nil {
		return nil, c.fail(ctx, r, err)
	}
	apis := c.choose(found)
	if err := budget.Take(ctx, kindWeight*int64(len(found.catalog.apis))); err != nil {
		return nil, c.fail(ctx, r, err)
	}
	var wait conc.WaitGroup
	wait.Go(func() { found.version = r.version(ctx) })
	wait.Go(func() { c.refreshAudit(ctx, c.config.Timeout) })
	wait.Go(func() { found.kinds = c.schemas.kinds(ctx, r, apis) })
	found.listings = r.readAll(ctx, apis, r.list)
	wait.Wait()
	if err := found.failure(); err != nil || httpclient.Void(ctx, true) {
		return nil, c.fail(ctx, r, err)
	}
	r.recheck(ctx, found.listings)
	c.await(found)
	return found, nil
}

// kindWeight is about what reading one kind takes of memory beside its objects, in bytes.
const kindWeight = 4 << 10

// choose returns the kinds to list, and notes the scopes that are left out.
func (c *cluster) choose(found *look) []api {
	var apis []api
	for _, a := range found.catalog.apis {
		switch {
		case c.config.excludes(a.kind):
			found.leaveOut(a.kind, excludedReason)
		case !a.listable:
			found.leaveOut(a.kind, "the API server gives no list of this kind")
		default:
			apis = append(apis, a)
		}
	}
	for group, fault := range found.catalog.failed {
		wildcard := Type + "/*." + group
		if c.config.excludes(wildcard) {
			found.leaveOut(wildcard, excludedReason)
			continue
		}
		found.scopes = append(found.scopes, model.Coverage{Source: c.env.Name, Kind: wildcard, Reason: fault})
	}
	// A kind without an entry is not served: there are no objects of it.
	found.scopes = append(found.scopes, model.Coverage{Source: c.env.Name, Complete: true})
	return apis
}

const excludedReason = "left out by the setting exclude_kinds"

func (l *look) leaveOut(kind, reason string) {
	l.scopes = append(l.scopes, model.Coverage{Source: l.source, Kind: kind, Skipped: true, Reason: reason})
}

// version asks for the server's version; a server may keep it to itself.
func (r *reader) version(ctx context.Context) string {
	var info struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := r.getJSON(ctx, request{path: "/version"}, &info); err != nil {
		return ""
	}
	return httpclient.Printable(info.GitVersion)
}

// A lister reads a target, or tries to.
type lister func(context.Context, target) listing

// readAll lists the kinds side by side, those whose objects controllers make
// before those that own them: the owner of an object that was read exists when
// its own kind is read.
func (r *reader) readAll(ctx context.Context, apis []api, list lister) []listing {
	slots := newSlots(r.config.Concurrency, apis)
	found := make([][]listing, len(apis))
	for rank := range kube.OwnerRanks {
		var wait conc.WaitGroup
		for i, a := range apis {
			if kube.OwnerRank(a.kind) == rank {
				wait.Go(func() {
					slots.run(a.group, func() { found[i] = r.readKind(ctx, a, list) })
				})
			}
		}
		wait.Wait()
	}
	all := slices.Concat(found...)
	for i := range all {
		all[i].sort()
	}
	return all
}

// readKind lists a kind in all namespaces, or one by one in those that the
// settings name.
func (r *reader) readKind(ctx context.Context, a api, list lister) []listing {
	if a.namespaced && len(r.config.Namespaces) > 0 {
		return readPlaces(ctx, a, r.config.Namespaces, list)
	}
	all := list(ctx, target{api: a})
	if httpclient.Code(all.err) != http.StatusForbidden || !a.namespaced || len(r.config.TryNamespaces) == 0 {
		return []listing{all}
	}
	all.replaced = true
	return append([]listing{all}, readPlaces(ctx, a, r.config.TryNamespaces, list)...)
}

func readPlaces(ctx context.Context, a api, namespaces []string, list lister) []listing {
	var found []listing
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(namespaces))) {
		found = append(found, list(ctx, target{a, namespace}))
	}
	return found
}

// recheck looks again at kinds that were gone when they were listed: one that
// is no longer served has no objects.
func (r *reader) recheck(ctx context.Context, listings []listing) {
	var now *catalog
	var err error
	for i := range listings {
		l := &listings[i]
		if !isMissing(l.err) {
			continue
		}
		if now == nil && err == nil {
			now, err = discover(ctx, r.client)
		}
		if err == nil && now.lacks(l.api) {
			l.resources, l.err = nil, nil
		}
	}
}

// lacks tells that a kind is certainly not served.
func (c *catalog) lacks(a api) bool {
	_, served := c.find(a.kind)
	_, failed := c.failed[a.group]
	return !served && !failed
}

// failure returns why nothing at all could be read; nil when something was, or
// when the server answers and merely forbids.
func (l *look) failure() error {
	var first error
	for _, listing := range l.listings {
		if listing.err == nil || httpclient.Code(listing.err) == http.StatusForbidden {
			return nil
		}
		if first == nil {
			first = fmt.Errorf("list %s: %w", listing.resource, listing.err)
		}
	}
	return first
}

// coverage says whether a listing is whole.
func (l *listing) coverage(source string) model.Coverage {
	scope := model.Coverage{Source: source, Kind: l.kind, Place: l.namespace, Skipped: l.replaced}
	switch {
	case l.err != nil:
		scope.Reason = l.reason(l.err)
	case len(l.unreadable) > 0:
		scope.Reason = unreadableReason(l.unreadable)
	default:
		scope.Complete = true
	}
	return scope
}

// snapshot gives the look the form that the rest of driftd reads.
func (l *look) snapshot() model.Snapshot {
	s := l.frame(l.taken)
	for i := range l.listings {
		s.Resources = append(s.Resources, l.listings[i].resources...)
		s.Coverage = append(s.Coverage, l.listings[i].coverage(l.source))
	}
	read := make(map[target]progress, len(l.listings))
	for i := range l.listings {
		if l.listings[i].err == nil {
			read[l.listings[i].target] = l.listings[i].progress
		}
	}
	s.Positions = l.positions(func(t target) progress { return read[t] })
	kube.MarkOwnersRemoved(s.Resources)
	return finish(s)
}

// frame returns a snapshot that lacks what was listed.
func (l *look) frame(taken time.Time) model.Snapshot {
	return model.Snapshot{
		Source:   l.source,
		Taken:    taken,
		Kinds:    l.kinds,
		Version:  l.version,
		Coverage: slices.Clone(l.scopes),
	}
}

// finish completes a snapshot whose resources are its own to change.
func finish(s model.Snapshot) model.Snapshot {
	slices.SortFunc(s.Coverage, func(a, b model.Coverage) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Place, b.Place))
	})
	s.Coverage = withRest(s.Coverage)
	kube.Relate(s.Resources, func(kind, place string) bool {
		whole, _ := s.Covers(kind, place)
		return whole
	})
	s.Kinds = maps.Clone(s.Kinds)
	kube.RelateKinds(s.Kinds, s.Resources)
	return s
}

// withRest says of each kind that was read in some namespaces only that the
// others were not read. The coverage is sorted.
func withRest(sorted []model.Coverage) []model.Coverage {
	var all []model.Coverage
	for i, scope := range sorted {
		if scope.Place != "" && (i == 0 || sorted[i-1].Kind != scope.Kind) {
			all = append(all, model.Coverage{
				Source: scope.Source, Kind: scope.Kind, Skipped: true,
				Reason: "other namespaces are left out by the setting namespaces",
			})
		}
		all = append(all, scope)
	}
	return all
}
