package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/audit"
)

// An AuditReport is the result of verifying the audit log, and of comparing the findings and
// decisions with it.
type AuditReport struct {
	audit.Report

	// Doubt describes why the log is in doubt; nil if it is not.
	Doubt *Doubt
}

// VerifyAudit compares the audit log with its head, with the head in the head file and with the
// witnessed heads, and compares the stored findings and decisions with the log. Differences are not
// an error; the report contains them. VerifyAudit changes nothing.
func (s *Store) VerifyAudit(witnessed []audit.Witnessed) (AuditReport, error) {
	var r AuditReport
	// No head is written between the read of its file and the begin of the transaction.
	release := sync.OnceFunc(s.committing.Unlock)
	s.committing.Lock()
	defer release()
	file := s.readHead()
	err := s.viewAudit("verify the audit log", func(t *txn) (err error) {
		release()
		r, err = s.compareAudit(t, &file, s.withKept(t, &file, witnessed))
		return err
	})
	return r, err
}

// compareAudit compares the log with its heads, and the content of the database with the log.
func (s *Store) compareAudit(t *txn, file *headFile, witnessed []audit.Witnessed) (r AuditReport, err error) {
	log := t.auditLog()
	c := newRecorded(t, log)
	r.Report = log.Verify(witnessed, c.entry)
	if r.Doubt, err = t.readDoubt(); err != nil {
		return r, err
	}
	if what := s.unexpectedKey(); what != "" {
		r.Add(what)
	}
	if what := s.foreign(t, file); what != "" && r.OK() && r.Doubt == nil {
		r.Add(what)
	}
	if r.Head.Size == 0 {
		// Without a head there is nothing to compare the content with.
		if t.hadContent() && r.OK() {
			r.Add("the log has no entries, and the database has findings or decisions")
		}
		return r, nil
	}
	c.erased = r.Erased
	if err := c.end(); err != nil {
		return r, err
	}
	if c.doubted >= 0 && r.Doubt == nil {
		c.fault("entry %d records a doubt about the log that no entry settles", c.doubted)
	}
	r.Add(c.faults...)
	return r, nil
}

// recorded is what the entries of the log lead to.
type recorded struct {
	*txn
	log *audit.Log
	// records are the records that the database must have, by the keys of lists.
	records map[string]record
	// doubted is the last entry that records a doubt which no later entry settles; -1 for none.
	doubted int64
	// partial reports whether an entry or its list is not what was signed. Then records may be
	// wrong, and nothing is compared with them.
	partial bool
	faults  []string
	// erased reports whether an entry records that the name behind a reference was erased. It is set
	// when the log was read.
	erased func(reference string) bool
}

// A record is a record that an entry accounts for.
type record struct {
	index int64
	mark
}

func (r *recorded) fault(format string, args ...any) {
	r.faults = append(r.faults, shorten(fmt.Sprintf(format, args...), maxText))
}

func newRecorded(t *txn, log *audit.Log) *recorded { return &recorded{txn: t, log: log, doubted: -1} }

// end compares the database with what was recorded, if that is known.
func (r *recorded) end() error {
	switch {
	case r.partial:
		r.fault("the findings and decisions were not compared: the entries do not show what they must be")
	case r.records == nil:
		r.fault("the findings and decisions were not compared: no entry has a complete list of them, the log is of an older version of driftd")
	default:
		return r.compare()
	}
	return nil
}

// entry reads an entry. It receives nil for an entry that is gone or was edited, which log.Verify
// reports.
func (r *recorded) entry(e *audit.Entry) {
	if e == nil {
		r.partial = true
		return
	}
	switch e.Kind {
	case audit.KindDoubt:
		r.doubted = e.Index
	case audit.KindTrust:
		r.doubted = -1
	}
	if e.List == nil {
		return
	}
	if e.List.Complete {
		// The records that the entries before it lead to no longer matter.
		r.records, r.faults, r.partial = map[string]record{}, nil, false
	}
	if len(e.Items) != e.List.Count {
		r.partial = true // log.Verify reports the list
		return
	}
	if err := r.apply(e, e.Items); err != nil {
		r.partial = true
		r.fault("%v", err)
	}
}

// apply applies the items of an entry to the records. The earlier state in the entry must be the
// recorded one.
func (r *recorded) apply(e *audit.Entry, items [][]byte) error {
	if r.records == nil {
		return nil
	}
	for _, item := range items {
		key, c, err := parseItem(item)
		if err != nil {
			return fmt.Errorf("entry %d: %w", e.Index, err)
		}
		if !e.List.Complete {
			r.differ(key, c.was.sum, fmt.Sprintf(", before entry %d", e.Index))
		}
		if r.records[key] = (record{e.Index, c.now}); c.now.none() {
			delete(r.records, key)
		}
	}
	return nil
}

// differ reports a record that differs from the recorded one. An empty digest means that there is
// no record.
func (r *recorded) differ(key string, found digest, when string) {
	was, ok := r.records[key]
	if was.sum == found || r.partial {
		return
	}
	name, there, gone := describe(key)
	switch {
	case !ok:
		r.fault("%s, and no entry records it%s", there, when)
	case found == digest{}:
		r.fault("%s, entry %d records it%s", gone, was.index, when)
	default:
		r.fault("%s was edited after entry %d recorded it%s", name, was.index, when)
	}
}

// describe returns the name of the record with a key of the lists, and the sentences for a record
// that exists and for one that is gone.
func describe(key string) (name, there, gone string) {
	id := key[1:]
	switch key[0] {
	case findingLetter:
		id, at := version(id)
		return "finding " + id, fmt.Sprintf("finding %s has a version of %s", id, at), fmt.Sprintf("the version of %s of finding %s is gone", at, id)
	case openLetter:
		return "the state of the open finding " + id, fmt.Sprintf("finding %s is among the open ones", id), fmt.Sprintf("finding %s is not among the open ones", id)
	case resolvedLetter:
		return "the state of the resolved finding " + id, fmt.Sprintf("finding %s is among the resolved ones", id), fmt.Sprintf("finding %s is not among the resolved ones", id)
	case actionLetter:
		name := strings.ReplaceAll(id, "\x00", " ")
		return name, name + " is there", name + " is gone"
	}
	return "decision " + id, fmt.Sprintf("decision %s is in force", id), fmt.Sprintf("decision %s is gone", id)
}

// version splits the key of a version of a finding.
func version(key string) (id, at string) {
	id, at, _ = strings.Cut(key, "\x00")
	if len(at) != 8 {
		return id, "an unknown time"
	}
	return id, momentAt([]byte(at)).time().Format(time.RFC3339)
}

// named reports whether a stored text is what the reference in a list stands for.
func (r *recorded) named(reference, text string) bool {
	return r.log.Matches(reference, text, r.erased(reference))
}

// compare compares the content of the database with the records of the log.
func (r *recorded) compare() error {
	left := maps.Clone(r.records)
	for _, a := range r.accounted() {
		err := each(a.bucket, nil, func(k, v []byte) error {
			key := string(append([]byte{a.letter}, k...))
			delete(left, key)
			found, err := a.mark(v)
			if err != nil {
				return err
			}
			was := r.records[key]
			if r.named(was.by, found.by) && r.named(was.owner, found.owner) {
				found = found.persons(was.by, was.owner)
			} else {
				found.sum = digest{1} // the name of a person was edited
			}
			r.differ(key, found.sum, "")
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		r.differ(key, digest{}, "")
	}
	for letter, heads := range map[byte]*bucket{openLetter: r.open, resolvedLetter: r.resolved} {
		wrong, err := r.wrongOutlines(heads)
		if err != nil {
			return err
		}
		for _, e := range wrong {
			name, _, _ := describe(string(letter) + string(e.key))
			r.fault("%s was edited: it is not that of the last version", name)
		}
	}
	return nil
}

// wrongOutlines returns the heads whose outline is not that of the version, with the right outline.
// It omits heads whose version is gone or was edited, which the log shows by itself.
func (t *txn) wrongOutlines(heads *bucket) (right []entry, err error) {
	err = each(heads, nil, func(id, v []byte) error {
		h, err := parseHead(v)
		if err != nil {
			return err
		}
		f, err := t.headed(id, &h)
		if outline := encodeOutline(&f); err == nil && outline != h.outline {
			h.outline = outline
			right = append(right, entry{bytes.Clone(id), h.encode()})
		}
		return nil
	})
	return right, err
}

// mendOutlines corrects the outlines that are not those of the versions.
func (t *txn) mendOutlines() error {
	for _, heads := range []*bucket{t.open, t.resolved} {
		right, err := t.wrongOutlines(heads)
		if err == nil {
			err = putAll(heads, right)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
