package netbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
)

// A scan is one read of a NetBox.
type scan struct {
	config Config
	env    collectors.Env
	kinds  []*normalize.Kind
	// probeOnly reads only the first object of each list.
	probeOnly bool
	taken     time.Time
	session   *netboxapi.Session
	log       *changelog

	// release is the version as NetBox writes it, and version its parsed form. cursor reports
	// whether lists can be paged by id. apiVersionHeader reports whether NetBox's answers have
	// the header API-Version, by which they differ from those of a proxy.
	release          string
	version          normalize.Version
	cursor           bool
	apiVersionHeader bool
	visibility       visibility
	// types are the types of custom fields by name; nil if they are not known.
	types map[string]string
	// changes are the entries of the changelog. first and last are the ids of its newest entry
	// before and after the lists were read.
	changes     logReading
	first, last int64

	mu sync.Mutex
	// lists are the objects that were read, by the kind's name.
	lists map[string][]object
	gaps  map[string]gap
}

// A gap is a kind that was not fully read.
type gap struct {
	reason  string
	skipped bool
	// forbidden reports whether NetBox answered 403.
	forbidden bool
}

// read reads the permissions of the token, and then all lists and, concurrently, the changelog.
// After the lists, it reads the permissions again, and the new entries of the changelog, so that the
// authors of changes during the scan are included.
func (sc *scan) read(ctx context.Context) {
	sc.first = sc.newestChange(ctx)
	sc.visibility = sc.readVisibility(ctx)
	sc.readTypes(ctx)
	var background conc.WaitGroup
	var failed error
	if !sc.probeOnly && sc.config.logged() && sc.log.needsFullRead(sc.taken) {
		background.Go(func() { failed = sc.log.update(ctx, sc) })
	}
	collectors.Parallel(sc.config.Concurrency, len(sc.kinds), func(i int) { sc.readKind(ctx, sc.kinds[i]) })
	background.Wait()
	if ctx.Err() == nil {
		sc.visibility = sc.visibility.intersect(sc.readVisibility(ctx))
	}
	sc.revokeFullVisibility()
	if !sc.probeOnly && sc.config.logged() {
		sc.changes = sc.log.read(ctx, sc, failed)
	}
	if sc.first > 0 {
		sc.last = sc.newestChange(ctx)
	}
}

// revokeFullVisibility sets the visibility to unknown if it is a superuser's and a list was
// forbidden. NetBox forbids nothing to a superuser.
func (sc *scan) revokeFullVisibility() {
	for _, g := range sc.gaps {
		if g.forbidden && sc.visibility.all && !sc.config.Unrestricted {
			sc.visibility = visibility{identity: sc.visibility.identity, unknown: visibilityUnknown("")}
		}
	}
}

// readTypes reads the definitions of custom fields, because the values do not contain their types.
func (sc *scan) readTypes(ctx context.Context) {
	if sc.probeOnly {
		return
	}
	for _, k := range sc.kinds {
		if k.Model != normalize.CustomField {
			continue
		}
		rows, err := sc.list(ctx, k, nil)
		if err == nil {
			sc.types = normalize.Types(values(rows))
		}
		sc.record(k, rows, err)
	}
}

func values(rows []object) []model.Value {
	all := make([]model.Value, len(rows))
	for i := range rows {
		all[i] = rows[i].Value
	}
	return all
}

// readKind reads the list of a kind, unless it is excluded or was read before.
func (sc *scan) readKind(ctx context.Context, k *normalize.Kind) {
	switch {
	case sc.config.excludes(k):
		sc.skip(k, "left out by exclude_kinds")
	case sc.version.Before(k.Since):
		sc.skip(k, "NetBox has it only since "+k.Since.String())
	case sc.probeOnly:
		sc.probeKind(ctx, k)
	case k.Model != normalize.CustomField:
		rows, err := sc.list(ctx, k, nil)
		sc.record(k, rows, err)
	}
}

// An object is a normalized object with its id as a number.
type object struct {
	id int64
	normalize.Object
}

func (o object) number() int64 { return o.id }

// list reads the list of a kind, or the rows that filter selects.
func (sc *scan) list(ctx context.Context, k *normalize.Kind, filter url.Values) ([]object, error) {
	normalizer := normalize.New(sc.env.Sealer, sc.version, sc.types)
	asked := sc.listing(k)
	asked.filter = filter
	return readList(ctx, sc.session, asked, func(row model.Value) (object, error) {
		o, err := normalizer.Object(k, row)
		if err != nil {
			return object{}, err
		}
		id, err := strconv.ParseInt(o.ID, 10, 64)
		return object{id, o}, err
	})
}

// listing returns the list to request for a kind. Versions before 4.0 cannot leave out fields.
func (sc *scan) listing(k *normalize.Kind) list {
	asked := list{path: k.Path + "/", size: sc.config.PageSize, cursor: sc.cursor}
	if !sc.version.Before(normalize.Version{Major: 4}) {
		asked.fields = k.Query(sc.version)
	}
	return asked
}

// probeKind requests the first object of a list, to check the permission.
func (sc *scan) probeKind(ctx context.Context, k *normalize.Kind) {
	asked := sc.listing(k)
	asked.size, asked.fields = 1, "id"
	_, err := readPage(ctx, sc.session, asked.path, asked.query(), func(row model.Value) (int64, error) { return number(row.At("id")) })
	sc.record(k, nil, err)
}

// record stores the objects of a kind, or the reason why they were not read. A list for which
// NetBox itself returns status 404 does not exist in this version.
func (sc *scan) record(k *normalize.Kind, rows []object, err error) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if sc.config.excludes(k) {
		return
	}
	switch {
	case sc.isMissingList(err):
		sc.gaps[k.Name] = gap{reason: "NetBox " + sc.release + " does not have this list", skipped: true}
	case err != nil:
		sc.gaps[k.Name] = gap{reason: sc.config.reason(k, err), forbidden: httpclient.Code(err) == http.StatusForbidden}
	default:
		sc.lists[k.Name] = rows
	}
}

// isMissingList reports whether err is an answer of NetBox itself that the list does not exist.
func (sc *scan) isMissingList(err error) bool {
	status := httpclient.StatusOf(err)
	return status != nil && status.Code == http.StatusNotFound && (status.Own || !sc.apiVersionHeader)
}

// skip records that a kind was left out on purpose.
func (sc *scan) skip(k *normalize.Kind, reason string) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.gaps[k.Name] = gap{reason: reason, skipped: true}
}

// snapshot returns the snapshot of the objects and entries that were read.
func (sc *scan) snapshot() model.Snapshot {
	positions, resources := sc.positions(), sc.resources()
	s := model.Snapshot{
		Source:      sc.env.Name,
		Taken:       sc.taken,
		Resources:   resources,
		Coverage:    sc.coverage(),
		Kinds:       sc.schemas(),
		Version:     sc.release,
		LogUnread:   sc.logUnread(),
		AuditEvents: explain(sc.changes.entries, resources),
		Positions:   positions,
	}
	sc.markStale(&s)
	return s
}

// resources returns the objects that were read as resources, sorted by key.
func (sc *scan) resources() []model.Resource {
	count := 0
	for _, rows := range sc.lists {
		count += len(rows)
	}
	all := make([]model.Resource, 0, count)
	for _, k := range sc.kinds {
		writerUnknown, younger := sc.writerUnknown(k), sc.writerUnknownRecent(k)
		for i := range sc.lists[k.Name] {
			o := &sc.lists[k.Name][i].Object
			r := model.Resource{Key: model.Key{Source: sc.env.Name, Kind: k.Name, ID: o.ID},
				Name: o.Name, Value: o.Value, Identities: o.Identities, Created: o.Created, WriterUnknown: writerUnknown}
			if o.Created.After(sc.taken.Add(-sc.changes.depth)) {
				r.WriterUnknown = younger
			}
			all = append(all, r)
		}
		delete(sc.lists, k.Name)
	}
	slices.SortFunc(all, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
	return all
}

// schemas returns how each kind is compared, and why the author of a deletion may be unknown.
func (sc *scan) schemas() map[string]*model.Kind {
	kinds := normalize.Schemas()
	for _, k := range sc.kinds {
		kinds[k.Name].WriterUnknown = sc.writerUnknown(k)
	}
	return kinds
}

// coverage returns for each kind whether it was fully read.
func (sc *scan) coverage() []model.Coverage {
	all := make([]model.Coverage, 0, len(sc.kinds))
	for _, k := range sc.kinds {
		c := model.Coverage{Source: sc.env.Name, Kind: k.Name, Reason: sc.visibility.restriction(k.Model)}
		if g, ok := sc.gaps[k.Name]; ok {
			c.Reason, c.Skipped = g.reason, g.skipped
		}
		c.Complete = c.Reason == ""
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b model.Coverage) int { return cmp.Compare(a.Kind, b.Kind) })
	return all
}

// number parses an id.
func number(v model.Value) (int64, error) {
	if v.Kind() != model.Number {
		return 0, errors.New("it has no id")
	}
	id, err := strconv.ParseInt(v.Text(), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("its id is out of range: %w", err)
	}
	return id, nil
}
