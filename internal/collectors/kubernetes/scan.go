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
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// A scan is the result of one full read of the API server. It is immutable.
type scan struct {
	source  string
	taken   time.Time
	version string
	// catalog is the result of discovery. listings are the lists, sorted by kind and
	// namespace.
	catalog  *catalog
	listings []listing
	// scopes is the coverage of kinds that were not listed, with the reason.
	scopes []model.Coverage
	kinds  map[string]*model.Kind
	// unserved reports that a kind is defined but not served. tries is the number of
	// consecutive scans of a watch with unserved kinds before this one.
	unserved bool
	tries    int
}

// scan reads the whole API server once. It returns an error if nothing could be read.
func (c *cluster) scan(ctx context.Context) (*scan, error) {
	r, err := c.reader()
	if err != nil {
		return nil, err
	}
	defer c.releases.begin()()
	found := &scan{source: c.env.Name, taken: c.now()}
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
	if err := found.failure(); err != nil || collectors.Void(ctx, true) {
		return nil, c.fail(ctx, r, err)
	}
	r.recheck(ctx, found.listings)
	c.addUnserved(found)
	return found, nil
}

// kindWeight is the approximate memory use of one kind without its objects, in bytes.
const kindWeight = 4 << 10

// choose returns the kinds to list, and adds the coverage of the kinds that are not listed.
func (c *cluster) choose(found *scan) []api {
	var apis []api
	for _, a := range found.catalog.apis {
		switch {
		case c.config.excludes(a.kind):
			found.skip(a.kind, excludedReason)
		case !a.listable:
			found.skip(a.kind, "the API server cannot list this kind")
		default:
			apis = append(apis, a)
		}
	}
	for group, fault := range found.catalog.failed {
		wildcard := Type + "/*." + group
		if c.config.excludes(wildcard) {
			found.skip(wildcard, excludedReason)
			continue
		}
		found.scopes = append(found.scopes, model.Coverage{Source: c.env.Name, Kind: wildcard, Reason: fault})
	}
	// Other kinds are not served and have no objects.
	found.scopes = append(found.scopes, model.Coverage{Source: c.env.Name, Complete: true})
	return apis
}

const excludedReason = "excluded by the setting exclude_kinds"

func (sc *scan) skip(kind, reason string) {
	sc.scopes = append(sc.scopes, model.Coverage{Source: sc.source, Kind: kind, Skipped: true, Reason: reason})
}

// version returns the server's version, or "" if the server does not return it.
func (r *reader) version(ctx context.Context) string {
	var info struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := r.getJSON(ctx, request{path: "/version"}, &info); err != nil {
		return ""
	}
	return printable.Text(info.GitVersion)
}

// A lister lists a target.
type lister func(context.Context, target) listing

// readAll lists the kinds concurrently. It lists kinds of owners after the kinds of their
// dependents, so that the list of an owner's kind contains the owners of all listed dependents.
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

// readKind lists a kind in all namespaces, or in each namespace of the settings.
func (r *reader) readKind(ctx context.Context, a api, list lister) []listing {
	if a.namespaced && len(r.config.Namespaces) > 0 {
		return readNamespaces(ctx, a, r.config.Namespaces, list)
	}
	all := list(ctx, target{api: a})
	if httpclient.Code(all.err) != http.StatusForbidden || !a.namespaced || len(r.config.TryNamespaces) == 0 {
		return []listing{all}
	}
	all.replaced = true
	return append([]listing{all}, readNamespaces(ctx, a, r.config.TryNamespaces, list)...)
}

func readNamespaces(ctx context.Context, a api, namespaces []string, list lister) []listing {
	var found []listing
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(namespaces))) {
		found = append(found, list(ctx, target{a, namespace}))
	}
	return found
}

// recheck repeats discovery if a list returned status 404. The list of a kind that is no longer
// served becomes empty and complete.
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

// lacks reports whether a kind is not served. It returns false if the kind's group failed.
func (c *catalog) lacks(a api) bool {
	_, served := c.find(a.kind)
	_, failed := c.failed[a.group]
	return !served && !failed
}

// failure returns the first error if every list failed. It returns nil if a list is forbidden:
// the server works and the user lacks permissions.
func (sc *scan) failure() error {
	var first error
	for _, listing := range sc.listings {
		if listing.err == nil || httpclient.Code(listing.err) == http.StatusForbidden {
			return nil
		}
		if first == nil {
			first = fmt.Errorf("list %s: %w", listing.resource, listing.err)
		}
	}
	return first
}

// coverage returns the coverage of a listing.
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

// snapshot returns the snapshot of the scan.
func (sc *scan) snapshot() model.Snapshot {
	s := sc.emptySnapshot(sc.taken)
	total := 0
	for i := range sc.listings {
		total += len(sc.listings[i].resources)
	}
	s.Resources = slices.Grow(s.Resources, total)
	for i := range sc.listings {
		s.Resources = append(s.Resources, sc.listings[i].resources...)
		s.Coverage = append(s.Coverage, sc.listings[i].coverage(sc.source))
	}
	read := make(map[target]progress, len(sc.listings))
	for i := range sc.listings {
		if sc.listings[i].err == nil {
			read[sc.listings[i].target] = sc.listings[i].progress
		}
	}
	s.Positions = sc.positions(func(t target) progress { return read[t] })
	kube.MarkOwnersRemoved(s.Resources)
	return finish(s)
}

// emptySnapshot returns a snapshot without the listings.
func (sc *scan) emptySnapshot(taken time.Time) model.Snapshot {
	return model.Snapshot{
		Source:   sc.source,
		Taken:    taken,
		Kinds:    sc.kinds,
		Version:  sc.version,
		Coverage: slices.Clone(sc.scopes),
	}
}

// finish sorts the coverage and adds the relations between resources. It modifies the resources of
// s.
func finish(s model.Snapshot) model.Snapshot {
	slices.SortFunc(s.Coverage, func(a, b model.Coverage) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Place, b.Place))
	})
	s.Coverage = withOtherNamespaces(s.Coverage)
	kube.Relate(s.Resources, func(kind, place string) bool {
		whole, _ := s.Covers(kind, place)
		return whole
	})
	s.Kinds = maps.Clone(s.Kinds)
	kube.RelateKinds(s.Kinds, s.Resources)
	kube.AddReleases(&s)
	kube.SettleChecks(&s)
	return s
}

// withOtherNamespaces adds skipped coverage of the other namespaces for each kind that was
// listed in single namespaces only. The coverage must be sorted.
func withOtherNamespaces(sorted []model.Coverage) []model.Coverage {
	var all []model.Coverage
	for i, scope := range sorted {
		if scope.Place != "" && (i == 0 || sorted[i-1].Kind != scope.Kind) {
			all = append(all, model.Coverage{
				Source: scope.Source, Kind: scope.Kind, Skipped: true,
				Reason: "other namespaces are excluded by the setting namespaces",
			})
		}
		all = append(all, scope)
	}
	return all
}
