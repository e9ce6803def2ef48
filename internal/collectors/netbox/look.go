package netbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A look is one reading of a NetBox, while it is being made.
type look struct {
	config Config
	env    collectors.Env
	kinds  []*normalize.Kind
	// brief tells that lists are asked for and not read.
	brief   bool
	taken   time.Time
	session *session
	log     *changelog

	// release is the version as NetBox writes it, version what it means, cursor
	// whether lists can be read from an id on.
	// marked tells that NetBox's own answers can be told from others.
	release string
	version normalize.Version
	cursor  bool
	marked  bool
	sight   sight
	// types are the types of custom fields; nil where they are not known.
	types map[string]string
	// told is what the changelog says; first and last are its newest entry before
	// and after the lists were read.
	told        telling
	first, last int64

	mu sync.Mutex
	// lists are what was read, by the kind's name.
	lists map[string][]object
	gaps  map[string]gap
}

// A gap is a kind that was not fully read.
type gap struct {
	reason  string
	skipped bool
	// forbidden tells that NetBox refused it.
	forbidden bool
}

// read reads what the token may see, then every list, and the changelog beside
// them. What is new in it is read last: who changed something during the look is
// named as well.
func (l *look) read(ctx context.Context) {
	l.lists, l.gaps = map[string][]object{}, map[string]gap{}
	l.first = l.newestChange(ctx)
	l.sight = l.readSight(ctx)
	l.readTypes(ctx)
	var beside conc.WaitGroup
	var failed error
	if !l.brief && l.config.logged() && l.log.old(l.taken) {
		beside.Go(func() { failed = l.log.update(ctx, l) })
	}
	collectors.Parallel(l.config.Concurrency, len(l.kinds), func(i int) { l.readKind(ctx, l.kinds[i]) })
	beside.Wait()
	l.doubt()
	if !l.brief && l.config.logged() {
		l.told = l.log.read(ctx, l, failed)
	}
	if l.first > 0 {
		l.last = l.newestChange(ctx)
	}
}

// doubt takes back that the token is a superuser's where a list is forbidden to
// it: nothing is to a superuser.
func (l *look) doubt() {
	for _, g := range l.gaps {
		if g.forbidden && l.sight.all && !l.config.Unrestricted {
			l.sight = sight{identity: l.sight.identity, unknown: notKnown("")}
		}
	}
}

// readTypes reads what custom fields there are, which their values do not tell.
func (l *look) readTypes(ctx context.Context) {
	if l.brief {
		return
	}
	for _, k := range l.kinds {
		if k.Model != normalize.CustomField {
			continue
		}
		rows, err := l.list(ctx, k)
		if err == nil {
			l.types = normalize.Types(values(rows))
		}
		l.settle(k, rows, err)
	}
}

func values(rows []object) []model.Value {
	all := make([]model.Value, len(rows))
	for i := range rows {
		all[i] = rows[i].Value
	}
	return all
}

// readKind reads the list of a kind, unless it was left out, or read before.
func (l *look) readKind(ctx context.Context, k *normalize.Kind) {
	switch {
	case l.config.excludes(k):
		l.skip(k, "left out by exclude_kinds")
	case l.version.Before(k.Since):
		l.skip(k, "NetBox has it since "+k.Since.String())
	case l.brief:
		l.peek(ctx, k)
	case k.Model != normalize.CustomField:
		rows, err := l.list(ctx, k)
		l.settle(k, rows, err)
	}
}

// An object is one that was read, with its id as a number.
type object struct {
	id int64
	normalize.Object
}

func (o object) number() int64 { return o.id }

func (l *look) list(ctx context.Context, k *normalize.Kind) ([]object, error) {
	normalizer := normalize.New(l.env.Sealer, l.version, l.types)
	return readList(ctx, l.session, l.listing(k), func(row model.Value) (object, error) {
		o, err := normalizer.Object(k, row)
		if err != nil {
			return object{}, err
		}
		id, err := strconv.ParseInt(o.ID, 10, 64)
		return object{id, o}, err
	})
}

// listing is what is asked for of a kind. Versions before 4.0 do not know how to
// leave fields out.
func (l *look) listing(k *normalize.Kind) list {
	asked := list{path: k.Path + "/", size: l.config.PageSize, cursor: l.cursor}
	if !l.version.Before(normalize.Version{Major: 4}) {
		asked.fields = k.Query(l.version)
	}
	return asked
}

// peek asks for the beginning of a list, to see whether it may be read.
func (l *look) peek(ctx context.Context, k *normalize.Kind) {
	asked := l.listing(k)
	asked.size, asked.fields = 1, "id"
	_, err := readPage(ctx, l.session, asked.path, asked.query(), func(row model.Value) (int64, error) { return number(row.At("id")) })
	l.settle(k, nil, err)
}

// settle takes up what was read of a kind, or why it was not. A list that is not
// there, as NetBox itself says, is one that this version does not have.
func (l *look) settle(k *normalize.Kind, rows []object, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.config.excludes(k) {
		return
	}
	switch {
	case l.lacks(err):
		l.gaps[k.Name] = gap{reason: "NetBox " + l.release + " has none", skipped: true}
	case err != nil:
		l.gaps[k.Name] = gap{reason: l.config.reason(k, err), forbidden: httpclient.Code(err) == http.StatusForbidden}
	default:
		l.lists[k.Name] = rows
	}
}

// lacks tells an answer of NetBox itself that it has no such list.
func (l *look) lacks(err error) bool {
	status := httpclient.StatusOf(err)
	return status != nil && status.Code == http.StatusNotFound && (status.Own || !l.marked)
}

// skip notes that a kind was left out on purpose.
func (l *look) skip(k *normalize.Kind, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps[k.Name] = gap{reason: reason, skipped: true}
}

// snapshot gives what was read its final form.
func (l *look) snapshot() model.Snapshot {
	positions, resources := l.positions(), l.resources()
	s := model.Snapshot{
		Source:      l.env.Name,
		Taken:       l.taken,
		Resources:   resources,
		Coverage:    l.coverage(),
		Kinds:       l.schemas(),
		Version:     l.release,
		LogUnread:   l.logUnread(),
		AuditEvents: explain(l.told.entries, resources),
		Positions:   positions,
	}
	l.doubtCopies(&s)
	return s
}

// resources returns what was read, sorted by key.
func (l *look) resources() []model.Resource {
	count := 0
	for _, rows := range l.lists {
		count += len(rows)
	}
	all := make([]model.Resource, 0, count)
	for _, k := range l.kinds {
		unsigned, younger := l.unsigned(k), l.unsignedYounger(k)
		for i := range l.lists[k.Name] {
			o := &l.lists[k.Name][i].Object
			r := model.Resource{Key: model.Key{Source: l.env.Name, Kind: k.Name, ID: o.ID},
				Name: o.Name, Value: o.Value, Identities: o.Identities, Created: o.Created, WriterUnknown: unsigned}
			if o.Created.After(l.taken.Add(-l.told.reach)) {
				r.WriterUnknown = younger
			}
			all = append(all, r)
		}
		delete(l.lists, k.Name)
	}
	slices.SortFunc(all, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
	return all
}

// schemas says how each kind is compared, and why nobody may be known to have
// deleted one.
func (l *look) schemas() map[string]*model.Kind {
	kinds := normalize.Schemas()
	for _, k := range l.kinds {
		kinds[k.Name].WriterUnknown = l.unsigned(k)
	}
	return kinds
}

// coverage says of each kind whether it was fully read.
func (l *look) coverage() []model.Coverage {
	all := make([]model.Coverage, 0, len(l.kinds))
	for _, k := range l.kinds {
		c := model.Coverage{Source: l.env.Name, Kind: k.Name, Reason: l.sight.unseen(k.Model)}
		if g, ok := l.gaps[k.Name]; ok {
			c.Reason, c.Skipped = g.reason, g.skipped
		}
		c.Complete = c.Reason == ""
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b model.Coverage) int { return cmp.Compare(a.Kind, b.Kind) })
	return all
}

// number reads an id.
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
