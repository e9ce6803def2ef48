package netbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

const (
	// maxObjects is how many objects one partial read has at most. A full read is quicker then.
	maxObjects = 2000
	// maxIDs is how many ids one request has: the address of a request must not be too long.
	maxIDs = 100
	// maxOwners is how many levels of owners an object has: an address, its interface and the
	// machine.
	maxOwners = 3
)

// CollectObjects implements collectors.ObjectCollector. It reads objects through their lists, so
// that absence is proven in the same way as in a full read.
func (c *inventory) CollectObjects(ctx context.Context, names []model.ObjectName, last *model.Snapshot) (model.Snapshot, error) {
	groups := normalize.NewGroups(c.kinds)
	refs, err := c.resolve(groups, names)
	if err != nil {
		return model.Snapshot{}, err
	}
	sc, end, err := c.begin()
	if err != nil {
		return model.Snapshot{}, c.fail(ctx, err)
	}
	defer end()
	if err := sc.readVersion(ctx); err != nil {
		return model.Snapshot{}, c.fail(ctx, err)
	}
	sc.first = sc.newestChange(ctx)
	sc.visibility = sc.readVisibility(ctx)
	if sc.readTypes(ctx); sc.types == nil {
		return model.Snapshot{}, &collectors.WholeError{Reason: "the definitions of custom fields could not be read"}
	}
	clear(sc.lists)
	o := &objects{scan: sc, groups: groups, last: last, read: map[model.Ref]bool{}}
	if err := o.readAll(ctx, refs); err != nil {
		return model.Snapshot{}, sc.failObjects(ctx, err)
	}
	sc.revokeFullVisibility()
	if err := o.checkAbsent(ctx); err != nil {
		return model.Snapshot{}, err
	}
	if c.config.logged() {
		sc.changes = sc.log.read(ctx, sc, nil)
		if sc.changes.failure != "" {
			return model.Snapshot{}, &collectors.WholeError{Reason: "the changelog could not be read: " + sc.changes.failure}
		}
	}
	if sc.first > 0 {
		sc.last = sc.newestChange(ctx)
	}
	if sc.logPosition() == nil {
		return model.Snapshot{}, &collectors.WholeError{Reason: "without the changelog, the answer of an old copy could not be told from a new one"}
	}
	return o.part(), nil
}

// resolve returns the named objects, as far as their kinds can be read alone.
func (c *inventory) resolve(groups *normalize.Groups, names []model.ObjectName) ([]model.Ref, error) {
	refs := make([]model.Ref, 0, len(names))
	for _, name := range names {
		k := groups.Kind(kindNamed(c.kinds, name.Type))
		switch id, err := strconv.ParseInt(name.ID, 10, 64); {
		case k == nil:
			return nil, &collectors.WholeError{Reason: printable.Text(name.Type) + " is not a kind whose objects are read alone"}
		case c.config.excludes(k):
			return nil, &collectors.WholeError{Reason: k.Name + " is left out by exclude_kinds"}
		case err != nil || id <= 0:
			return nil, &collectors.WholeError{Reason: "the event has no valid id"}
		default:
			refs = append(refs, model.Ref{Kind: k.Name, ID: strconv.FormatInt(id, 10)})
		}
	}
	return refs, nil
}

// kindNamed returns the kind that an event means: "ipam.prefix", or "prefix" before NetBox 4.3;
// "" if there is none, or more than one.
func kindNamed(kinds []*normalize.Kind, typ string) string {
	var found []string
	for _, k := range kinds {
		if k.Model == typ || !strings.Contains(typ, ".") && normalize.Noun(k.Model) == typ {
			found = append(found, k.Name)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// failObjects returns the error of a partial read.
func (sc *scan) failObjects(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read %s: %w", sc.config.URL, ctx.Err())
	}
	if errors.As(err, new(*collectors.WholeError)) {
		return err
	}
	return sc.config.explain(err)
}

// objects is a partial read.
type objects struct {
	*scan
	groups *normalize.Groups
	// last is the last snapshot of the source.
	last *model.Snapshot
	// read reports for each object that was read whether it is present.
	read map[model.Ref]bool
}

// readAll reads the objects, the machines or devices to which they belong now or belonged in the
// last snapshot, and all parts of these.
func (o *objects) readAll(ctx context.Context, refs []model.Ref) error {
	for range maxOwners {
		if err := o.readRefs(ctx, refs); err != nil {
			return err
		}
		refs = o.owners(refs)
	}
	wholes := map[string][]string{}
	for ref, present := range o.read {
		if present && o.groups.Parts(ref.Kind) != nil {
			wholes[ref.Kind] = append(wholes[ref.Kind], ref.ID)
		}
	}
	rest := o.formerParts()
	for kind, ids := range wholes {
		for _, p := range o.groups.Parts(kind) {
			if err := o.readRows(ctx, p.Kind, p.Filter, ids); err != nil {
				return err
			}
		}
	}
	return o.readRefs(ctx, rest)
}

// owners returns the objects to which others belong.
func (o *objects) owners(refs []model.Ref) []model.Ref {
	var all []model.Ref
	for _, ref := range refs {
		for _, value := range o.values(ref) {
			if owner := o.groups.Owner(ref.Kind, value); owner != (model.Ref{}) {
				all = append(all, owner)
			}
		}
	}
	return all
}

// values returns the values of an object, in this read and in the last snapshot.
func (o *objects) values(ref model.Ref) []model.Value {
	var all []model.Value
	for i := range o.lists[ref.Kind] {
		if row := &o.lists[ref.Kind][i]; row.ID == ref.ID {
			all = append(all, row.Value)
		}
	}
	if r := find(o.last.Resources, ref); r != nil {
		all = append(all, r.Value)
	}
	return all
}

// formerParts returns the parts that the objects which were read have in the last snapshot.
func (o *objects) formerParts() []model.Ref {
	var parts []model.Ref
	for i := range o.last.Resources {
		r := &o.last.Resources[i]
		owner := o.groups.Owner(r.Kind, r.Value)
		for range maxOwners {
			if _, read := o.read[owner]; read && o.groups.Parts(owner.Kind) != nil {
				parts = append(parts, model.Ref{Kind: r.Kind, ID: r.ID})
				break
			}
			next := find(o.last.Resources, owner)
			if next == nil {
				break
			}
			owner = o.groups.Owner(next.Kind, next.Value)
		}
	}
	return parts
}

// readRefs reads objects by their IDs, unless they were read before.
func (o *objects) readRefs(ctx context.Context, refs []model.Ref) error {
	byKind := map[string][]string{}
	for _, ref := range refs {
		if _, done := o.read[ref]; !done {
			o.read[ref] = false
			byKind[ref.Kind] = append(byKind[ref.Kind], ref.ID)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		if err := o.readRows(ctx, o.groups.Kind(kind), "id", byKind[kind]); err != nil {
			return err
		}
	}
	return nil
}

// readRows reads the rows of a kind whose filter matches one of the IDs. It skips a list that the
// last full read could not read either.
func (o *objects) readRows(ctx context.Context, k *normalize.Kind, filter string, ids []string) error {
	if o.config.excludes(k) || o.version.Before(k.Since) {
		return nil
	}
	for part := range slices.Chunk(ids, maxIDs) {
		rows, err := o.list(ctx, k, url.Values{filter: part})
		if err != nil {
			return o.recordFailure(k, err)
		}
		for _, row := range rows {
			if filter == "id" && !slices.Contains(part, row.ID) {
				return &collectors.WholeError{Reason: "NetBox, or a cache in front of it, ignores the filter id of " + k.Path}
			}
			if ref := (model.Ref{Kind: k.Name, ID: row.ID}); !o.read[ref] {
				o.read[ref], o.lists[k.Name] = true, append(o.lists[k.Name], row)
			}
		}
		if len(o.read) > maxObjects {
			return &collectors.WholeError{Reason: fmt.Sprintf("more than %d objects belong together", maxObjects)}
		}
	}
	return nil
}

// recordFailure returns the error of a list, unless the last full read could not read it either.
func (o *objects) recordFailure(k *normalize.Kind, err error) error {
	covered, _ := o.last.Covers(k.Name, "")
	switch code := httpclient.Code(err); {
	case code == http.StatusBadRequest:
		return &collectors.WholeError{Reason: "NetBox refuses the filter of " + k.Path + ": " + printable.Text(err.Error())}
	case !covered && (code == http.StatusForbidden || o.isMissingList(err)):
		o.record(k, nil, err)
		return nil
	}
	return err
}

// checkAbsent returns an error if an object of the last snapshot is gone and the token may only
// not see it, according to its permissions before or after the objects were read.
func (o *objects) checkAbsent(ctx context.Context) error {
	again := false
	for ref, present := range o.read {
		k := o.groups.Kind(ref.Kind)
		if present || find(o.last.Resources, ref) == nil {
			continue
		}
		if !again {
			again = true
			o.visibility = o.visibility.intersect(o.readVisibility(ctx))
		}
		if reason := o.visibility.restriction(k.Model); reason != "" {
			return &collectors.WholeError{Reason: k.Name + " " + ref.ID + " is not in the answer, and may be hidden: " + reason}
		}
	}
	return nil
}

// part returns the snapshot of the objects that were read.
func (o *objects) part() model.Snapshot {
	s := model.Snapshot{Source: o.env.Name, Taken: o.taken, Resources: o.resources(), Positions: o.logPosition()}
	for ref := range o.read {
		s.Reread = append(s.Reread, model.Reread{Ref: ref, At: o.taken})
	}
	slices.SortFunc(s.Reread, func(a, b model.Reread) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	merged := o.last.With(&s)
	s.AuditEvents = slices.DeleteFunc(explain(o.changes.entries, merged.Resources), func(e model.AuditEvent) bool {
		_, read := o.read[e.Ref]
		return e.ID != "" && !read
	})
	o.markStale(&s)
	return s
}
