package proxmox

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// A scan contains the results of one reading of a cluster. Its methods that add results are safe
// for concurrent use.
type scan struct {
	config     Config
	source     string
	normalizer *normalize.Normalizer
	taken      time.Time
	api        api
	// stale is the reason why the answers may be from an outdated copy of the configuration; "" if
	// they are current.
	stale  string
	rights rights
	// rightsErr is the error of reading rights, or nil. rightsAfter are the last rights that were read: before, or after the lists.
	// rightsUnsure is the reason why those after the lists are not known, or "".
	rightsErr    error
	rightsAfter  rights
	rightsUnsure string
	// rules is the answer with the access control list.
	rules model.Value
	// aclRows are the rows of /access/acl. aclError is the reason why they were not read, or "".
	aclRows  []model.Value
	aclError string

	mu        sync.Mutex
	resources []model.Resource
	unread    []model.Unread
	gaps      []gap
	// addresses are the IP addresses that running guests reported. refused is the number of guests
	// that the account may not query.
	addresses  map[model.Ref]model.Value
	refused    int
	logEntries []logEntry
	// cloneTasks are the tasks that cloned virtual machines.
	cloneTasks []logEntry
	// clusterLogComplete reports whether the cluster log was read with the privilege to see the
	// entries of other users.
	clusterLogComplete bool
	// clusterLogError and taskLogError are the reasons why the cluster log, or one of the task
	// logs, was not read; "" if it was.
	clusterLogError, taskLogError string
}

// A gap is a scope that was not fully read.
type gap struct {
	kind, place string
	reason      string
	skipped     bool
}

func (sc *scan) key(kind, id string) model.Key {
	return model.Key{Source: sc.source, Kind: kind, ID: id}
}

func ref(kind, id string) model.Ref { return model.Ref{Kind: kind, ID: id} }

// add adds a resource, unless its kind is excluded.
func (sc *scan) add(r model.Resource) {
	if sc.config.excludes(r.Kind) {
		return
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.resources = append(sc.resources, r)
}

// addUnread adds a resource that exists and could not be read. r has the known properties of
// it.
func (sc *scan) addUnread(r model.Resource, reason string) {
	if sc.config.excludes(r.Kind) {
		return
	}
	u := model.Unread{Ref: ref(r.Kind, r.ID), Identities: r.Identities, Place: r.Place, Name: r.Name, Parent: r.Parent, Reason: reason}
	if builtIn(&r) {
		u.SystemOwned = "built in"
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.unread = append(sc.unread, u)
}

// fail records that kinds were not fully read in a place; "" stands for all places. A kind
// that this version of Proxmox VE does not support is skipped.
func (sc *scan) fail(err error, place string, kinds ...string) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for _, kind := range kinds {
		g := gap{kind: kind, place: place, reason: sc.config.reason(err)}
		if isUnsupported(err) {
			g.reason, g.skipped = "this version of Proxmox VE does not support it", true
		}
		sc.gaps = append(sc.gaps, g)
	}
}

// skip records that kinds were left out on purpose.
func (sc *scan) skip(reason string, kinds ...string) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for _, kind := range kinds {
		sc.gaps = append(sc.gaps, gap{kind: kind, reason: reason, skipped: true})
	}
}

// snapshot returns the results as a snapshot.
func (sc *scan) snapshot(version string) model.Snapshot {
	kinds := normalize.Kinds()
	byRef := func(a, b model.Ref) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) }
	slices.SortFunc(sc.resources, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
	sc.resources = slices.CompactFunc(sc.resources, func(a, b model.Resource) bool { return a.Key == b.Key })
	slices.SortFunc(sc.unread, func(a, b model.Unread) int { return cmp.Or(byRef(a.Ref, b.Ref), cmp.Compare(a.Reason, b.Reason)) })
	sc.unread = slices.CompactFunc(sc.unread, func(a, b model.Unread) bool { return a.Ref == b.Ref })
	unsigned := map[string]string{}
	for name, kind := range kinds {
		unsigned[name] = sc.writerUnknown(name)
		kind.WriterUnknown, kind.LoggedElsewhere = sc.deleterUnknown(name), sc.loggedElsewhere(name)
	}
	unread := sc.unreadFields()
	for i := range sc.resources {
		sc.resources[i].UnreadFields = unread[sc.resources[i].Kind]
		sc.finish(&sc.resources[i], kinds, unsigned)
	}
	s := model.Snapshot{
		Source:      sc.source,
		Taken:       sc.taken,
		Resources:   sc.resources,
		Coverage:    sc.coverage(kinds),
		Kinds:       kinds,
		Version:     version,
		Unread:      sc.unread,
		AuditEvents: sc.auditEvents(),
	}
	if sc.stale != "" {
		s.Doubt(model.Scope{}, sc.stale)
	}
	return s
}

// finish sets the fields of a resource that depend on its kind and on the logs.
func (sc *scan) finish(r *model.Resource, kinds map[string]*model.Kind, unsigned map[string]string) {
	r.WriterUnknown = unsigned[r.Kind]
	if addresses, ok := sc.addresses[ref(r.Kind, r.ID)]; ok {
		r.Value = r.Value.With("agent_addresses", addresses)
	}
	if r.SystemOwned == "" {
		r.SystemOwned = systemOwned(r, kinds[r.Kind])
	}
}

// coverage returns the coverage of each kind, and of its places that were not fully read.
func (sc *scan) coverage(kinds map[string]*model.Kind) []model.Coverage {
	type scope struct{ kind, place string }
	found := map[scope]model.Coverage{}
	for name := range kinds {
		found[scope{name, ""}] = sc.covered(name)
	}
	gaps := slices.DeleteFunc(slices.Clone(sc.gaps), func(g gap) bool { return sc.config.excludes(g.kind) })
	slices.SortFunc(gaps, gap.compare)
	for _, g := range gaps {
		found[scope{g.kind, g.place}] = model.Coverage{Source: sc.source, Kind: g.kind, Place: g.place, Skipped: g.skipped, Reason: g.reason}
	}
	all := slices.Collect(maps.Values(found))
	slices.SortFunc(all, func(a, b model.Coverage) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Place, b.Place))
	})
	return all
}

// compare orders gaps of the same scope so that the last one is reported: a failure after a
// skipped gap, and of several failures the one with the first reason in alphabetical order.
func (g gap) compare(h gap) int {
	if g.skipped != h.skipped {
		if g.skipped {
			return -1
		}
		return 1
	}
	return cmp.Compare(h.reason, g.reason)
}

// covered returns the coverage of a kind that was read without failure. It is complete unless
// the kind is excluded or the account can only see some of its objects.
func (sc *scan) covered(name string) model.Coverage {
	c := model.Coverage{Source: sc.source, Kind: name, Reason: sc.hiddenReason(name)}
	if sc.config.excludes(name) {
		c.Skipped, c.Reason = true, "left out by exclude_kinds"
	}
	c.Complete = c.Reason == ""
	return c
}

// hiddenReason returns why the account cannot see all objects of a kind, or "".
func (sc *scan) hiddenReason(name string) string {
	for _, n := range needs(name) {
		if sc.rightsErr != nil {
			return "the permissions of " + sc.config.account() + " are unknown: " + sc.config.reason(sc.rightsErr)
		}
		if where, lacks := sc.rights.missing(n); lacks {
			return sc.config.lacking(n.privilege, where)
		}
		if sc.rightsUnsure != "" {
			return sc.rightsUnsure
		}
		if _, lacks := sc.rightsAfter.missing(n); lacks {
			return "the permissions of " + sc.config.account() + " changed during the scan: it lost " + n.privilege + " on " + n.path
		}
	}
	return ""
}
