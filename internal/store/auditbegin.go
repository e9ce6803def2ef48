package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/audit"
)

// begunOver returns why the audit log may have been begun anew in the place of another one; "" if nothing
// shows that. An attacker without the key could otherwise have edits signed: without the log, the next one begins
// over them.
func (s *Store) begunOver(t *txn) string {
	damaged, err := SetAside(filepath.Dir(s.path))
	switch {
	case err != nil:
		return err.Error()
	case len(damaged) > 0:
		return fmt.Sprintf("the log begins beside %s, whose log is not continued", damaged[len(damaged)-1])
	case t.hadContent() && !s.migrated:
		return "the log begins over findings or decisions that no log records"
	case s.o.KeyFound:
		return "the log begins with a key that was there before: if this is not a new installation, the log that it had is gone"
	}
	return ""
}

// hadContent reports whether the database had records that the audit log accounts for before the
// transaction.
func (t *txn) hadContent() bool {
	return slices.ContainsFunc(t.accounted(), func(a accounted) bool { return a.was.records > 0 })
}

// beginAudit begins the log if its key was made for this database, so that the key is never older than the
// log.
func (s *Store) beginAudit() error {
	if !s.o.KeyMade {
		return nil
	}
	return s.update("begin the audit log", func(t *txn) error { return t.recordBegin(s.o.Now()) })
}

// settleBegin records the doubt about a log that the transaction began, if there is one.
func (t *txn) settleBegin(log *audit.Log, now time.Time) error {
	what := t.beginDoubt
	t.beginDoubt = ""
	if what == "" {
		return nil
	}
	if err := t.noteDoubt(what, now); err != nil {
		return err
	}
	if _, err := log.Append([]audit.Key{*t.signer}, audit.Entry{Kind: audit.KindDoubt, Time: now, Data: doubtData{shorten(what, maxReason)}}); err != nil {
		return err
	}
	return t.keepSigned(log)
}
