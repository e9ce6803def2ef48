package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// maxDamages bounds the number of damages that a Health lists.
const maxDamages = 20

// A Health is the result of verifying a database.
type Health struct {
	// Records is the number of records that were read, and Bytes the size of the file.
	Records int   `json:"records"`
	Bytes   int64 `json:"bytes"`
	// Damages describes the first damages; it is never nil. More is the number of further damages.
	Damages []string `json:"damages"`
	More    int      `json:"more,omitempty"`
}

// Whole reports whether no damage was found.
func (h *Health) Whole() bool { return len(h.Damages) == 0 }

// Err returns nil if no damage was found, and otherwise an error with the first damage and the
// number of others.
func (h *Health) Err() error {
	if h.Whole() {
		return nil
	}
	more := ""
	if n := len(h.Damages) - 1 + h.More; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Errorf("%w: %s%s", errCorrupt, h.Damages[0], more)
}

func (h *Health) add(err error) {
	switch {
	case err == nil:
	case len(h.Damages) < maxDamages:
		h.Damages = append(h.Damages, err.Error())
	default:
		h.More++
	}
}

// Verify reads the whole file and returns its damages: damaged pages and records, missing records,
// and references without a target. Damages are not an error; Verify returns an error only if it
// could not verify the file. It changes nothing, and other goroutines may use the store at the same
// time.
func (s *Store) Verify() (Health, error) {
	if damaged := s.damaged.Load(); damaged != nil {
		return Health{}, fmt.Errorf("verify store: %w", damaged)
	}
	h, err := s.check(s.codec)
	if err != nil {
		return h, fmt.Errorf("verify store: %w", err)
	}
	return h, nil
}

// VerifyFile verifies the database file at path as Store.Verify does, without changing it. No
// process may write to the file during the call.
func VerifyFile(path string) (Health, error) {
	c, err := newCodec()
	if err != nil {
		return Health{}, fmt.Errorf("verify store: %w", err)
	}
	defer c.dec.Close()
	h, err := verifyFile(path, c)
	if err != nil {
		return h, fmt.Errorf("verify store: %w", err)
	}
	return h, nil
}

func verifyFile(path string, c codec) (Health, error) {
	h, err := openHandle(path, true, lockTimeout)
	var short *os.PathError
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return Health{}, &LockedError{Path: path}
	case errors.As(err, &short):
		return Health{}, err
	case err != nil:
		health := Health{Damages: []string{}}
		health.add(err)
		return health, nil
	}
	health, err := h.check(c)
	if !health.Whole() {
		return health, errors.Join(err, h.abandon())
	}
	return health, errors.Join(err, h.close())
}

// verify returns an error if the file is damaged or cannot be verified.
func verify(path string, c codec) error {
	health, err := verifyFile(path, c)
	return errors.Join(err, health.Err())
}

// check verifies the file in one transaction.
func (h *handle) check(c codec) (Health, error) {
	health := Health{Damages: []string{}}
	err := guard(func() error {
		return h.db.View(func(tx *bbolt.Tx) error {
			health.Bytes = tx.Size()
			version, err := versionOf(tx)
			if err != nil {
				return err
			}
			if want := currentSchema().version; version != want {
				return fmt.Errorf("the file has schema version %d; this version of driftd verifies version %d: run `driftd scan` once, or start the daemon, to migrate it", version, want)
			}
			if h.oneMetaLost() {
				health.add(&RecordError{What: "one of the two meta pages of the file is damaged, and the other one may be older"})
			}
			for _, err := range h.checkPages(tx) {
				health.add(err)
			}
			if !health.Whole() {
				return nil
			}
			t, err := begin(tx, c)
			if err != nil {
				return err
			}
			t.verify(&health)
			return nil
		})
	})
	if suspicious(err) {
		health.add(err)
		return health, nil
	}
	return health, err
}

// A part is a bucket with the checks of its records.
type part struct {
	in *bucket
	// decode checks the form of a record, refer checks that the records that it refers to exist;
	// nil if it refers to none.
	decode, refer func(k, v []byte) error
}

func (t *txn) parts() []part {
	return []part{
		{in: t.notes, decode: t.decodeNote},
		{in: t.contents, decode: t.decodeContent},
		{in: t.versions, decode: decodeVersion, refer: func(_, v []byte) error { return t.referVersion(v) }},
		{in: t.resources, decode: decodeResource, refer: func(_, v []byte) error { return t.referState(v) }},
		{in: t.open, decode: decodeHead, refer: t.referHead},
		{in: t.resolved, decode: decodeHead, refer: t.referHead},
		{in: t.findings, decode: func(_, v []byte) error { _, err := t.parseFinding(v); return err }},
		{in: t.seen, decode: decodeSeen},
		{in: t.newest, decode: func(_, v []byte) error { _, _, err := t.parseRun(v); return err }},
		{in: t.runs, decode: func(_, v []byte) error { _, err := parseSeries(v); return err }},
		{in: t.decisions, decode: func(k, v []byte) error { _, err := t.parseDecision(k, v); return err }},
		{in: t.threads, decode: func(k, v []byte) error { _, err := t.parseThread(k, v); return err }},
		{in: t.paces, decode: func(_, v []byte) error { return t.unpackJSON(v, new(model.Pace)) }},
		{in: t.outbox, decode: func(k, v []byte) error { _, _, err := t.parseMessage(k, v); return err }},
		{in: t.audit, decode: t.decodeAudit},
		{in: t.actions, decode: func(k, v []byte) error { _, err := t.parseActing(k, v); return err }},
		{in: t.receipts, decode: func(_, v []byte) error { return t.unpackJSON(v, new(string)) }},
	}
}

// verify checks the checksum and the form of every record and, if all are intact, their references.
func (t *txn) verify(h *Health) {
	parts := t.parts()
	for _, p := range parts {
		t.verifyPart(p, h)
	}
	if !h.Whole() {
		return
	}
	for _, p := range parts {
		if p.refer != nil {
			h.add(p.walk(p.refer))
		}
	}
	h.add(t.eachRun(func(raw []byte) (bool, error) { return true, parseJSON(raw, new(model.Run)) }))
}

// verifyPart adds the damaged and missing records of a bucket to h.
func (t *txn) verifyPart(p part, h *Health) {
	counted := total{sequence: p.in.now.sequence}
	damaged := false
	c := p.in.raw.Cursor()
	for k, stored := c.First(); k != nil; k, stored = c.Next() {
		h.Records++
		v, sum, err := p.in.unseal(k, stored)
		if err == nil {
			counted.add(sum)
			if err = p.decode(k, v); err != nil {
				err = p.in.damage(k, err.Error())
			}
		}
		damaged = damaged || err != nil
		h.add(err)
	}
	if !damaged {
		h.add(p.in.compare(counted))
	}
}

// walk calls check for each record and returns the first error.
func (p part) walk(check func(k, v []byte) error) error {
	return each(p.in, nil, func(k, v []byte) error {
		if err := check(k, v); err != nil {
			return p.in.damage(k, err.Error())
		}
		return nil
	})
}

func (t *txn) decodeNote(k, v []byte) error {
	switch {
	case bytes.HasPrefix(k, []byte(firstNote)):
		_, err := parseFirstRead(k, v)
		return err
	case bytes.HasPrefix(k, []byte(lastNote)):
		return t.parseNote(v, new(model.SourceRun))
	case bytes.HasPrefix(k, []byte(stateNote)):
		return t.parseNote(v, new([]model.StateRead))
	case bytes.HasPrefix(k, []byte(witnessNote)):
		return parseJSON(v, new(Published))
	case string(k) == doubtNote:
		return parseJSON(v, new(Doubt))
	case string(k) == quietNote:
		return parseJSON(v, new(quietData))
	case slices.Contains([]string{versionNote, sealNote, keyNote}, string(k)):
		return nil
	}
	return fmt.Errorf("%w: unknown note", errCorrupt)
}

// decodeAudit checks the form of a list. VerifyAudit checks the log itself.
func (t *txn) decodeAudit(k, v []byte) error {
	if !audit.IsList(k) {
		return nil
	}
	_, err := t.unpack(v)
	return err
}

func (t *txn) decodeContent(k, v []byte) error {
	if len(k) != sha256.Size {
		return fmt.Errorf("%w: digest of %d bytes", errCorrupt, len(k))
	}
	_, err := t.parseContent(digest(k), v)
	return err
}

func decodeVersion(k, v []byte) error {
	if len(k) != 16 {
		return fmt.Errorf("%w: key of %d bytes", errCorrupt, len(k))
	}
	sum, err := versionSum(v)
	if err != nil || sum == (digest{}) {
		return err
	}
	_, err = versionActor(v)
	return err
}

func decodeResource(k, v []byte) error {
	_, err := parseState(v)
	if err == nil {
		_, err = parseKey(k)
	}
	return err
}

func decodeHead(id, v []byte) error {
	h, err := parseHead(v)
	if err != nil {
		return err
	}
	return h.decode(string(id), h.seen, new(model.Outline))
}

func decodeSeen(_, v []byte) error {
	if len(v) != 8 {
		return fmt.Errorf("%w: time of %d bytes", errCorrupt, len(v))
	}
	return nil
}

func (t *txn) referVersion(v []byte) error {
	sum, err := versionSum(v)
	if err == nil && sum != (digest{}) && t.contents.get(sum[:]) == nil {
		err = fmt.Errorf("%w: content %x is missing", errCorrupt, sum)
	}
	return err
}

func (t *txn) referState(v []byte) error {
	st, err := parseState(v)
	if err != nil {
		return err
	}
	version := t.versions.get(versionKey(st.num, st.at))
	if version == nil {
		return fmt.Errorf("%w: its last version is missing", errCorrupt)
	}
	if sum, err := versionSum(version); err != nil || sum != st.sum {
		return fmt.Errorf("%w: its last version has another digest", errCorrupt)
	}
	return nil
}

func (t *txn) referHead(id, v []byte) error {
	h, err := parseHead(v)
	if err != nil {
		return err
	}
	f, err := t.headed(id, &h)
	if err == nil && (f.Source != h.source || encodeOutline(&f) != h.outline) {
		err = fmt.Errorf("%w: its source or outline is not that of its content", errCorrupt)
	}
	return err
}

// headed returns the version of a finding to which its head refers.
func (t *txn) headed(id []byte, h *head) (f model.Finding, err error) {
	version := t.findings.get(findingKey(string(id), h.at))
	if len(version) < 8 {
		return f, fmt.Errorf("%w: its content is missing", errCorrupt)
	}
	body, err := t.unpack(version[8:])
	if err != nil {
		return f, err
	}
	if sha256.Sum256(body) != h.sum {
		return f, fmt.Errorf("%w: its content does not match its digest", errCorrupt)
	}
	err = parseJSON(body, &f)
	return f, err
}
