package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSealerOfInstallation(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	first, err := Sealer(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Sealer(dir)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Sealer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if !first.Seal("x").Equal(second.Seal("x")) {
		t.Error("the same text has two digests in one installation")
	}
	if first.Seal("x").Equal(other.Seal("x")) {
		t.Error("two installations have one key")
	}
	info, err := os.Stat(filepath.Join(dir, keyName))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 || info.Size() != keySize {
		t.Errorf("got mode %v and %d bytes, want 0600 and %d", info.Mode(), info.Size(), keySize)
	}
	if diff := cmp.Diff([]string{keyName}, names(t, dir)); diff != "" {
		t.Errorf("nothing else is left: %s", diff)
	}
}

func TestSealerConcurrentCreation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	answers := make(chan string)
	for range 8 {
		cmd := child(t, makeKeyOnce, dir)
		go func() {
			out, err := cmd.Output()
			if err != nil {
				out = append(out, err.Error()...)
			}
			answers <- string(out)
		}()
	}
	seen := map[string]bool{}
	for range 8 {
		seen[<-answers] = true
	}
	if len(seen) != 1 {
		t.Errorf("got answers %v, want one", seen)
	}
	if diff := cmp.Diff([]string{keyName}, names(t, dir)); diff != "" {
		t.Errorf("nothing else is left: %s", diff)
	}
}

// TestPipes opens no named pipe in the place of a file: it would wait for the other end.
func TestPipes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		open func(dir string) error
		file string
	}{
		"secret key": {func(dir string) error { _, err := Sealer(dir); return err }, keyName},
		"audit key":  {func(dir string) error { _, err := AuditKey(dir, true); return err }, auditKeyName},
		"owner":      {func(dir string) error { _, err := Open(dir, Options{}); return err }, pidName},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, test.file)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := test.open(dir); err == nil || !strings.Contains(err.Error(), path+": not a regular file") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestSealerRefusesKey(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("k", keySize)
	cases := map[string]struct {
		key       string
		mode      os.FileMode
		wantTexts []string
	}{
		"world-readable": {good, 0o644, []string{"0644", "chmod 600"}},
		"group-readable": {good, 0o640, []string{"0640", "chmod 600"}},
		"too short":      {good[1:], 0o600, []string{"31 bytes", "backup"}},
		"too long":       {good + "k", 0o600, []string{"33 bytes", "backup"}},
		"empty":          {"", 0o600, []string{"0 bytes", "backup"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, keyName)
			if err := os.WriteFile(path, []byte(c.key), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			_, err := Sealer(dir)
			wantTexts(t, err, append(c.wantTexts, path)...)
			if strings.Contains(err.Error(), "kkk") {
				t.Errorf("the error tells the key: %v", err)
			}
			if left, err := os.ReadFile(path); err != nil || string(left) != c.key {
				t.Errorf("the key was touched: %v", err)
			}
		})
	}
}
