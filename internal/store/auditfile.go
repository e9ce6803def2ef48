package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/bounded"
)

// A lastHead is the content of the head file in the folder of the database: the last head of the
// audit log, and the machine that wrote it. A database that was restored, moved or created again
// has another head.
type lastHead struct {
	// Machine is a digest of the machine ID; "" if the machine has none.
	Machine string `json:"machine"`
	Head    string `json:"head"`
}

func (s *Store) headPath() string { return s.path + ".head" }

// machine returns the digest of the machine ID (machine-id(5) asks not to expose the ID itself).
func machine() string {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil || len(id) == 0 {
		return ""
	}
	sum := sha256.Sum256(append([]byte("driftd/v1 machine\n"), id...))
	return hex.EncodeToString(sum[:8])
}

// keepHead writes the head file. After a power failure, the file contains the new head or an older
// one, which is also a head of the log.
func (s *Store) keepHead(h *audit.Head) error {
	b, err := json.Marshal(lastHead{machine(), string(h.Note)})
	if err != nil {
		return fmt.Errorf("encode head: %w", err)
	}
	temp := s.headPath() + ".new"
	// A crash leaves a file there. A folder or a link would keep the old head.
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, s.headPath()); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(s.path))
}

// doubtHead puts the log in doubt because the head of a transaction could not be written to the head file: later, an
// older copy of the database would lead to the head that the file has.
func (s *Store) doubtHead(err error) {
	s.o.Log.Error("write the head of the audit log beside the database", "path", s.headPath(), "err", err)
	// The entry about the doubt is signed too.
	if d, readErr := s.Doubt(); readErr == nil && d != nil {
		return
	}
	if err := s.PutInDoubt(fmt.Sprintf("the head of the log cannot be written beside the database, so that older copies of it are not found: %v", err)); err != nil {
		s.o.Log.Error("put the audit log in doubt", "err", err)
	}
}

// maxHeadFile bounds the head file, in bytes.
const maxHeadFile = 256 << 10

// A headFile is the content of the head file, or why it could not be read. It must be as old as the transaction with whose
// log it is compared: a later head leads to entries that the transaction does not see.
type headFile struct {
	lastHead
	err error
}

func (s *Store) readHead() headFile {
	last, err := s.decodeHead()
	return headFile{last, err}
}

func (s *Store) decodeHead() (lastHead, error) {
	var last lastHead
	b, err := bounded.ReadRegular(s.headPath(), maxHeadFile)
	if errors.Is(err, bounded.ErrNotRegular) {
		err = fmt.Errorf("%w: remove it", err)
	}
	if err != nil {
		return last, err
	}
	if err := json.Unmarshal(b, &last); err != nil {
		return last, fmt.Errorf("read %s: %w", s.headPath(), err)
	}
	return last, nil
}

// kept returns the head in the head file; nil if it has none that a key of the log signed. A file
// that cannot be read is no evidence about the log, and foreign reports it.
func (f *headFile) kept(t *txn) *audit.Head {
	if f.err != nil {
		return nil
	}
	h, err := t.parseHead(f.Head)
	if err != nil {
		return nil
	}
	return &h
}

// parseHead parses a head that a key of the log signed: after a power failure, the head file may have
// one of before the log got another key.
func (t *txn) parseHead(text string) (audit.Head, error) {
	h, err := audit.ParseHead([]byte(text), t.signer.Public())
	if err == nil {
		return h, nil
	}
	keys, keysErr := t.auditLog().Keys()
	if keysErr != nil || len(keys) < 2 {
		return h, err
	}
	return audit.ParseHeadBy([]byte(text), keys...)
}

// checkAudit puts the audit log in doubt if the database is not the one that this installation
// wrote last.
func (s *Store) checkAudit() error {
	if s.o.Audit == nil || s.o.ReadOnly {
		return nil
	}
	var what string
	file := s.readHead()
	err := s.view("check the audit log", func(t *txn) error {
		what = s.foreign(t, &file)
		return nil
	})
	if err != nil {
		return err
	}
	if what != "" {
		if err := s.PutInDoubt(what); err != nil {
			return err
		}
	}
	return s.beginAudit()
}

// foreign returns the reason why the database is not the one that was written last; "" if it is.
func (s *Store) foreign(t *txn, file *headFile) string {
	if what := t.otherKey(); what != "" {
		return what
	}
	if what := s.unexpectedKey(); what != "" {
		return what
	}
	log := t.auditLog()
	_, err := log.Head()
	began := !errors.Is(err, audit.ErrEmpty)
	switch {
	case errors.Is(file.err, fs.ErrNotExist) && began:
		return "the database was restored or moved: " + s.headPath() + " is missing"
	case errors.Is(file.err, fs.ErrNotExist):
		return ""
	case file.err != nil:
		return file.err.Error()
	case file.Machine != machine():
		return "the database was moved here from another machine"
	}
	h, err := t.parseHead(file.Head)
	if err != nil {
		return fmt.Sprintf("%s: %v", s.headPath(), err)
	}
	if changed := (*audit.TamperedError)(nil); errors.As(log.Leads(h), &changed) {
		return changed.What
	}
	return ""
}

// unexpectedKey returns why the key of the log is not the one of the options; "" if it is.
func (s *Store) unexpectedKey() string {
	key := s.o.Audit.Public().String()
	if s.o.AuditKey == "" || s.o.AuditKey == key {
		return ""
	}
	return fmt.Sprintf("the log has the key %s, and audit.public_key names another one, %.200s", key, s.o.AuditKey)
}

// ErrNoAuditKey is returned by methods that need the key of the audit log if the store has none.
var ErrNoAuditKey = errors.New("the key of the audit log is missing or cannot be read")

func (s *Store) viewAudit(what string, fn func(*txn) error) error {
	if s.o.Audit == nil {
		return fmt.Errorf("%s: %w", what, ErrNoAuditKey)
	}
	return s.view(what, fn)
}

func (s *Store) updateAudit(what string, fn func(*txn) error) error {
	if s.o.Audit == nil {
		return fmt.Errorf("%s: %w", what, ErrNoAuditKey)
	}
	return s.update(what, fn)
}

// ErrNoDoubt is returned by Trust if the log verifies and is not in doubt.
var ErrNoDoubt = errors.New("the audit log verifies and is not in doubt: there is nothing to settle")

// withKept returns the witnessed heads with the one in the head file.
func (s *Store) withKept(t *txn, file *headFile, witnessed []audit.Witnessed) []audit.Witnessed {
	kept := file.kept(t)
	if kept == nil {
		return witnessed
	}
	return append(slices.Clone(witnessed), audit.Witnessed{From: "the file " + s.headPath(), Head: *kept})
}

// readDoubt returns why the audit log is in doubt; nil if it is not.
func (t *txn) readDoubt() (*Doubt, error) {
	v := t.notes.get([]byte(doubtNote))
	if v == nil {
		return nil, nil
	}
	var d Doubt
	if err := parseJSON(v, &d); err != nil {
		return nil, err
	}
	return &d, nil
}

// Doubt returns the reason and the time since when the audit log is in doubt; nil if it is not.
func (s *Store) Doubt() (d *Doubt, err error) {
	err = s.view("read the doubt about the audit log", func(t *txn) error {
		d, err = t.readDoubt()
		return err
	})
	return d, err
}

// Trust settles the doubt about the audit log, so that the log continues as it is. by is the person
// who settles it, for the given reason. Trust appends an entry with the faults that the log had,
// and returns it. It returns ErrNoDoubt if there is nothing to settle.
func (s *Store) Trust(by, reason string, witnessed []audit.Witnessed) (audit.Trust, error) {
	var settled audit.Trust
	err := s.updateAudit("settle the audit log", func(t *txn) error {
		file := s.readHead() // no other transaction writes it now
		witnessed := s.withKept(t, &file, witnessed)
		before, err := s.compareAudit(t, &file, witnessed)
		if err != nil {
			return err
		}
		if before.OK() && before.Doubt == nil {
			return ErrNoDoubt
		}
		settled, err = s.settleAudit(t, audit.Trust{Reason: shorten(reason, maxReason), Faults: before.Faults, More: before.More}, by, before.Doubt, witnessed)
		return err
	})
	return settled, err
}

// settleAudit appends the entry that settles the faults of the log. All records remain as they are.
func (s *Store) settleAudit(t *txn, entry audit.Trust, by string, doubt *Doubt, witnessed []audit.Witnessed) (audit.Trust, error) {
	log := t.auditLog()
	err := errors.Join(log.MendPeople(), t.mendOutlines())
	if err != nil {
		return entry, err
	}
	if entry.By, err = log.Ref(by); err != nil {
		return entry, err
	}
	if doubt != nil {
		entry.Doubt = doubt.What
	}
	all, err := t.marks()
	if err != nil {
		return entry, err
	}
	items, err := t.itemsOf(all)
	if err != nil {
		return entry, err
	}
	if err := t.setKey(t.signer.Public()); err != nil {
		return entry, err
	}
	if entry, err = log.Trust([]audit.Key{*t.signer}, entry, items, witnessed, s.o.Now()); err != nil {
		return entry, err
	}
	if err := log.RemoveStrays(); err != nil {
		return entry, err
	}
	if err := t.notes.remove([]byte(doubtNote)); err != nil {
		return entry, err
	}
	return entry, t.keepSigned(log)
}

// Record appends entries to the audit log.
func (s *Store) Record(entries ...audit.Entry) error {
	return s.update("write the audit log", func(t *txn) error { return t.record(entries...) })
}

// AuditEntries returns up to limit entries with the names of persons, from the newest to the
// oldest. If before is positive, it returns only entries with a lower index. The list ends before
// the entries that the retention dropped. Entries that are missing between others have the state
// audit.StateGone.
func (s *Store) AuditEntries(before int64, limit int) (list []audit.Entry, err error) {
	err = s.viewAudit("read the audit log", func(t *txn) error {
		log := t.auditLog()
		h, err := log.Head()
		if errors.Is(err, audit.ErrEmpty) {
			return nil
		}
		if err != nil {
			return err
		}
		if before <= 0 || before > h.Size {
			before = h.Size
		}
		var gone []audit.Entry
		for i := before - 1; i >= 0 && len(list)+len(gone) < limit; i-- {
			e, err := log.EntryAt(&h, i)
			if errors.Is(err, audit.ErrDropped) {
				gone = append(gone, audit.Entry{Index: i, Kind: audit.KindUnreadable, State: audit.StateGone})
				continue
			}
			if err == nil {
				e, err = log.Named(e)
			}
			if err != nil {
				return err
			}
			list, gone = append(append(list, gone...), e), nil
		}
		return nil
	})
	return list, err
}

// AuditEntry returns the entry with the index and with the names of persons.
func (s *Store) AuditEntry(index int64) (e audit.Entry, err error) {
	err = s.viewAudit("read the audit log", func(t *txn) error {
		log := t.auditLog()
		if e, err = log.Entry(index); err != nil {
			return err
		}
		e, err = log.Named(e)
		return err
	})
	return e, err
}

// ProveEntry returns the proof that the entry with the index is in the log. Use audit.Check to
// verify it.
func (s *Store) ProveEntry(index int64) (proof []byte, err error) {
	err = s.viewAudit("prove an entry of the audit log", func(t *txn) error {
		proof, err = t.auditLog().Prove(index)
		return err
	})
	return proof, err
}

// DiscloseNames returns a supplement to the proof of an entry that discloses the names of the
// persons in the entry, and the references of the persons whose names were erased. Use
// audit.CheckDisclosed to verify it.
func (s *Store) DiscloseNames(index int64) (names []byte, erased []string, err error) {
	err = s.viewAudit("disclose the names of an entry of the audit log", func(t *txn) error {
		names, erased, err = t.auditLog().Disclose(index)
		return err
	})
	return names, erased, err
}

// AuditKey returns the public key of the audit log. It returns ErrNoAuditKey if the store has no
// key.
func (s *Store) AuditKey() (audit.PublicKey, error) {
	if s.o.Audit == nil {
		return audit.PublicKey{}, ErrNoAuditKey
	}
	return s.o.Audit.Public(), nil
}

// AuditHead returns the head of the audit log. It returns audit.ErrEmpty if the log has no entries.
func (s *Store) AuditHead() (h audit.Head, err error) {
	err = s.viewAudit("read the head of the audit log", func(t *txn) error {
		h, err = t.auditLog().Head()
		return err
	})
	return h, err
}

// AuditKeys returns the current and the earlier public keys of the audit log, newest first. If the
// log is not the one that was signed, it returns only the keys that are certain.
func (s *Store) AuditKeys() (keys []audit.PublicKey, err error) {
	err = s.viewAudit("read the keys of the audit log", func(t *txn) error {
		keys, err = t.auditLog().Keys()
		return untampered(err)
	})
	return keys, err
}

// PutInDoubt puts the audit log in doubt for the given reason, until a person settles it with
// Trust.
func (s *Store) PutInDoubt(what string) error {
	return s.update("put the audit log in doubt", func(t *txn) error { return t.doubt(what, s.o.Now()) })
}

// EraseName erases the name of a person from the audit log and from the stored decisions, actions,
// approvals and controls, in which a reference replaces it. by is the person who requested that.
// EraseName returns a *NamedError if a file declares a decision with the name, and another error if
// the person takes part in an action that has not ended.
func (s *Store) EraseName(name, by string, now time.Time) error {
	return s.updateAudit("erase a name from the audit log", func(t *txn) error {
		if err := t.checkErasable(name); err != nil {
			return err
		}
		log := t.auditLog()
		// Of a person who erases the own name, the reference remains.
		person, err := log.Ref(by)
		if err != nil {
			return err
		}
		reference, err := log.Erase(name)
		if err != nil {
			return err
		}
		if err := t.rename(name, reference); err != nil {
			return err
		}
		if err := t.renameActors(name, reference); err != nil {
			return err
		}
		// The log leads to the references already.
		clear(t.changed)
		entry := audit.Entry{Kind: audit.KindErase, Time: now, Data: audit.Erase{Person: reference, By: person}}
		if _, err := log.Append([]audit.Key{*t.signer}, entry); err != nil {
			return err
		}
		if _, err := t.settle(now); err != nil {
			return err
		}
		return t.keepSigned(log)
	})
}
