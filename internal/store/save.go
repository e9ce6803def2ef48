package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// Save stores the result of a scan in one transaction, so that after a crash or an error either all
// of it is stored or nothing. A resource is marked as gone only if its snapshot covers the
// resource's place. If a clock was set back, a version is stored with a time just after the
// preceding version. Save removes acknowledgements of findings that the scan resolved.
//
// If there are many new values, such as in the first scan of a large source, Save stores them in earlier transactions:
// a transaction holds in memory what it writes. Values that no version refers to are no part of any result.
func (s *Store) Save(rec Record) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	err := s.save(rec, false)
	if errors.Is(err, errManyContents) {
		if err := s.saveContents(rec.Snapshots); err != nil {
			return err
		}
		return s.save(rec, true)
	}
	return err
}

// save stores the result of a scan. stored reports whether all contents are stored already. Otherwise, save returns
// errManyContents if more than maxFresh bytes are new.
func (s *Store) save(rec Record, stored bool) error {
	at := momentOf(rec.Run.Started)
	if at == never {
		at = momentOf(s.o.Now())
	}
	return s.update("save run "+rec.Run.ID, func(t *txn) error {
		if err := t.saveSnapshots(rec.Snapshots, at, stored); err != nil {
			return err
		}
		if err := t.saveFirstReads(rec.FirstReads); err != nil {
			return err
		}
		if err := t.saveFindings(rec.Findings, at); err != nil {
			return err
		}
		if err := t.saveDecisions(rec.Decisions, rec.Findings, s.o.Now()); err != nil {
			return err
		}
		if err := t.saveNotices(&rec.Notices); err != nil {
			return err
		}
		if err := t.saveLastReads(&rec.Run, at); err != nil {
			return err
		}
		if err := t.saveRun(&rec.Run, at); err != nil {
			return err
		}
		return t.recordScan(&rec.Run, s.o.Now())
	})
}

func (t *txn) saveSnapshots(snapshots []model.Snapshot, at moment, stored bool) error {
	in := &intake{txn: t, fresh: map[digest][]byte{}, stored: stored}
	for i := range snapshots {
		snap := &snapshots[i]
		in.started = at
		if err := in.snapshot(snap); err != nil {
			return fmt.Errorf("source %s: %w", snap.Source, err)
		}
	}
	return in.putContents()
}

// An intake stores snapshots.
type intake struct {
	*txn
	// started is when the scan began.
	started moment
	// changed are the states to write at the end of an iteration.
	changed []entry
	// fresh are the contents to add. They are written in the order of their digests, because the
	// cost of a random order is quadratic within one bbolt transaction.
	fresh map[digest][]byte
	// size is the size of fresh in bytes before compression.
	size int
	// stored reports whether all contents are stored already.
	stored bool
	// volatile are the volatile fields by kind. They are left out of stored values.
	volatile map[string][]string
	// unread are the resources of the snapshot that could not be read, and unreadAll the entries that stand for several.
	unread    map[model.Ref]bool
	unreadAll []model.Unread
	// own are the last writes of driftd itself; nil before they are read.
	own map[model.Key]model.Actor
	// key and json are buffers for the current resource.
	key, json []byte
}

// readAt returns when a snapshot read a resource, or when the scan began if it has no times.
func (in *intake) readAt(snap *model.Snapshot, key model.Key) moment {
	if at := momentOf(snap.ReadAt(model.Ref{Kind: key.Kind, ID: key.ID})); at != never {
		return at
	}
	return in.started
}

// volatileFields returns the volatile fields of each kind.
func volatileFields(kinds map[string]*model.Kind) map[string][]string {
	all := map[string][]string{}
	for name, kind := range kinds {
		if kind.Schema == nil {
			continue
		}
		for field, schema := range kind.Schema.Fields {
			if schema != nil && schema.Volatile {
				all[name] = append(all[name], field)
			}
		}
	}
	return all
}

// snapshot iterates over the stored resources of the source and those of the snapshot in parallel.
// Both are sorted by key.
func (in *intake) snapshot(snap *model.Snapshot) error {
	if err := checkSnapshot(snap); err != nil {
		return err
	}
	in.changed, in.volatile, in.unread = in.changed[:0], volatileFields(snap.Kinds), map[model.Ref]bool{}
	in.unreadAll = slices.DeleteFunc(slices.Clone(snap.Unread), func(u model.Unread) bool { return !u.All })
	for i := range snap.Unread {
		in.unread[snap.Unread[i].Ref] = true
	}
	stored := newStateIterator(in.resources, snap.Source)
	for i := range snap.Resources {
		r := &snap.Resources[i]
		if i+1 < len(snap.Resources) && snap.Resources[i+1].Key == r.Key {
			continue // a duplicate, as a pager returns when the list shifts between pages: the last one counts
		}
		in.key = appendKey(in.key[:0], r.Key)
		if err := in.absentBefore(snap, stored, in.key); err != nil {
			return err
		}
		if err := in.present(snap, r, stored.take(in.key)); err != nil {
			return fmt.Errorf("resource %s: %w", r.Key, err)
		}
		if in.size > maxFresh {
			return errManyContents
		}
		if len(in.changed) >= maxChanged {
			if err := in.putChanged(); err != nil {
				return err
			}
			stored.resumeAfter(in.key)
		}
	}
	if err := in.absentBefore(snap, stored, nil); err != nil {
		return err
	}
	return in.putChanged()
}

// absentBefore marks the stored resources before a key as gone, or all that are left if key is nil.
func (in *intake) absentBefore(snap *model.Snapshot, stored *stateIterator, key []byte) error {
	for ; stored.before(key); stored.next() {
		if err := in.absent(snap, stored.key, stored.value); err != nil {
			return err
		}
	}
	return nil
}

// maxChanged is the number of states after which they are written, so that they take little memory.
const maxChanged = 1000

// putChanged writes the changed states.
func (in *intake) putChanged() error {
	err := putAll(in.resources, in.changed)
	clear(in.changed)
	in.changed = in.changed[:0]
	return err
}

// checkSnapshot returns an error if a resource is not of the source, or if the resources are not
// sorted by key.
func checkSnapshot(snap *model.Snapshot) error {
	for i := range snap.Resources {
		key := snap.Resources[i].Key
		if err := validKey(key); err != nil {
			return err
		}
		if key.Source != snap.Source {
			return fmt.Errorf("resource %s belongs to another source", key)
		}
		if i > 0 && snap.Resources[i-1].Compare(key) > 0 {
			return fmt.Errorf("resource %s is not in key order", key)
		}
	}
	return nil
}

// present stores a resource of the snapshot. known is its stored state, or nil.
func (in *intake) present(snap *model.Snapshot, r *model.Resource, known []byte) error {
	var was state
	var err error
	if known == nil {
		was.num, err = in.versions.next()
		was.at = never
	} else {
		was, err = parseState(known)
	}
	if err != nil {
		return err
	}
	in.json = appendContent(in.json[:0], r, in.volatile)
	now := state{num: was.num, at: was.at, sum: sha256.Sum256(in.json), place: r.Place}
	if now == was {
		return nil
	}
	if now.sum != was.sum {
		now.at = in.readAt(snap, r.Key).after(was.at)
		by, err := in.lastWriter(snap, r, was.at)
		if err == nil {
			err = in.putVersion(&now, by)
		}
		if err != nil {
			return err
		}
		if err := in.keepContent(now.sum); err != nil {
			return err
		}
	}
	in.changed = append(in.changed, entry{bytes.Clone(in.key), now.encode()})
	return nil
}

func (in *intake) putVersion(now *state, actor model.Actor) error {
	name, err := json.Marshal(actor)
	if err != nil {
		return fmt.Errorf("encode actor: %w", err)
	}
	return in.versions.put(versionKey(now.num, now.at), append(now.sum[:], name...))
}

// keepContent adds the JSON of the current resource to fresh, unless it is stored already.
func (in *intake) keepContent(sum digest) (err error) {
	if in.stored {
		return nil
	}
	if _, ok := in.fresh[sum]; !ok && in.contents.get(sum[:]) == nil {
		in.fresh[sum], err = in.pack(in.json)
		in.size += len(in.json)
	}
	return err
}

func (in *intake) putContents() error {
	sums := slices.AppendSeq(make([]digest, 0, len(in.fresh)), maps.Keys(in.fresh))
	slices.SortFunc(sums, compareDigests)
	for _, sum := range sums {
		if err := in.contents.put(sum[:], in.fresh[sum]); err != nil {
			return fmt.Errorf("write content: %w", err)
		}
		delete(in.fresh, sum)
	}
	return nil
}

func compareDigests(a, b digest) int { return bytes.Compare(a[:], b[:]) }

// absent marks a stored resource as gone if the snapshot covers it and does not contain it. A
// resource that could not be read remains unchanged.
func (in *intake) absent(snap *model.Snapshot, k, v []byte) error {
	was, err := parseState(v)
	if err != nil || was.gone() {
		return err
	}
	key, err := parseKey(k)
	if err != nil {
		return err
	}
	if covered, _ := snap.Covers(key.Kind, was.place); !covered || in.isUnread(model.Ref{Kind: key.Kind, ID: key.ID}) {
		return nil
	}
	now := state{num: was.num, at: in.readAt(snap, key).after(was.at), place: was.place}
	in.changed = append(in.changed, entry{k, now.encode()})
	if a, ok := lastActor(snap, key, was.at, func(d model.Action) bool { return d == model.Deleted }); ok {
		return in.putVersion(&now, a)
	}
	return in.versions.put(versionKey(now.num, now.at), nil)
}

// isUnread reports whether the snapshot has the resource, or a list that may contain it, as unread.
func (in *intake) isUnread(ref model.Ref) bool {
	return in.unread[ref] || slices.ContainsFunc(in.unreadAll, func(u model.Unread) bool { return u.Includes(ref) })
}

// lastWriter returns writer, or driftd itself if it put the resource back after that writer, or after the last one that
// did not write through a subresource. A source does not report that: an action hands its fields back to the field
// manager that had them before.
func (in *intake) lastWriter(snap *model.Snapshot, r *model.Resource, since moment) (model.Actor, error) {
	if in.own == nil {
		standing, err := in.standing()
		if err != nil {
			return model.Actor{}, err
		}
		in.own = ownWrites(standing.History)
	}
	by, partly := writer(snap, r, since)
	if own, ok := in.own[r.Key]; ok && momentOf(own.At) > since && (partly || !by.At.After(own.At)) {
		return own, nil
	}
	return by, nil
}

// ownWrites returns driftd as the actor of the last write to each resource that actions made. The writes of actions that
// failed, of which nothing is known yet, or that something else wrote over, are not among them.
func ownWrites(history []reconcile.Action) map[model.Key]model.Actor {
	last := map[model.Key]model.Actor{}
	for i := range history {
		a := &history[i]
		wrote := a.WroteAt()
		took := a.State == reconcile.Written || a.State == reconcile.Converged || a.State == reconcile.NotConverged && len(a.Receipt.Unexpected) > 0
		if took && wrote.After(last[a.Subject].At) {
			last[a.Subject] = model.Actor{Name: "driftd", At: wrote, Via: model.ViaAction, Evidence: a.ID, Confidence: model.Likely}
		}
	}
	return last
}

// writer returns the last writer of a resource since its last version, and whether it wrote through a subresource: the
// one that the resource itself records, or else the one in the source's audit events.
func writer(snap *model.Snapshot, r *model.Resource, since moment) (by model.Actor, partly bool) {
	if last := r.LastOwner(since.time()); last != nil {
		return last.Actor(r.OwnersFrom), last.Through != ""
	}
	if a, ok := lastActor(snap, r.Key, since, func(d model.Action) bool { return d != model.Deleted }); ok {
		return a, false
	}
	return r.LastWriter(), false
}

// lastActor returns the actor of the last audit event about a resource after since for whose action
// fits returns true. Audit events do not prove that no other actor changed other fields, so the
// confidence of a write is at most Likely.
func lastActor(snap *model.Snapshot, key model.Key, since moment, fits func(model.Action) bool) (a model.Actor, ok bool) {
	ref := model.Ref{Kind: key.Kind, ID: key.ID}
	i, _ := slices.BinarySearchFunc(snap.AuditEvents, ref, func(t model.AuditEvent, r model.Ref) int {
		return cmp.Or(cmp.Compare(t.Kind, r.Kind), cmp.Compare(t.ID, r.ID))
	})
	for ; i < len(snap.AuditEvents) && snap.AuditEvents[i].Ref == ref; i++ {
		t := &snap.AuditEvents[i]
		if fits(t.Action) && t.Actor.Confidence != model.Unknown && (since == never || momentOf(t.Actor.At) > since) {
			a, ok = t.Actor, true
		}
	}
	if ok && a.Confidence == model.Exact && !fits(model.Deleted) {
		a.Confidence = model.Likely
	}
	return a, ok
}
