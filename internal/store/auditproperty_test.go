package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// A life is a store with an audit log in which things happen at random.
type life struct {
	*Store
	clock *testClock
	seals int
}

// step does something that driftd does.
func (l *life) step(t *rapid.T) {
	l.clock.now = l.clock.now.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "minutes")) * time.Minute)
	now := l.clock.now
	id := fmt.Sprint("d", rapid.IntRange(0, 5).Draw(t, "decision"))
	var err error
	switch rapid.SampledFrom([]string{"save", "save", "save", "decide", "revoke", "settle", "prune", "reseal", "erase", "doubt", "begin again"}).Draw(t, "step") {
	case "save":
		err = l.Save(l.record(t))
	case "decide":
		d := drawDecision(t, id)
		d.Until = now.Add(time.Duration(rapid.IntRange(1, 200).Draw(t, "until")) * time.Minute)
		err = l.Decide([]model.Decision{d}, now)
	case "revoke":
		_, err = l.Revoke(id, "bob", now)
	case "settle":
		_, err = l.Settle(now)
	case "prune":
		_, err = l.Prune(now)
	case "reseal":
		l.seals++
		err = l.Reseal(Seal{Rules: fmt.Sprint(l.seals), Value: func(_ string, v model.Value) model.Value { return v },
			Finding: func(f *model.Finding) { f.Basis += "." }})
	case "erase":
		err = l.EraseName("alice", "bob", now)
	case "doubt":
		if err = l.PutInDoubt("restored"); err == nil {
			_, err = l.Trust("bob", "restored", nil)
		}
	case "begin again":
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if l.Store, err = Open(filepath.Dir(l.path), l.o); err != nil {
			t.Fatal(err)
		}
	}
	var replaced *ReplacedError
	var declared *DeclaredError
	var named *NamedError
	if err != nil && !errors.As(err, &named) && !errors.Is(err, ErrNotFound) && !errors.Is(err, audit.ErrNoPerson) && !errors.As(err, &replaced) && !errors.As(err, &declared) {
		t.Fatal(err)
	}
}

func drawDecision(t *rapid.T, id string) model.Decision {
	return decision(id, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "about"), func(d *model.Decision) {
		d.Kind = rapid.SampledFrom([]model.DecisionKind{model.Accept, model.Acknowledge}).Draw(t, "kind")
		d.By = rapid.SampledFrom([]string{"alice", "bob"}).Draw(t, "by")
		d.Owner = rapid.SampledFrom([]string{"", "alice", "team"}).Draw(t, "owner")
		d.Basis = rapid.SampledFrom([]string{"", "."}).Draw(t, "basis")
	})
}

// record draws a scan that finds some findings, resolves others, and reads a file with decisions.
func (l *life) record(t *rapid.T) Record {
	open, err := l.OpenFindings()
	if err != nil {
		t.Fatal(err)
	}
	rec := Record{Run: model.Run{ID: l.clock.now.Format(time.RFC3339), Started: l.clock.now, Finished: l.clock.now}}
	for _, f := range open {
		if rapid.Bool().Draw(t, "resolved") {
			f.Resolved = l.clock.now
			rec.Findings = append(rec.Findings, f)
		}
	}
	for _, id := range []string{"a", "b", "c"} {
		if rapid.Bool().Draw(t, "found") {
			f := finding(id, 0, func(f *model.Finding) {
				f.LastSeen = l.clock.now
				f.Severity = rapid.SampledFrom([]model.Severity{model.Low, model.High}).Draw(t, "severity")
				f.Source = "s"
			})
			rec.Findings = append(rec.Findings, f)
		}
	}
	if rapid.Bool().Draw(t, "file") {
		d := drawDecision(t, "file"+rapid.SampledFrom([]string{"1", "2"}).Draw(t, "declared"))
		rec.Decisions = map[string][]model.Decision{"git": {d}}
	}
	return rec
}

// tamperedLog changes one record of the audit log itself.
func (l *life) tamperedLog(t *rapid.T, tx *txn) error {
	var all []entry
	err := each(tx.audit, nil, func(k, v []byte) error {
		all = append(all, entry{bytes.Clone(k), bytes.Clone(v)})
		return nil
	})
	if err != nil {
		return err
	}
	// Each kind of record is as likely, however many there are.
	kind := rapid.SampledFrom(all).Draw(t, "kind").key[0]
	all = slices.DeleteFunc(all, func(e entry) bool { return e.key[0] != kind })
	e := rapid.SampledFrom(all).Draw(t, "record of the log")
	switch rapid.SampledFrom([]string{"remove", "copy", "beyond", "edit"}).Draw(t, "edit of the log") {
	case "remove":
		return tx.audit.remove(e.key)
	case "copy":
		return tx.audit.put(append(e.key, 'x'), e.value)
	case "beyond":
		if len(e.key) == 9 {
			h, err := tx.auditLog().Head()
			after := uint64(2*h.Size) + rapid.Uint64Range(0, 1<<40).Draw(t, "after the end")
			return errors.Join(err, tx.audit.put(binary.BigEndian.AppendUint64(e.key[:1:1], after), e.value))
		}
	}
	// Some bits of a compressed list have no meaning, as in the size of the window: the content is edited.
	records := auditRecords{tx.audit, tx.codec}
	v := bytes.Clone(records.Get(e.key))
	if len(v) == 0 {
		v = []byte("x")
	} else {
		v[rapid.IntRange(0, len(v)-1).Draw(t, "byte")] ^= 1
	}
	return records.Put(e.key, v)
}

// tampered changes one record of the audit log, or one that it accounts for, and returns false if there
// is none.
func (l *life) tampered(t *rapid.T) bool {
	done := false
	err := l.update("tamper", func(tx *txn) error {
		if rapid.Bool().Draw(t, "the log itself") && tx.audit.now.records > 0 {
			done = true
			return l.tamperedLog(t, tx)
		}
		all := tx.accounted()
		a := all[rapid.IntRange(0, len(all)-1).Draw(t, "bucket")]
		var keys, values [][]byte
		err := each(a.bucket, nil, func(k, v []byte) error {
			keys, values = append(keys, bytes.Clone(k)), append(values, bytes.Clone(v))
			return nil
		})
		if err != nil || len(keys) == 0 {
			return err
		}
		done = true
		i := rapid.IntRange(0, len(keys)-1).Draw(t, "record")
		switch rapid.SampledFrom([]string{"remove", "add", "edit"}).Draw(t, "edit") {
		case "remove":
			return a.remove(keys[i])
		case "add":
			if a.letter == decisionLetter {
				d := decision("added", "a")
				return tx.putDecision(&d)
			}
			return a.put(append([]byte("0"), keys[i]...), values[i])
		}
		switch a.letter {
		case decisionLetter:
			d, err := tx.parseDecision(keys[i], values[i])
			*rapid.SampledFrom([]*string{&d.Reason, &d.By, &d.Owner}).Draw(t, "field") += "!"
			return errors.Join(err, tx.putDecision(&d))
		case findingLetter:
			f, err := tx.parseFinding(values[i])
			if err != nil {
				return err
			}
			f.Name += "!"
			body, err := tx.packJSON(f)
			return errors.Join(err, a.put(keys[i], append(values[i][:8:8], body...)))
		case openLetter, resolvedLetter:
			h, err := parseHead(values[i])
			h.source += "!"
			return errors.Join(err, a.put(keys[i], h.encode()))
		}
		return a.put(keys[i], append(values[i], '!'))
	})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func (l *life) faults(t *rapid.T) []string {
	r, err := l.VerifyAudit(nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Doubt != nil {
		return append(r.Faults, r.Doubt.What)
	}
	return r.Faults
}

// No operation of driftd is a fault. Any edit of a record is one, and stays one after further
// operations.
func TestEveryEditIsAFault(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	key := auditKey(t)
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "") //nolint:usetesting // one folder for each drawn case; root is t.TempDir
		if err != nil {
			t.Fatal(err)
		}
		clock := &testClock{minute(0)}
		o := clock.options(key)
		o.Retention = Retention{MaxAge: 2 * time.Hour, AuditMaxAge: 4 * time.Hour}
		s, err := Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		l := &life{Store: s, clock: clock}
		defer func() { _ = l.Close() }()
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			l.step(t)
			if faults := l.faults(t); len(faults) > 0 {
				t.Fatalf("without an edit: %s", strings.Join(faults, "; "))
			}
		}
		if !l.tampered(t) {
			return
		}
		if len(l.faults(t)) == 0 {
			t.Fatal("the edit is no fault")
		}
		var damaged *DamagedError
		if _, err := l.Findings(Filter{Resolved: true}); errors.As(err, &damaged) {
			return // the edit took what another record refers to
		}
		for range rapid.IntRange(0, 3).Draw(t, "later steps") {
			l.clock.now = l.clock.now.Add(time.Hour)
			if _, err := l.Prune(l.clock.now); err != nil {
				t.Fatal(err)
			}
			if err := l.Save(l.record(t)); errors.As(err, &damaged) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			if len(l.faults(t)) == 0 {
				t.Fatal("the edit is no longer a fault")
			}
		}
		found := l.faults(t)
		if _, err := l.Trust("lena", "looked into it", nil); errors.As(err, &damaged) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		r, err := l.VerifyAudit(nil)
		if err != nil || !r.OK() || r.Doubt != nil || len(r.Settled) < min(len(found), 1) || !strings.HasPrefix(r.Settled[0], found[0]) {
			t.Fatalf("settled %q of %q, faults %q, %v", r.Settled, found, r.Faults, err)
		}
	})
}
