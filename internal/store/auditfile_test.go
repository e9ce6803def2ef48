package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// wantHead checks that the head file has the head of the log.
func wantHead(t *testing.T, s *Store) {
	t.Helper()
	var kept *audit.Head
	err := s.view("read the head file", func(t *txn) error {
		file := s.readHead()
		kept = file.kept(t)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := s.AuditHead(); err != nil || kept == nil || kept.Size != h.Size {
		t.Errorf("the file has %+v, the log %+v, %v", kept, h, err)
	}
}

// Nothing at the temporary name of the head file freezes it.
func TestHeadFileIsWritten(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	for name, block := range map[string]func(path string) error{
		"a file":      func(path string) error { return os.WriteFile(path, []byte("x"), 0o400) },
		"a folder":    func(path string) error { return os.MkdirAll(filepath.Join(path, "below"), 0o700) },
		"a pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link":      func(path string) error { return os.Symlink(outside, path) },
		"a long link": func(path string) error { return os.Symlink(strings.Repeat("x", 300), path) },
	} {
		dir := t.TempDir()
		s := openAt(t, dir, Options{Audit: auditKey(t)})
		if err := s.Record(audit.Entry{Kind: audit.KindConfig, Data: struct{}{}, Time: minute(0)}); err != nil {
			t.Fatal(err)
		}
		if err := block(Path(dir) + ".head.new"); err != nil {
			t.Fatal(err)
		}
		if err := s.Record(audit.Entry{Kind: audit.KindConfig, Data: struct{}{}, Time: minute(1)}); err != nil {
			t.Fatal(err)
		}
		wantHead(t, s)
		wantDoubt(t, s, "")
		if _, err := os.Stat(outside); err == nil {
			t.Errorf("%s: wrote to another file", name)
		}
	}
}

// A head file that cannot be written puts the log in doubt, once, until a person settles it.
func TestHeadFileIsFrozen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	head := Path(dir) + ".head"
	s := openAt(t, dir, Options{Audit: auditKey(t)})
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	err := errors.Join(os.Remove(head), os.MkdirAll(filepath.Join(head, "below"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		save(t, s, scan(1+i, []model.Finding{finding("b", i)}))
		wantDoubt(t, s, "the head of the log cannot be written beside the database")
	}
	doubts := 0
	for _, kind := range kinds(t, s) {
		if kind == audit.KindDoubt {
			doubts++
		}
	}
	if doubts != 1 {
		t.Errorf("%d entries record the doubt", doubts)
	}
	if r, err := s.VerifyAudit(nil); err != nil || r.Doubt == nil || !strings.Contains(r.Doubt.What, head) {
		t.Errorf("verify: %+v, %v", r, err)
	}
	if err := os.RemoveAll(head); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Trust("alice", "removed the folder", nil); err != nil {
		t.Fatal(err)
	}
	wantHead(t, s)
	wantDoubt(t, s, "")
	wantFaults(t, s)
}

// A pipe or a device as head file does not stop the store.
func TestHeadFileIsNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := auditKey(t)
	s, err := Open(dir, Options{Audit: key})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(s.Record(audit.Entry{Kind: audit.KindConfig, Data: struct{}{}, Time: minute(0)}), s.Close(),
		os.Remove(Path(dir)+".head"), syscall.Mkfifo(Path(dir)+".head", 0o600))
	if err != nil {
		t.Fatal(err)
	}
	s = openAt(t, dir, Options{Audit: key})
	wantDoubt(t, s, "not a regular file")
	// The doubt itself was signed, and its head replaced the pipe.
	wantHead(t, s)
}

// A log with another key than the one that the configuration names is in doubt, until that is set right.
func TestUnexpectedKey(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), auditKey(t)
	open := func(want string) *Store {
		s, err := Open(dir, Options{Audit: key, AuditKey: want})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open(key.Public().String())
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	wantDoubt(t, s, "")
	wantFaults(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(auditKey(t).Public().String())
	wantDoubt(t, s, "audit.public_key names another one")
	if _, err := s.Trust("lena", "a new key", nil); err != nil {
		t.Fatal(err)
	}
	wantFaults(t, s, "audit.public_key names another one")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, dir, Options{Audit: key})
	wantDoubt(t, s, "")
	wantFaults(t, s)
}

// After a power failure, the head file may have a head of before the log got another key, to which the
// log leads. A head of a key that the log never had is none of it.
func TestHeadFileOfBeforeTheKey(t *testing.T) {
	t.Parallel()
	dir, old, next := t.TempDir(), auditKey(t), auditKey(t)
	head := Path(dir) + ".head"
	reopened := func(key *audit.Key) *Store {
		s, err := Open(dir, Options{Audit: key})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := reopened(old)
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	before, err := os.ReadFile(head)
	if err := errors.Join(err, s.RotateKey(*next), s.Close(), os.WriteFile(head, before, 0o600)); err != nil {
		t.Fatal(err)
	}
	s = reopened(next)
	wantDoubt(t, s, "")
	wantFaults(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	other := openAt(t, t.TempDir(), Options{Audit: auditKey(t)})
	save(t, other, scan(0, []model.Finding{finding("a", 0)}))
	foreign, err := os.ReadFile(Path(filepath.Dir(other.path)) + ".head")
	if err := errors.Join(err, os.WriteFile(head, foreign, 0o600)); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, dir, Options{Audit: next})
	wantDoubt(t, s, "the head is signed by none of the 2 keys of the log")
}
