package folder_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/driftd/driftd/internal/declared/folder"
)

func TestFS(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "in")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
	must(os.WriteFile(filepath.Join(dir, "sub", "a.yaml"), []byte("a"), 0o600))
	must(os.WriteFile(filepath.Join(dir, "..", "outside.yaml"), []byte("a"), 0o600))
	must(os.Symlink("sub/a.yaml", filepath.Join(dir, "inside")))
	files, err := folder.Open(dir)
	must(err)
	defer func() { must(files.Close()) }()
	must(fstest.TestFS(files, "sub/a.yaml", "inside"))

	must(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	must(os.Symlink("pipe", filepath.Join(dir, "to-pipe")))
	must(os.Symlink("/dev/zero", filepath.Join(dir, "zero")))
	must(os.Symlink("../outside.yaml", filepath.Join(dir, "out")))
	for name, special := range map[string]bool{"pipe": true, "to-pipe": true, "zero": false, "out": false, "none": false, "../outside.yaml": false} {
		_, err := files.Open(name)
		if err == nil || errors.Is(err, folder.ErrNotRegular) != special {
			t.Errorf("open %s: %v; is it special? want %t", name, err, special)
		}
		if info, statErr := fs.Stat(files, name); special && (statErr != nil || info.Mode().IsRegular()) || !special && statErr == nil {
			t.Errorf("stat %s: %v, %v", name, info, statErr)
		}
	}
}

func TestOpenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "a"), filepath.Join(dir, "pipe")
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("a"), 0o600), os.Symlink(file, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, link} {
		if got, err := folder.ReadFile(name); err != nil || string(got) != "a" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]error{pipe: folder.ErrNotRegular, "/dev/zero": folder.ErrNotRegular, filepath.Join(dir, "none"): fs.ErrNotExist} {
		if _, err := folder.ReadFile(name); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
}

func TestReadBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	if err := os.WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := folder.ReadBounded(file, 5); string(text) != "12345" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := folder.ReadBounded(file, 4); !errors.Is(err, folder.ErrTooLarge) || !strings.Contains(err.Error(), file) {
		t.Errorf("a byte too many: %v", err)
	}
	if _, err := folder.ReadBounded("/dev/zero", 5); !errors.Is(err, folder.ErrNotRegular) {
		t.Errorf("a device: %v", err)
	}
}
