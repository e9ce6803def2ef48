package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// auditRecords are the records of the audit log in a transaction. Lists are compressed.
type auditRecords struct {
	b *bucket
	codec
}

// Get implements audit.Records. It returns a list that cannot be decompressed unchanged, since it
// is not the list that its entry identifies.
func (r auditRecords) Get(key []byte) []byte {
	v := r.b.get(key)
	if v == nil || !audit.IsList(key) {
		return v
	}
	list, err := r.unpack(v)
	if err != nil {
		return v
	}
	return list
}

func (r auditRecords) Put(key, value []byte) (err error) {
	if audit.IsList(key) {
		if value, err = r.pack(value); err != nil {
			return err
		}
	}
	if r.b.holds(key, value) {
		return nil
	}
	return r.b.put(key, value)
}

func (r auditRecords) Remove(key []byte) error { return r.b.remove(key) }

// Walk calls visit with each record whose key is from or greater, in the order of keys, until visit
// returns false. Lists are compressed.
func (r auditRecords) Walk(from []byte, visit func(key, value []byte) bool) {
	c := r.b.cursor()
	for k, v := c.seek(from); k != nil && visit(k, v); k, v = c.next() {
	}
}

// The data of the entries that the store appends. Persons are references, see audit.Log.Ref.
type (
	beginData struct {
		Key string `json:"key"`
		// Findings and Decisions count what the database had when the log began.
		Findings  uint64 `json:"findings"`
		Decisions uint64 `json:"decisions"`
	}
	scanData struct {
		Run string `json:"run"`
		// Changed is the number of findings with a new version, Opened of those that are open now
		// and were not before, Resolved of those that the scan resolved.
		Changed  int `json:"changed"`
		Opened   int `json:"opened"`
		Resolved int `json:"resolved"`
	}
	// settleData counts the findings with a new version.
	settleData struct {
		Changed int `json:"changed"`
	}
	quietData struct {
		Since    time.Time `json:"since"`
		Runs     int       `json:"runs"`
		Findings uint64    `json:"findings"`
	}
	decisionData struct {
		ID       string             `json:"id"`
		Kind     model.DecisionKind `json:"kind"`
		Finding  string             `json:"finding,omitempty"`
		Subject  string             `json:"subject,omitempty"`
		Basis    string             `json:"basis,omitempty"`
		Covers   int                `json:"covers,omitempty"`
		Reason   string             `json:"reason,omitempty"`
		Owner    string             `json:"owner,omitempty"`
		By       string             `json:"by"`
		Via      string             `json:"via"`
		Until    time.Time          `json:"until,omitzero"`
		Replaces string             `json:"replaces,omitempty"`
	}
	revokeData struct {
		ID string `json:"id"`
		// By is who revoked it; "" if it is no longer in the file that declared it, From, or ended
		// with its finding.
		By   string `json:"by,omitempty"`
		From string `json:"from,omitempty"`
	}
	pruneData struct {
		// Before is the time before which superseded versions were removed.
		Before  time.Time `json:"before,omitzero"`
		Removed int       `json:"removed"`
	}
	// resealData counts the versions of findings that were rewritten.
	resealData struct {
		Changed int `json:"changed"`
	}
	doubtData struct {
		What string `json:"what"`
	}
)

// quietPeriod is the time after which scans that changed nothing are recorded.
const quietPeriod = time.Hour

// record appends entries to the audit log when the transaction ends, if the store has a key. The last
// one accounts for what the transaction changed so far.
func (t *txn) record(entries ...audit.Entry) error {
	if t.signer == nil || len(entries) == 0 {
		return nil
	}
	last := &entries[len(entries)-1]
	var err error
	if last.Items, err = t.take(last.Kind); err != nil {
		return err
	}
	t.pending = append(t.pending, entries...)
	return nil
}

// writeLog appends the entries of the transaction to the audit log. It does not continue a log that
// is not the one that was signed. The transaction then succeeds without entries, and the log is in
// doubt until a person settles it.
func (t *txn) writeLog() error {
	entries := t.pending
	t.pending = nil
	if len(entries) == 0 {
		return nil
	}
	now := entries[0].Time
	if what := t.otherKey(); what != "" {
		return t.doubt(what, now)
	}
	log := t.auditLog()
	if isEmpty(log) && entries[0].Kind != audit.KindBegin {
		begin, err := t.beginLog(now)
		if err != nil {
			return err
		}
		entries = slices.Insert(entries, 0, begin)
	}
	if what := clockBack(log, now); what != "" {
		if err := t.doubt(what, now); err != nil {
			return err
		}
	}
	head, err := log.Append([]audit.Key{*t.signer}, entries...)
	if changed := (*audit.TamperedError)(nil); errors.As(err, &changed) {
		return t.doubt(changed.What, now)
	}
	if err != nil {
		return err
	}
	t.signed = &head
	return t.settleBegin(log, now)
}

// beginLog returns the first entry of a log. It accounts for the records that the database had
// before the transaction. The log begins in doubt if another log exists or if it may have been
// begun again.
func (t *txn) beginLog(now time.Time) (audit.Entry, error) {
	doubt, err := t.readDoubt()
	if err != nil {
		return audit.Entry{}, err
	}
	if t.beginDoubt = t.begunOver(t); doubt != nil {
		t.beginDoubt = doubt.What
	}
	all, err := t.marks()
	if err != nil {
		return audit.Entry{}, err
	}
	for key, was := range t.before {
		if all[key] = (change{now: was}); was.none() {
			delete(all, key)
		}
	}
	items, err := t.itemsOf(all)
	if err != nil {
		return audit.Entry{}, err
	}
	data := beginData{t.signer.Public().String(), t.open.was.records, t.decisions.was.records}
	return audit.Entry{Kind: audit.KindBegin, Time: now, Data: data, Items: items, Complete: true}, t.setKey(t.signer.Public())
}

// dropAudit drops the entries of the audit log that are older than a maximum age; 0 keeps all. cut
// returns the moment before which records exceed an age. It drops nothing from a log that is not
// the one that was signed.
func (t *txn) dropAudit(maxAge time.Duration, cut func(time.Duration) moment, now time.Time) error {
	if t.signer == nil || maxAge <= 0 || t.otherKey() != "" {
		return nil
	}
	log := t.auditLog()
	// Each drop keeps a complete list, so that there is one in a tenth of the age at most.
	due, err := log.Older(cut(maxAge + maxAge/10).time())
	if err != nil || due == 0 {
		return untampered(err)
	}
	if _, err := log.Entry(due - 1); errors.Is(err, audit.ErrDropped) {
		return nil
	}
	first, err := log.Older(cut(maxAge).time())
	if err != nil {
		return untampered(err)
	}
	items, whole := t.recordedItems(log)
	if !whole {
		return nil
	}
	if err := log.Drop([]audit.Key{*t.signer}, first, items, now); err != nil {
		return untampered(err)
	}
	return t.keepSigned(log)
}

// untampered returns err unless it is a *audit.TamperedError, which the next record reports.
func untampered(err error) error {
	if changed := (*audit.TamperedError)(nil); errors.As(err, &changed) {
		return nil
	}
	return err
}

// keepSigned remembers the head that the transaction signed.
func (t *txn) keepSigned(log *audit.Log) error {
	h, err := log.Head()
	t.signed = &h
	return err
}

// otherKey returns why the key of the store is not the one of the log; "" if it is. A key that was
// replaced must not sign: its head would not be valid under the new one.
func (t *txn) otherKey() string {
	key := string(t.notes.get([]byte(keyNote)))
	if key == "" || key == t.signer.Public().String() {
		return ""
	}
	return fmt.Sprintf("the log has the key %s, and this is another one, %s: set audit.key_file to the key of the log", key, t.signer.Public())
}

func (t *txn) setKey(key audit.PublicKey) error {
	return t.notes.put([]byte(keyNote), []byte(key.String()))
}

// clockTolerance is how far the clock may go back between two entries.
const clockTolerance = 2 * time.Minute

// clockBack returns what is wrong with the time of a new entry; "" if nothing is.
func clockBack(log *audit.Log, now time.Time) string {
	h, err := log.Head()
	if err != nil {
		return ""
	}
	last, err := log.Entry(h.Size - 1)
	if err != nil || !now.Before(last.Time.Add(-clockTolerance)) {
		return ""
	}
	return fmt.Sprintf("the clock was set back: entry %d is of %s", last.Index, last.Time.Format(time.RFC3339))
}

func (t *txn) auditLog() *audit.Log {
	return audit.New(auditRecords{t.audit, t.codec}, t.signer.Public())
}

// An UnrecordedError reports that a change was not made because the audit log cannot record it.
type UnrecordedError struct{ What string }

// Error returns the reason why the log cannot record the change.
func (e *UnrecordedError) Error() string { return "the audit log cannot record it: " + e.What }

// A Doubt is the reason why the audit log cannot prove that the content of the database was written
// by driftd, with the time since when.
type Doubt struct {
	What  string    `json:"what"`
	Since time.Time `json:"since"`
}

// doubt records that the log is in doubt, unless it is already. It writes a note and, if the log
// can be continued, an entry. For a log without entries, the transaction that begins the log writes
// the entry.
func (t *txn) doubt(what string, now time.Time) error {
	if t.strict {
		return &UnrecordedError{what}
	}
	if t.notes.get([]byte(doubtNote)) != nil {
		return nil
	}
	log := t.auditLog()
	if err := t.noteDoubt(what, now); err != nil || t.otherKey() != "" || isEmpty(log) {
		return err
	}
	head, err := log.Append([]audit.Key{*t.signer}, audit.Entry{Kind: audit.KindDoubt, Time: now, Data: doubtData{shorten(what, maxReason)}})
	if err == nil {
		t.signed = &head
	}
	return untampered(err)
}

// noteDoubt writes the note that the log is in doubt, unless there is one.
func (t *txn) noteDoubt(what string, now time.Time) error {
	if t.notes.get([]byte(doubtNote)) != nil {
		return nil
	}
	v, err := json.Marshal(Doubt{shorten(what, maxReason), now.UTC()})
	if err != nil {
		return fmt.Errorf("encode doubt: %w", err)
	}
	return t.notes.put([]byte(doubtNote), v)
}

// isEmpty reports whether a log has no entries.
func isEmpty(log *audit.Log) bool {
	_, err := log.Head()
	return errors.Is(err, audit.ErrEmpty)
}

// recordScan records the findings that the transaction changed.
func (t *txn) recordScan(run *model.Run, now time.Time) error {
	if t.signer == nil {
		return nil
	}
	// A scan that wrote over an edited record changed no finding, and is recorded too.
	if len(t.changed) == 0 {
		return errors.Join(t.recordBegin(now), t.recordQuiet(now))
	}
	d := scanData{Run: run.ID, Changed: t.changes(findingLetter)}
	for key, c := range t.changed {
		switch {
		case !c.was.none() || c.now.none():
		case key[0] == openLetter:
			d.Opened++
		case key[0] == resolvedLetter:
			d.Resolved++
		}
	}
	return t.record(audit.Entry{Kind: audit.KindScan, Time: now, Data: d})
}

// recordBegin begins a log without entries, so that it has a head from the first scan on.
func (t *txn) recordBegin(now time.Time) error {
	if len(t.pending) > 0 || t.otherKey() != "" || !isEmpty(t.auditLog()) {
		return nil
	}
	begin, err := t.beginLog(now)
	t.pending = append(t.pending, begin)
	return err
}

// recordQuiet counts a scan that changed nothing, and records the count once per quietPeriod.
func (t *txn) recordQuiet(now time.Time) error {
	var q quietData
	if v := t.notes.get([]byte(quietNote)); v != nil {
		if err := parseJSON(v, &q); err != nil {
			return err
		}
	}
	if q.Runs == 0 {
		q.Since = now.UTC()
	}
	q.Runs++
	if passed := now.Sub(q.Since); passed >= quietPeriod || passed < 0 {
		q.Findings = t.open.now.records
		if err := t.record(audit.Entry{Kind: audit.KindQuiet, Time: now, Data: q}); err != nil {
			return err
		}
		q = quietData{Since: now.UTC()}
	}
	v, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("encode count of scans: %w", err)
	}
	return t.notes.put([]byte(quietNote), v)
}

// recordDecisions records decisions that were made.
func (t *txn) recordDecisions(list []model.Decision, now time.Time) error {
	if t.signer == nil {
		return nil
	}
	entries := make([]audit.Entry, len(list))
	for i := range list {
		var err error
		if entries[i], err = t.decided(&list[i], now); err != nil {
			return err
		}
	}
	return t.record(entries...)
}

// recordDeclared records the decisions that a file has anew, those that it no longer has, and the
// acknowledgements that ended with their findings.
func (t *txn) recordDeclared(made, ended []model.Decision, now time.Time) error {
	if err := t.recordDecisions(made, now); err != nil {
		return err
	}
	entries := make([]audit.Entry, len(ended))
	for i := range ended {
		entries[i] = audit.Entry{Kind: audit.KindRevoke, Time: now, Data: revokeData{ID: shorten(ended[i].ID, maxText), From: shorten(ended[i].From, maxText)}}
	}
	return t.record(entries...)
}

// recordRevoked records that a person ended a decision.
func (t *txn) recordRevoked(d *model.Decision, by string, now time.Time) error {
	person, err := t.ref(by)
	if err != nil {
		return err
	}
	return t.record(audit.Entry{Kind: audit.KindRevoke, Time: now, Data: revokeData{ID: d.ID, By: person}})
}

// decided returns the entry for a decision.
func (t *txn) decided(d *model.Decision, now time.Time) (audit.Entry, error) {
	by, err := t.ref(d.By)
	if err != nil {
		return audit.Entry{}, err
	}
	owner, err := t.ref(d.Owner)
	data := dataOf(d)
	data.By, data.Owner = by, owner
	return audit.Entry{Kind: audit.KindDecision, Time: now, Data: data}, err
}

const (
	// maxReason and maxText bound a reason and other texts of an entry, in bytes. The digest in the
	// list of the entry is that of the whole record.
	maxReason = 2000
	maxText   = 500
)

// shorten returns s cut to a limit in bytes. An entry whose texts are too long must not keep a scan
// from being saved.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// dataOf returns the data of the entry for a decision, without references of persons.
func dataOf(d *model.Decision) decisionData {
	data := decisionData{Kind: d.Kind, Covers: d.Covers, Reason: shorten(d.Reason, maxReason), Until: d.Until.UTC()}
	if d.Subject.Key != (model.Key{}) {
		data.Subject = shorten(d.Subject.Key.String(), maxText)
	}
	for to, from := range map[*string]string{&data.ID: d.ID, &data.Finding: d.Finding, &data.Basis: d.Basis, &data.Via: d.Via, &data.Replaces: d.Replaces} {
		*to = shorten(from, maxText)
	}
	return data
}

// ref returns the reference of a person; "" if the store writes no log.
func (t *txn) ref(name string) (string, error) {
	if t.signer == nil {
		return "", nil
	}
	return t.auditLog().Ref(name)
}
