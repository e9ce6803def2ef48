package openstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/printable"
)

// A scan is one read of a cloud.
type scan struct {
	config     Config
	env        collectors.Env
	taken      time.Time
	kinds      []*normalize.Kind
	login      openstackapi.Login
	session    *openstackapi.Session
	visibility visibility
	// auditLog are the changes that are known.
	auditLog auditLog

	mu     sync.Mutex
	estate normalize.Estate
	// gaps are the kinds that were not fully read, by name.
	gaps map[string]gap
}

// A gap is why a kind was not fully read.
type gap struct {
	reason  string
	skipped bool
}

// connect logs in and finds the endpoints of the services.
func (sc *scan) connect(ctx context.Context, limits httpclient.Limits) (err error) {
	if sc.login, err = sc.config.Access().Login(); err != nil {
		return err
	}
	if sc.session, err = openstackapi.Connect(ctx, sc.login, limits); err != nil {
		return err
	}
	if sc.login.Unverified {
		sc.env.Log.Warn("certificates are not verified: clouds_file has verify: false", "source", sc.env.Name)
	}
	g := sc.session.Grant
	sc.visibility = newVisibility(sc.config, g)
	sc.estate = normalize.Estate{Project: g.Project.ID, User: g.User.ID, AllProjects: sc.visibility.all, Admin: sc.visibility.admin, Taken: sc.taken, Objects: map[string][]normalize.Object{}}
	return nil
}

// server returns the address of the login.
func (sc *scan) server() string {
	return cmp.Or(sc.login.Server(), sc.config.CloudsFile)
}

// A listReader reads the list of a kind, or probes it.
type listReader func(*scan, context.Context, *normalize.Kind) ([]normalize.Object, error)

// readAll reads the lists concurrently.
func (sc *scan) readAll(ctx context.Context, read listReader) {
	collectors.Parallel(sc.config.Concurrency, len(sc.kinds), func(i int) {
		k := sc.kinds[i]
		if sc.config.excludes(k) {
			sc.record(k, nil, &gap{"left out by exclude_kinds", true})
			return
		}
		objects, err := read(sc, ctx, k)
		sc.record(k, objects, sc.config.gap(k, err))
	})
}

// gap returns why a list was not read; nil if it was.
func (c Config) gap(k *normalize.Kind, err error) *gap {
	if err == nil {
		return nil
	}
	var at *openstackapi.CatalogueError
	if errors.As(err, &at) && at.Absent {
		return &gap{at.Error(), true}
	}
	return &gap{c.reason(k.Service, err), false}
}

// record stores the objects of a kind, or why they were not read.
func (sc *scan) record(k *normalize.Kind, objects []normalize.Object, g *gap) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if g != nil {
		sc.gaps[k.Name] = *g
		return
	}
	sc.estate.Objects[k.Name] = objects
}

func (sc *scan) pager(k *normalize.Kind, size int) *pager {
	normalizer := normalize.New()
	return &pager{session: sc.session, kind: k, query: sc.visibility.query(k), size: size,
		parse: func(row model.Value) (normalize.Object, error) { return normalizer.Object(k, row) }}
}

func (sc *scan) read(ctx context.Context, k *normalize.Kind) ([]normalize.Object, error) {
	p := sc.pager(k, sc.config.PageSize)
	objects, err := p.read(ctx)
	if err != nil || k.Index == nil || !sc.session.Supports(k.Service, k.Index.Since) {
		return objects, err
	}
	readUnlisted, err := sc.readUnlisted(ctx, k, p.seen)
	return append(objects, readUnlisted...), err
}

// readUnlisted returns the objects that are only in a kind's index. It sets no limit: with one, Nova
// leaves out the servers of a cell that is down. Those after the first page of Nova's own size are left
// out as well.
func (sc *scan) readUnlisted(ctx context.Context, k *normalize.Kind, seen map[string]bool) ([]normalize.Object, error) {
	roll := *k
	roll.Path, roll.Microversion = k.Index.Path, k.Index.Since
	p := sc.pager(&roll, 0)
	p.parse = func(row model.Value) (normalize.Object, error) {
		id := row.At("id").Str()
		if id == "" {
			return normalize.Object{}, errors.New("it has no id")
		}
		return normalize.Object{ID: id, Name: row.At("name").Str(), Place: cmp.Or(row.At("tenant_id").Str(), sc.estate.Project), Busy: k.Index.Why}, nil
	}
	called, err := p.read(ctx)
	return slices.DeleteFunc(called, func(o normalize.Object) bool { return seen[o.ID] }), err
}

// probeKind requests the first object of a list, to check the permission.
func (sc *scan) probeKind(ctx context.Context, k *normalize.Kind) ([]normalize.Object, error) {
	_, err := sc.pager(k, 1).page(ctx, k.Queries()[0], nil)
	return nil, err
}

// snapshot returns the snapshot of the objects and events that were read.
func (sc *scan) snapshot() model.Snapshot {
	resources, unread := sc.estate.Resources(sc.env.Name)
	kinds, unsupportedFields := sc.schemas(), unreadFields(sc.session)
	for i := range resources {
		r := &resources[i]
		r.WriterUnknown = cmp.Or(r.WriterUnknown, kinds[r.Kind].WriterUnknown)
		r.UnreadFields = append(r.UnreadFields, unsupportedFields[r.Kind]...)
	}
	s := model.Snapshot{
		Source:      sc.env.Name,
		Taken:       sc.taken,
		Resources:   resources,
		Unread:      unread,
		Coverage:    sc.coverage(),
		Kinds:       kinds,
		Version:     sc.version(),
		Home:        sc.estate.Project,
		AuditEvents: sc.auditLog.events,
		Positions:   positions(resources, sc.taken),
	}
	if reason := sc.session.HTTP.Cached("the cloud"); reason != "" {
		s.Doubt(model.Scope{}, reason)
	}
	return s
}

// positions returns the last change of each kind, sorted by kind. A database replica that lags
// has an older one of the same object. The resources must be sorted.
func positions(resources []model.Resource, serverRecord time.Time) []model.Position {
	var all []model.Position
	for i := range resources {
		r := &resources[i]
		if r.Updated.IsZero() {
			continue
		}
		if last := len(all) - 1; last < 0 || all[last].Kind != r.Kind {
			all = append(all, model.Position{Scope: model.Scope{Kind: r.Kind}, Name: "the newest change of " + r.Kind, Asked: serverRecord})
		}
		all[len(all)-1].Raise(r.Updated, r.ID)
	}
	return all
}

// schemas returns how each kind is compared, and why the author of a deletion may be unknown.
func (sc *scan) schemas() map[string]*model.Kind {
	kinds := normalize.Schemas()
	for name, k := range kinds {
		k.WriterUnknown = sc.auditLog.writerUnknown(name)
	}
	return kinds
}

// version returns the version of Nova, and the fields that are missing from an old version.
func (sc *scan) version() string {
	newest := sc.session.Newest(normalize.Compute)
	if newest == "" {
		return "Keystone v3"
	}
	text := "Nova " + newest
	var hidden []string
	for _, r := range unsupportedFields(sc.session) {
		hidden = append(hidden, strings.TrimPrefix(r.kind, Type+"/")+" "+r.field)
	}
	if len(hidden) > 0 {
		slices.Sort(hidden)
		text += ", too old for: " + strings.Join(hidden, ", ")
	}
	return text
}

// identity returns the user, project and roles of the token.
func (sc *scan) identity() string {
	g := sc.session.Grant
	text := fmt.Sprintf("user %s (%s) in project %s (%s), roles %s", g.User.Name, g.User.ID, g.Project.Name, g.Project.ID, sc.visibility.roles)
	if name := g.ApplicationCredential.Name; name != "" {
		text += ", application credential " + name
	}
	return printable.Text(text)
}
