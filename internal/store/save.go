package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// Save keeps what a scan leaves behind, in one transaction: after a crash or
// an error either all of it is there or nothing. A resource becomes gone only
// where its snapshot covers the place in which it lay. Where a clock went
// back, a version is kept just after the one before it. Snoozes and
// acknowledgements end with the findings that the scan resolved.
func (s *Store) Save(rec Record) error {
	at := momentOf(rec.Run.Started)
	if at == never {
		at = momentOf(s.o.Now())
	}
	return s.update("save run "+rec.Run.ID, func(t *txn) error {
		if err := t.saveSnapshots(rec.Snapshots, at); err != nil {
			return err
		}
		if err := t.saveFirstLooks(rec.FirstLooks); err != nil {
			return err
		}
		if err := t.saveFindings(rec.Findings, at); err != nil {
			return err
		}
		if err := t.saveDecisions(rec.Decisions, rec.Findings); err != nil {
			return err
		}
		if err := t.saveNotices(&rec.Notices); err != nil {
			return err
		}
		if err := t.saveLooks(&rec.Run, at); err != nil {
			return err
		}
		return t.saveRun(&rec.Run, at)
	})
}

func (t *txn) saveSnapshots(snapshots []model.Snapshot, at moment) error {
	in := &intake{txn: t, fresh: map[digest][]byte{}}
	for i := range snapshots {
		snap := &snapshots[i]
		in.at = at
		if taken := momentOf(snap.Taken); taken != never {
			in.at = taken
		}
		if err := in.snapshot(snap); err != nil {
			return fmt.Errorf("source %s: %w", snap.Source, err)
		}
	}
	return in.putContents()
}

// An intake takes snapshots in.
type intake struct {
	*txn
	at moment
	// changed are the states to write once the walk is over.
	changed []entry
	// fresh are the contents that the store does not have. They are put in
	// the order of their digests: bbolt's cost of a random order is quadratic
	// within one transaction.
	fresh map[digest][]byte
	// volatile are the fields, by kind, that change by themselves: no history
	// tells of them.
	volatile map[string][]string
	// key and json belong to the resource at hand; they are used again.
	key, json []byte
}

// volatileFields returns the fields of each kind that change by themselves.
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

// snapshot walks the source's known resources and the snapshot's side by side;
// both are sorted by key.
func (in *intake) snapshot(snap *model.Snapshot) error {
	if err := checkSnapshot(snap); err != nil {
		return err
	}
	in.changed, in.volatile = in.changed[:0], volatileFields(snap.Kinds)
	prefix := under(snap.Source)
	c := in.resources.cursor()
	k, v := c.seek(prefix)
	for i := range snap.Resources {
		r := &snap.Resources[i]
		if i+1 < len(snap.Resources) && snap.Resources[i+1].Key == r.Key {
			continue // seen twice, as a pager may when the list moves: the last counts
		}
		in.key = appendKey(in.key[:0], r.Key)
		for ; bytes.HasPrefix(k, prefix) && bytes.Compare(k, in.key) < 0; k, v = c.next() {
			if err := in.absent(snap, k, v); err != nil {
				return err
			}
		}
		var known []byte
		if bytes.Equal(k, in.key) {
			known = v
			k, v = c.next()
		}
		if err := in.present(snap, r, known); err != nil {
			return fmt.Errorf("resource %s: %w", r.Key, err)
		}
	}
	for ; bytes.HasPrefix(k, prefix); k, v = c.next() {
		if err := in.absent(snap, k, v); err != nil {
			return err
		}
	}
	return putAll(in.resources, in.changed)
}

// checkSnapshot sees that the walk can trust the order of the resources.
func checkSnapshot(snap *model.Snapshot) error {
	for i := range snap.Resources {
		key := snap.Resources[i].Key
		if err := validKey(key); err != nil {
			return err
		}
		if key.Source != snap.Source {
			return fmt.Errorf("resource %s is of another source", key)
		}
		if i > 0 && snap.Resources[i-1].Compare(key) > 0 {
			return fmt.Errorf("resource %s is not in the order of keys", key)
		}
	}
	return nil
}

// present takes in a resource that was seen; known is its state, or nil.
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
	in.json = r.Value.Without(in.volatile[r.Kind]...).AppendJSON(in.json[:0])
	now := state{num: was.num, at: was.at, sum: sha256.Sum256(in.json), place: r.Place}
	if now == was {
		return nil
	}
	if now.sum != was.sum {
		now.at = in.at.after(was.at)
		if err := in.putVersion(&now, writer(snap, r, was.at)); err != nil {
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

// keepContent remembers the JSON at hand, unless the store has it already.
func (in *intake) keepContent(sum digest) (err error) {
	if _, ok := in.fresh[sum]; !ok && in.contents.get(sum[:]) == nil {
		in.fresh[sum], err = in.pack(in.json)
	}
	return err
}

func (in *intake) putContents() error {
	for _, sum := range slices.SortedFunc(maps.Keys(in.fresh), compareDigests) {
		if err := in.contents.put(sum[:], in.fresh[sum]); err != nil {
			return fmt.Errorf("write content: %w", err)
		}
	}
	return nil
}

func compareDigests(a, b digest) int { return bytes.Compare(a[:], b[:]) }

// absent takes in that a known resource was not seen.
func (in *intake) absent(snap *model.Snapshot, k, v []byte) error {
	was, err := parseState(v)
	if err != nil || was.gone() {
		return err
	}
	key, err := parseKey(k)
	if err != nil {
		return err
	}
	if covered, _ := snap.Covers(key.Kind, was.place); !covered {
		return nil
	}
	now := state{num: was.num, at: in.at.after(was.at), place: was.place}
	in.changed = append(in.changed, entry{k, now.encode()})
	if a, told := lastDeed(snap, key, was.at, func(d model.Action) bool { return d == model.Deleted }); told {
		return in.putVersion(&now, a)
	}
	return in.versions.put(versionKey(now.num, now.at), nil)
}

// writer names who wrote a resource last, since its last version: after its own
// record of owners, or else after the source's logs.
func writer(snap *model.Snapshot, r *model.Resource, since moment) model.Actor {
	if last := r.LastWriter(); last.Confidence != model.Unknown {
		return last
	}
	if a, told := lastDeed(snap, r.Key, since, func(d model.Action) bool { return d != model.Deleted }); told {
		return a
	}
	return r.LastWriter()
}

// lastDeed returns who did something to a resource last, if that was after a
// moment. Which of the fields it was the log may tell, but not that nobody
// changed others past it: it is likely.
func lastDeed(snap *model.Snapshot, key model.Key, since moment, fits func(model.Action) bool) (a model.Actor, told bool) {
	ref := model.Ref{Kind: key.Kind, ID: key.ID}
	i, _ := slices.BinarySearchFunc(snap.AuditEvents, ref, func(t model.AuditEvent, r model.Ref) int {
		return cmp.Or(cmp.Compare(t.Kind, r.Kind), cmp.Compare(t.ID, r.ID))
	})
	for ; i < len(snap.AuditEvents) && snap.AuditEvents[i].Ref == ref; i++ {
		t := &snap.AuditEvents[i]
		if fits(t.Action) && t.Actor.Confidence != model.Unknown && (since == never || momentOf(t.Actor.At) > since) {
			a, told = t.Actor, true
		}
	}
	if told && a.Confidence == model.Exact && !fits(model.Deleted) {
		a.Confidence = model.Likely
	}
	return a, told
}
