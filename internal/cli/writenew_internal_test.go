package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestWriteNew checks that adopt never writes to what exists: neither a file that appears after the
// check, nor the target of a link.
func TestWriteNew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("file"), []byte("mine"), 0o600), os.Symlink("file", at("link")), os.Symlink("nowhere", at("dangling")), os.Symlink("/dev/null", at("device"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "link", "dangling", "device"} {
		if err := checkNewFile(at(name)); err == nil {
			t.Errorf("%s: the check accepts it", name)
		}
		if err := writeNew(at(name), []byte("other")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: written: %v", name, err)
		}
	}
	if text, err := os.ReadFile(at("file")); err != nil || string(text) != "mine" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if _, err := os.Lstat(at("nowhere")); err == nil {
		t.Error("the target of a link was written")
	}
	if err := writeNew(at("new"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(at("new")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
