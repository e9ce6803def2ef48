package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBackup copies a store during writes, and opens the copy.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openAt(t, dir, Options{})
	if err := s.Save(numbered(1)); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	path := Path(to)
	err := WriteBackup(path, func(w io.Writer) error {
		_, err := s.CopyTo(&interrupted{Writer: w, meanwhile: func() error { return s.Save(numbered(2)) }})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the backup has mode %v, others may read it", info.Mode().Perm())
	}
	if got := names(t, to); len(got) != 1 {
		t.Errorf("the folder of the backup holds %v, more than the backup", got)
	}
	copied := openAt(t, to, Options{})
	checkNumbered(t, copied, 1)
	runs, err := copied.Runs(0)
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 1 {
		t.Errorf("the copy holds %d scans: it is not of one moment", len(runs))
	}
	if err := copied.Save(numbered(2)); err != nil {
		t.Errorf("save to the copy: %v", err)
	}
	if err := s.Save(numbered(3)); err != nil {
		t.Errorf("save to the copied store: %v", err)
	}
}

// interrupted calls a function between the first two writes.
type interrupted struct {
	io.Writer
	meanwhile func() error
}

func (i *interrupted) Write(b []byte) (int, error) {
	if meanwhile := i.meanwhile; meanwhile != nil {
		i.meanwhile = nil
		if err := meanwhile(); err != nil {
			return 0, err
		}
	}
	return i.Writer.Write(b)
}

func TestBackupLeavesNothing(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	if err := s.Save(numbered(1)); err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if _, err := s.CopyTo(&whole); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason string
		fill   func(io.Writer) error
		want   string
	}{
		"refused": {"what could not be fetched is no backup", func(io.Writer) error { return errors.New("no answer") }, "no answer"},
		"cut": {"a copy that was cut off is no backup", func(w io.Writer) error {
			_, err := w.Write(whole.Bytes()[:whole.Len()/2])
			return err
		}, "the copy is damaged"},
		"damaged": {"a copy with other bytes is no backup", func(w io.Writer) error {
			_, err := w.Write(bytes.ReplaceAll(whole.Bytes(), []byte("contents"), []byte("contempt")))
			return err
		}, "the copy is damaged"},
		"empty": {"nothing is no backup", func(io.Writer) error { return nil }, "the copy is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			err := WriteBackup(filepath.Join(dir, "copy.db"), tc.fill)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("WriteBackup() = %v, want %q: %s", err, tc.want, tc.reason)
			}
			if got := names(t, dir); len(got) != 0 {
				t.Errorf("the folder holds %v: %s", got, tc.reason)
			}
		})
	}
}

func TestBackupReplacesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := WriteBackup(path, func(io.Writer) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("WriteBackup() = %v, want a refusal", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("the file holds %q (%v)", text, err)
	}
}
