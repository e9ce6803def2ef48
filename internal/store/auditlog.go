package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// auditRecords are the records of the audit log in a transaction.
type auditRecords struct{ b *bucket }

func (r auditRecords) Get(key []byte) []byte       { return r.b.get(key) }
func (r auditRecords) Put(key, value []byte) error { return r.b.put(key, value) }
func (r auditRecords) Remove(key []byte) error     { return r.b.remove(key) }

// The data of the entries that the store appends. Persons are references, see audit.Log.Ref.
type (
	beginData struct {
		Key string `json:"key"`
		// Findings and Decisions count what the database had when the log began.
		Findings  uint64 `json:"findings"`
		Decisions uint64 `json:"decisions"`
	}
	scanData struct {
		Run string `json:"run,omitempty"`
		// Changed is the number of findings with a new version, Root the Merkle tree hash over
		// them: see changedFindings.
		Changed int    `json:"changed"`
		Root    string `json:"root"`
		Opened  int    `json:"opened"`
		// Resolved counts the changed findings that the scan resolved.
		Resolved int `json:"resolved"`
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
	resealData struct {
		Changed int    `json:"changed"`
		Root    string `json:"root"`
	}
	doubtData struct {
		What string `json:"what"`
	}
)

// quietPeriod is the time after which scans that changed nothing are recorded.
const quietPeriod = time.Hour

// record appends entries to the audit log, if the store has a key. A log that is not the one that
// was signed is not continued: the transaction goes on without it, and the log is in doubt until a
// person settles it.
func (t *txn) record(entries ...audit.Entry) error {
	if t.signer == nil || len(entries) == 0 {
		return nil
	}
	if what := t.otherKey(); what != "" {
		return t.doubt(what, entries[0].Time)
	}
	log := t.auditLog()
	if _, err := log.Head(); errors.Is(err, audit.ErrEmpty) {
		if err := t.setKey(t.signer.Public()); err != nil {
			return err
		}
		begin := beginData{t.signer.Public().String(), t.open.was.records, t.decisions.was.records}
		entries = slices.Insert(entries, 0, audit.Entry{Kind: audit.KindBegin, Time: entries[0].Time, Data: begin})
	}
	if what := clockBack(log, entries[0].Time); what != "" {
		if err := t.doubt(what, entries[0].Time); err != nil {
			return err
		}
	}
	head, err := log.Append([]audit.Key{*t.signer}, entries...)
	if changed := (*audit.TamperedError)(nil); errors.As(err, &changed) {
		return t.doubt(changed.What, entries[0].Time)
	}
	if err == nil {
		t.signed = &head
	}
	return err
}

// dropAudit drops the entries of the audit log beyond a maximum age; 0 keeps all. It drops nothing
// from a log that is not the one that was signed.
func (t *txn) dropAudit(maxAge time.Duration, now time.Time) error {
	if t.signer == nil || maxAge <= 0 || t.otherKey() != "" {
		return nil
	}
	log := t.auditLog()
	first, err := log.Older(now.Add(-maxAge))
	if err != nil || first == 0 {
		return untampered(err)
	}
	if _, err := log.Entry(first - 1); errors.Is(err, audit.ErrDropped) {
		return nil
	}
	if err := log.Drop([]audit.Key{*t.signer}, first, now); err != nil {
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

func (t *txn) auditLog() *audit.Log { return audit.New(auditRecords{t.audit}, t.signer.Public()) }

// A Doubt is why the audit log cannot prove that the database is what driftd wrote.
type Doubt struct {
	What  string    `json:"what"`
	Since time.Time `json:"since"`
}

// doubt records that the log is in doubt, unless it is already: in a note, and in an entry if the log
// can be continued.
func (t *txn) doubt(what string, now time.Time) error {
	if t.notes.get([]byte(doubtNote)) != nil {
		return nil
	}
	v, err := json.Marshal(Doubt{what, now.UTC()})
	if err != nil {
		return fmt.Errorf("encode doubt: %w", err)
	}
	if err := t.notes.put([]byte(doubtNote), v); err != nil || t.otherKey() != "" {
		return err
	}
	head, err := t.auditLog().Append([]audit.Key{*t.signer}, audit.Entry{Kind: audit.KindDoubt, Time: now, Data: doubtData{what}})
	if err == nil {
		t.signed = &head
	}
	return untampered(err)
}

// recordScan records the findings that the transaction changed.
func (t *txn) recordScan(run *model.Run, now time.Time) error {
	if t.signer == nil {
		return nil
	}
	if len(t.changed) == 0 {
		return t.recordQuiet(now)
	}
	return t.recordChanged(audit.KindScan, run.ID, now)
}

// recordChanged records the findings that the transaction changed, if there are any.
func (t *txn) recordChanged(kind audit.Kind, run string, now time.Time) error {
	if t.signer == nil || len(t.changed) == 0 {
		return nil
	}
	d := scanData{Run: run, Changed: len(t.changed), Root: t.changed.root()}
	for _, c := range t.changed {
		if c.opened {
			d.Opened++
		}
		if c.resolved {
			d.Resolved++
		}
	}
	before := t.signed
	if err := t.record(audit.Entry{Kind: kind, Time: now, Data: d}); err != nil || t.signed == before {
		return err
	}
	packed, err := t.pack(t.changed.encode())
	if err != nil {
		return err
	}
	return t.auditLog().Attach(t.signed.Size-1, packed)
}

// recordReseal records that stored findings were rewritten, with a root over the open ones.
func (t *txn) recordReseal(now time.Time) error {
	var open changedFindings
	err := each(t.open, nil, func(id, v []byte) error {
		h, err := parseHead(v)
		open = append(open, changedFinding{id: string(id), at: h.at, sum: h.sum})
		return err
	})
	if err != nil {
		return err
	}
	return t.record(audit.Entry{Kind: audit.KindReseal, Time: now, Data: resealData{len(open), open.root()}})
}

// recordQuiet counts a scan that changed nothing, and records the count once in a quietPeriod.
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
		entries[i] = audit.Entry{Kind: audit.KindRevoke, Time: now, Data: revokeData{ID: ended[i].ID, From: ended[i].From}}
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

// dataOf returns the data of the entry for a decision, without references of persons.
func dataOf(d *model.Decision) decisionData {
	data := decisionData{ID: d.ID, Kind: d.Kind, Finding: d.Finding, Basis: d.Basis, Covers: d.Covers, Reason: d.Reason,
		Via: d.Via, Until: d.Until.UTC(), Replaces: d.Replaces}
	if d.Subject.Key != (model.Key{}) {
		data.Subject = d.Subject.Key.String()
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

// A changedFinding is a new version of a finding.
type changedFinding struct {
	id               string
	at               moment
	sum              digest
	opened, resolved bool
}

type changedFindings []changedFinding

// leaf returns the bytes that stand for the version in a root: its time, its digest and its ID.
func (c *changedFinding) leaf() []byte {
	return append(append(c.at.append(nil), c.sum[:]...), c.id...)
}

func parseLeaf(b []byte) (changedFinding, error) {
	const least = 8 + sha256.Size
	if len(b) <= least {
		return changedFinding{}, fmt.Errorf("%w: version of a finding of %d bytes", errCorrupt, len(b))
	}
	return changedFinding{id: string(b[least:]), at: momentAt(b), sum: digest(b[8:least])}, nil
}

// root returns the Merkle tree hash over the versions in the order of their IDs.
func (l changedFindings) root() string {
	slices.SortFunc(l, func(a, b changedFinding) int { return strings.Compare(a.id, b.id) })
	leaves := make([][]byte, len(l))
	for i := range l {
		leaves[i] = l[i].leaf()
	}
	return audit.Root(leaves)
}

// encode returns the leaves, each after its length.
func (l changedFindings) encode() []byte {
	var b []byte
	for i := range l {
		leaf := l[i].leaf()
		b = append(binary.AppendUvarint(b, uint64(len(leaf))), leaf...)
	}
	return b
}

// parseAttachment decodes the attachment of an entry of KindScan.
func (c codec) parseAttachment(packed []byte) (changedFindings, error) {
	b, err := c.unpack(packed)
	if err != nil {
		return nil, err
	}
	var list changedFindings
	for len(b) > 0 {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, fmt.Errorf("%w: list of versions of findings", errCorrupt)
		}
		c, err := parseLeaf(b[n : n+int(size)])
		if err != nil {
			return nil, err
		}
		list, b = append(list, c), b[n+int(size):]
	}
	return list, nil
}
