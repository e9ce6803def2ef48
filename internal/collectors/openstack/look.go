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
	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A look is one reading of a cloud, while it is being made.
type look struct {
	config  Config
	env     collectors.Env
	taken   time.Time
	kinds   []*normalize.Kind
	login   login
	session *session
	sight   sight
	// told is what is known of who did what.
	told told

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

// connect logs in and finds the services.
func (l *look) connect(ctx context.Context, limits httpclient.Limits) (err error) {
	if l.login, err = l.config.readLogin(); err != nil {
		return err
	}
	if l.session, err = connect(ctx, l.login, limits); err != nil {
		return err
	}
	if err := l.session.find(l.login); err != nil {
		return err
	}
	if l.login.unverified {
		l.env.Log.Warn("certificates are not verified: clouds_file says verify: false", "source", l.env.Name)
	}
	l.session.negotiate(ctx)
	g := l.session.grant
	l.sight = newSight(l.config, g)
	l.estate = normalize.Estate{Project: g.Project.ID, User: g.User.ID, AllProjects: l.sight.all, Admin: l.sight.admin, Taken: l.taken, Objects: map[string][]normalize.Object{}}
	return nil
}

// server is where was logged in.
func (l *look) server() string {
	return cmp.Or(l.login.auth.IdentityEndpoint, l.config.CloudsFile)
}

// A reading reads the list of a kind, or sees whether it may be read.
type reading func(*look, context.Context, *normalize.Kind) ([]normalize.Object, error)

// readAll reads the lists, several at once.
func (l *look) readAll(ctx context.Context, read reading) {
	collectors.Parallel(l.config.Concurrency, len(l.kinds), func(i int) {
		k := l.kinds[i]
		if l.config.excludes(k) {
			l.settle(k, nil, &gap{"left out by exclude_kinds", true})
			return
		}
		objects, err := read(l, ctx, k)
		l.settle(k, objects, l.config.gap(k, err))
	})
}

// gap says why a list was not read; nil when it was.
func (c Config) gap(k *normalize.Kind, err error) *gap {
	if err == nil {
		return nil
	}
	var at *catalogueError
	if errors.As(err, &at) && at.absent {
		return &gap{at.what, true}
	}
	return &gap{c.because(k.Service, err), false}
}

// settle takes up what was read of a kind, or why it was not.
func (l *look) settle(k *normalize.Kind, objects []normalize.Object, g *gap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g != nil {
		l.gaps[k.Name] = *g
		return
	}
	l.estate.Objects[k.Name] = objects
}

func (l *look) pager(k *normalize.Kind, size int) *pager {
	normalizer := normalize.New()
	return &pager{session: l.session, kind: k, query: l.sight.query(k), size: size,
		take: func(row model.Value) (normalize.Object, error) { return normalizer.Object(k, row) }}
}

func (l *look) read(ctx context.Context, k *normalize.Kind) ([]normalize.Object, error) {
	p := l.pager(k, l.config.PageSize)
	objects, err := p.read(ctx)
	if err != nil || k.Roll == nil || !l.session.speaks(k.Service, k.Roll.Since) {
		return objects, err
	}
	silent, err := l.silent(ctx, k, p.seen)
	return append(objects, silent...), err
}

// silent returns the objects that are in a kind's roll alone.
func (l *look) silent(ctx context.Context, k *normalize.Kind, seen map[string]bool) ([]normalize.Object, error) {
	roll := *k
	roll.Path, roll.Microversion = k.Roll.Path, k.Roll.Since
	p := l.pager(&roll, l.config.PageSize)
	p.take = func(row model.Value) (normalize.Object, error) {
		id := row.At("id").Str()
		if id == "" {
			return normalize.Object{}, errors.New("it has no id")
		}
		return normalize.Object{ID: id, Name: row.At("name").Str(), Place: cmp.Or(row.At("tenant_id").Str(), l.estate.Project), Busy: k.Roll.Why}, nil
	}
	called, err := p.read(ctx)
	return slices.DeleteFunc(called, func(o normalize.Object) bool { return seen[o.ID] }), err
}

// peek asks for the beginning of a list, to see whether it may be read.
func (l *look) peek(ctx context.Context, k *normalize.Kind) ([]normalize.Object, error) {
	_, err := l.pager(k, 1).page(ctx, k.Queries()[0], nil)
	return nil, err
}

// snapshot gives what was read its final form.
func (l *look) snapshot() model.Snapshot {
	resources, unread := l.estate.Resources(l.env.Name)
	kinds, untold := l.schemas(), l.session.untoldFields()
	for i := range resources {
		r := &resources[i]
		r.WriterUnknown = cmp.Or(r.WriterUnknown, kinds[r.Kind].WriterUnknown)
		r.UnreadFields = append(r.UnreadFields, untold[r.Kind]...)
	}
	s := model.Snapshot{
		Source:      l.env.Name,
		Taken:       l.taken,
		Resources:   resources,
		Unread:      unread,
		Coverage:    l.coverage(),
		Kinds:       kinds,
		Version:     l.version(),
		Home:        l.estate.Project,
		AuditEvents: l.told.traces,
		Positions:   positions(resources, l.taken),
	}
	if reason := l.session.http.Cached("the cloud"); reason != "" {
		s.Doubt(model.Scope{}, reason)
	}
	return s
}

// positions returns the last change of each kind, sorted by kind: a database that
// lags shows an older one of the same object. The resources are sorted.
func positions(resources []model.Resource, asked time.Time) []model.Position {
	var all []model.Position
	for i := range resources {
		r := &resources[i]
		if r.Updated.IsZero() {
			continue
		}
		if last := len(all) - 1; last < 0 || all[last].Kind != r.Kind {
			all = append(all, model.Position{Scope: model.Scope{Kind: r.Kind}, Name: "the newest change of " + r.Kind, Asked: asked})
		}
		all[len(all)-1].Raise(r.Updated, r.ID)
	}
	return all
}

// schemas says how each kind is compared, and why nobody may be known to have
// deleted one.
func (l *look) schemas() map[string]*model.Kind {
	kinds := normalize.Schemas()
	for name, k := range kinds {
		k.WriterUnknown = l.told.unsigned(name)
	}
	return kinds
}

// version says in which version the cloud was read, and what an old one hides.
func (l *look) version() string {
	newest := l.session.endpoints[normalize.Compute].newest
	if newest == (microversion{}) {
		return "Keystone v3"
	}
	text := "Nova " + newest.String()
	var hidden []string
	for _, r := range l.session.untold() {
		hidden = append(hidden, strings.TrimPrefix(r.kind, Type+"/")+" "+r.field)
	}
	if len(hidden) > 0 {
		slices.Sort(hidden)
		text += ", too old to tell: " + strings.Join(hidden, ", ")
	}
	return text
}

// identity says who logged in.
func (l *look) identity() string {
	g := l.session.grant
	text := fmt.Sprintf("user %s (%s) in project %s (%s), roles %s", g.User.Name, g.User.ID, g.Project.Name, g.Project.ID, l.sight.roles)
	if name := g.ApplicationCredential.Name; name != "" {
		text += ", application credential " + name
	}
	return httpclient.Printable(text)
}
