package proxmox

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/model"
)

// A look is one reading of a cluster, while it is being made. Its collecting
// methods may be called from any goroutine.
type look struct {
	config     Config
	source     string
	normalizer *normalize.Normalizer
	taken      time.Time
	api        api
	// stale is why the answers may be those of an old copy; "" when they are not.
	stale  string
	rights rights
	// unsure is why the rights are not known; nil when they are.
	unsure error
	// rules are the rows of /access/acl; ruleFault is why they could not be read, ""
	// when they were.
	rules     []model.Value
	ruleFault string

	mu        sync.Mutex
	resources []model.Resource
	unread    []model.Unread
	gaps      []gap
	// addresses are what running guests told of themselves, and refused is how
	// many were not to be asked.
	addresses map[model.Ref]model.Value
	refused   int
	traces    []logEntry
	// clonings are the tasks that made machines from others.
	clonings []logEntry
	// logged tells that the cluster log was read with the privilege that it
	// takes to see what others did.
	logged bool
	// clusterFault and taskFault are why the cluster log, or one of the task logs,
	// was not read; "" when it was.
	clusterFault, taskFault string
}

// A gap is a scope that was not fully read.
type gap struct {
	kind, place string
	reason      string
	skipped     bool
}

func (l *look) key(kind, id string) model.Key {
	return model.Key{Source: l.source, Kind: kind, ID: id}
}

func ref(kind, id string) model.Ref { return model.Ref{Kind: kind, ID: id} }

// add takes up a resource, unless its kind is left out.
func (l *look) add(r model.Resource) {
	if l.config.excludes(r.Kind) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resources = append(l.resources, r)
}

// miss notes a resource that exists and could not be read; r has what is known of it
// all the same.
func (l *look) miss(r model.Resource, reason string) {
	if l.config.excludes(r.Kind) {
		return
	}
	u := model.Unread{Ref: ref(r.Kind, r.ID), Identities: r.Identities, Place: r.Place, Name: r.Name, Parent: r.Parent, Reason: reason}
	if builtIn(&r) {
		u.SystemOwned = "built in"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unread = append(l.unread, u)
}

// fail notes that kinds were not fully read in a place, "" for everywhere. An
// answer that says that this version has no such thing is no failure.
func (l *look) fail(err error, place string, kinds ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, kind := range kinds {
		g := gap{kind: kind, place: place, reason: l.config.reason(err)}
		if notServed(err) {
			g.reason, g.skipped = "this version of Proxmox VE has none", true
		}
		l.gaps = append(l.gaps, g)
	}
}

// skip notes that kinds were left out on purpose.
func (l *look) skip(reason string, kinds ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, kind := range kinds {
		l.gaps = append(l.gaps, gap{kind: kind, reason: reason, skipped: true})
	}
}

// snapshot gives what was read its final form.
func (l *look) snapshot(version string) model.Snapshot {
	kinds := normalize.Kinds()
	byRef := func(a, b model.Ref) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) }
	slices.SortFunc(l.resources, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
	l.resources = slices.CompactFunc(l.resources, func(a, b model.Resource) bool { return a.Key == b.Key })
	slices.SortFunc(l.unread, func(a, b model.Unread) int { return cmp.Or(byRef(a.Ref, b.Ref), cmp.Compare(a.Reason, b.Reason)) })
	l.unread = slices.CompactFunc(l.unread, func(a, b model.Unread) bool { return a.Ref == b.Ref })
	unsigned := map[string]string{}
	for name, kind := range kinds {
		unsigned[name] = l.unsigned(name)
		kind.WriterUnknown, kind.LoggedElsewhere = l.unsignedGone(name), l.elsewhere(name)
	}
	unread := l.unreadFields()
	for i := range l.resources {
		l.resources[i].UnreadFields = unread[l.resources[i].Kind]
		l.finish(&l.resources[i], kinds, unsigned)
	}
	s := model.Snapshot{
		Source:      l.source,
		Taken:       l.taken,
		Resources:   l.resources,
		Coverage:    l.coverage(kinds),
		Kinds:       kinds,
		Version:     version,
		Unread:      l.unread,
		AuditEvents: l.told(),
	}
	if l.stale != "" {
		s.Doubt(model.Scope{}, l.stale)
	}
	return s
}

// finish says of a resource what its kind and the cluster's logs decide.
func (l *look) finish(r *model.Resource, kinds map[string]*model.Kind, unsigned map[string]string) {
	r.WriterUnknown = unsigned[r.Kind]
	if told, ok := l.addresses[ref(r.Kind, r.ID)]; ok {
		r.Value = r.Value.With("agent_addresses", told)
	}
	if r.SystemOwned == "" {
		r.SystemOwned = automatic(r, kinds[r.Kind])
	}
}

// coverage says of each kind whether it was fully read, and where not.
func (l *look) coverage(kinds map[string]*model.Kind) []model.Coverage {
	type scope struct{ kind, place string }
	found := map[scope]model.Coverage{}
	for name := range kinds {
		found[scope{name, ""}] = l.covered(name)
	}
	gaps := slices.DeleteFunc(slices.Clone(l.gaps), func(g gap) bool { return l.config.excludes(g.kind) })
	slices.SortFunc(gaps, gap.compare)
	for _, g := range gaps {
		found[scope{g.kind, g.place}] = model.Coverage{Source: l.source, Kind: g.kind, Place: g.place, Skipped: g.skipped, Reason: g.reason}
	}
	all := slices.Collect(maps.Values(found))
	slices.SortFunc(all, func(a, b model.Coverage) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Place, b.Place))
	})
	return all
}

// compare puts what counts last: a failure hides what was skipped, and of
// several the first by its words hides the others.
func (g gap) compare(h gap) int {
	if g.skipped != h.skipped {
		if g.skipped {
			return -1
		}
		return 1
	}
	return cmp.Compare(h.reason, g.reason)
}

// covered is the coverage of a kind that was read without a failure: complete,
// unless it was left out or the account sees only a part.
func (l *look) covered(name string) model.Coverage {
	c := model.Coverage{Source: l.source, Kind: name, Reason: l.unseen(name)}
	if l.config.excludes(name) {
		c.Skipped, c.Reason = true, "left out by exclude_kinds"
	}
	c.Complete = c.Reason == ""
	return c
}

// unseen says why the account does not see all objects of a kind, or "".
func (l *look) unseen(name string) string {
	for _, n := range needs(name) {
		if l.unsure != nil {
			return "what " + l.config.account() + " may see is not known: " + l.config.reason(l.unsure)
		}
		if where, lacks := l.rights.missing(n); lacks {
			return l.config.lacking(n.privilege, where)
		}
	}
	return ""
}
