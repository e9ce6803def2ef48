package folder_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
