package store

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// asNobody runs fn without the permission to write to files of other users. The thread, whose
// capabilities were dropped, ends with its goroutine.
func asNobody(tb testing.TB, fn func()) {
	tb.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if os.Getuid() == 0 {
			if err := syscall.Setfsuid(65534); err != nil {
				tb.Error(err)
				return
			}
		}
		fn()
	}()
	<-done
}

// readable makes the folder and its file readable by all and writable by none.
func readable(tb testing.TB, dir string) {
	tb.Helper()
	for path, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: 0o555, Path(dir): 0o444} {
		if err := os.Chmod(path, mode); err != nil && !os.IsNotExist(err) {
			tb.Fatal(err)
		}
	}
	tb.Cleanup(func() {
		if err := os.Chmod(dir, 0o755); err != nil {
			tb.Error(err)
		}
	})
}

func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	empty, full := t.TempDir(), saved(t)
	readable(t, empty)
	readable(t, full)
	asNobody(t, func() {
		for _, dir := range []string{empty, full, filepath.Join(empty, "below")} {
			_, err := Open(dir, Options{})
			wantTexts(t, err, "permission denied", dir, "can write")
		}
		_, err := Sealer(empty)
		wantTexts(t, err, "permission denied", empty, "can write")
		s, err := Open(full, Options{ReadOnly: true})
		if err != nil {
			t.Errorf("a reader needs no right to write: %v", err)
			return
		}
		if _, err := s.LastRun(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	dir := saved(t)
	readable(t, dir)
	if err := os.Chmod(Path(dir), 0); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		_, err := Open(dir, Options{ReadOnly: true})
		wantTexts(t, err, "permission denied", Path(dir), "can read the state folder")
	})
}
