package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/driftd/driftd/internal/audit"
)

// The audit log accounts for each record of some buckets: an entry lists the records that its
// transaction changed, each with the digests of what it was and what it is. So the log leads to what
// the database must have. These letters stand for the buckets in the keys of
// the lists.
const (
	findingLetter  = 'f'
	openLetter     = 'o'
	resolvedLetter = 'r'
	decisionLetter = 'd'
	actionLetter   = 'a'
)

// A mark identifies the content of a record.
type mark struct {
	sum digest
	// by and owner are the persons of a decision or an action: their names, which are not part of sum, so that a name
	// can be erased. In a list they are the references, which sum includes, see persons.
	by, owner string
}

// none reports whether the mark stands for no record.
func (m mark) none() bool { return m.sum == digest{} }

// persons returns the mark as a list has it, with references.
func (m mark) persons(by, owner string) mark {
	if by != "" || owner != "" {
		m.sum = sha256.Sum256(fmt.Appendf(bytes.Clone(m.sum[:]), "%s\x00%s", by, owner))
	}
	return mark{m.sum, by, owner}
}

// A change consists of the earlier and the current mark of a record.
type change struct{ was, now mark }

// An accounted bucket is one whose records the audit log accounts for.
type accounted struct {
	letter byte
	*bucket
	// mark returns the mark of a value.
	mark func(v []byte) (mark, error)
}

func (t *txn) accounted() []accounted {
	return []accounted{
		{findingLetter, t.findings, markVersion},
		{openLetter, t.open, markHead},
		{resolvedLetter, t.resolved, markHead},
		{decisionLetter, t.decisions, t.markPersonal},
		{actionLetter, t.actions, t.markPersonal},
	}
}

// markVersion leaves out when the version was last seen.
func markVersion(v []byte) (mark, error) {
	if len(v) < 8 {
		return mark{}, fmt.Errorf("%w: finding of %d bytes", errCorrupt, len(v))
	}
	return mark{sum: sha256.Sum256(v[8:])}, nil
}

// markHead leaves out when the finding was last seen, and the outline, which earlier versions did not
// have: VerifyAudit compares it with the version, which has a mark of its own.
func markHead(v []byte) (mark, error) {
	h, err := parseHead(v)
	h.seen = 0
	return mark{sum: sha256.Sum256(append(h.appendFixed(nil), h.source...))}, err
}

// markPersonal returns the mark of a JSON object in which the fields by and owner are persons.
func (c codec) markPersonal(v []byte) (mark, error) {
	var fields map[string]json.RawMessage
	if err := c.unpackJSON(v, &fields); err != nil {
		return mark{}, err
	}
	var m mark
	for name, to := range map[string]*string{"by": &m.by, "owner": &m.owner} {
		if raw, ok := fields[name]; ok {
			if err := parseJSON(raw, to); err != nil {
				return mark{}, err
			}
		}
		delete(fields, name)
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return mark{}, fmt.Errorf("encode record: %w", err)
	}
	m.sum = sha256.Sum256(raw)
	return m, nil
}

// account makes the transaction keep the records that it changes, if the store has a key.
func (t *txn) account() {
	if t.signer == nil {
		return
	}
	t.changed, t.before = map[string]change{}, map[string]mark{}
	for _, a := range t.accounted() {
		a.changed = func(k, was, now []byte) error {
			key := string(append([]byte{a.letter}, k...))
			c, again := t.changed[key]
			var err error
			if !again && was != nil {
				if c.was, err = a.mark(was); err != nil {
					return err
				}
			}
			c.now = mark{}
			if now != nil {
				c.now, err = a.mark(now)
			}
			if _, ok := t.before[key]; !ok {
				t.before[key] = c.was
			}
			if t.changed[key] = c; c.was == c.now {
				delete(t.changed, key)
			}
			return err
		}
	}
}

// changes returns the number of records of a bucket that the transaction added or rewrote.
func (t *txn) changes(letter byte) (n int) {
	for key, c := range t.changed {
		if key[0] == letter && !c.now.none() {
			n++
		}
	}
	return n
}

// marks returns all records that the audit log accounts for, as they are.
func (t *txn) marks() (map[string]change, error) {
	all := map[string]change{}
	for _, a := range t.accounted() {
		err := each(a.bucket, nil, func(k, v []byte) error {
			m, err := a.mark(v)
			all[string(append([]byte{a.letter}, k...))] = change{now: m}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// itemsOf returns the items of a list in the order of their keys, with references in place of
// persons.
func (t *txn) itemsOf(changed map[string]change) ([][]byte, error) {
	items := make([][]byte, 0, len(changed))
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		c := changed[key]
		// A name that was there without a reference is not what was recorded.
		known := func(name string) string {
			reference, _ := t.auditLog().Known(name)
			return reference
		}
		by, err := t.ref(c.now.by)
		if err != nil {
			return nil, err
		}
		owner, err := t.ref(c.now.owner)
		if err != nil {
			return nil, err
		}
		c = change{c.was.persons(known(c.was.by), known(c.was.owner)), c.now.persons(by, owner)}
		items = append(items, c.encode(key))
	}
	return items, nil
}

// take returns as items the changed records for which no entry accounts yet: for an entry about a
// decision only the decisions, and for one about an action only what is recorded of actions.
func (t *txn) take(kind audit.Kind) ([][]byte, error) {
	only := map[audit.Kind]byte{audit.KindDecision: decisionLetter, audit.KindRevoke: decisionLetter,
		audit.KindAction: actionLetter, audit.KindApproval: actionLetter, audit.KindControl: actionLetter}
	taken := map[string]change{}
	for key, c := range t.changed {
		if letter, ok := only[kind]; !ok || key[0] == letter {
			taken[key] = c
			delete(t.changed, key)
		}
	}
	return t.itemsOf(taken)
}

// encode returns an item: both digests, the references, each followed by NUL, and the key.
func (c *change) encode(key string) []byte {
	return fmt.Appendf(slices.Concat(c.was.sum[:], c.now.sum[:]), "%s\x00%s\x00%s", c.now.by, c.now.owner, key)
}

var errItem = errors.New("it is no item of a list")

func parseItem(b []byte) (key string, c change, err error) {
	const sums = 2 * sha256.Size
	if len(b) < sums {
		return "", c, errItem
	}
	texts := bytes.SplitN(b[sums:], []byte{0}, 3)
	if len(texts) != 3 || len(texts[2]) < 2 {
		return "", c, errItem
	}
	c.was.sum, c.now = digest(b[:sha256.Size]), mark{digest(b[sha256.Size:sums]), string(texts[0]), string(texts[1])}
	return string(texts[2]), c, nil
}

// recordedItems returns the records that the audit log leads to as the items of a complete list. whole
// is false if they are not known, as after an edit of the log.
func (t *txn) recordedItems(log *audit.Log) (items [][]byte, whole bool) {
	r := newRecorded(t, log)
	report := log.Verify(nil, r.entry)
	if !report.OK() || len(r.faults) > 0 || r.doubted >= 0 || r.partial || r.records == nil {
		return nil, false
	}
	for _, key := range slices.Sorted(maps.Keys(r.records)) {
		c := change{now: r.records[key].mark}
		items = append(items, c.encode(key))
	}
	return items, true
}
