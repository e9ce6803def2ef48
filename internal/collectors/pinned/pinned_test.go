package pinned

import (
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestCheck checks one ID after the other, each with a new Scope as after a restart.
func TestCheck(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	for _, step := range []struct {
		reason, configured, id string
		brief                  bool
		want                   string
	}{
		{"a brief scan stores nothing", "", "b", true, ""},
		{"the first scan", "", "a", false, ""},
		{"the same", "", "a", false, ""},
		{"another one", "", "b", false, "a"},
		{"another one than configured", "c", "a", false, "c"},
		{"the configured one", "b", "b", false, ""},
		{"without the setting again", "", "b", false, ""},
		{"the first one again", "", "a", true, "b"},
	} {
		if want, err := New("account", dir, slog.New(slog.DiscardHandler)).Check(step.configured, step.id, step.brief); want != step.want || err != nil {
			t.Errorf("%s: want %q, got %q, %v", step.reason, step.want, want, err)
		}
	}
	memory := New("account", "", nil)
	for id, expected := range []string{"", "0"} {
		if want, err := memory.Check("", strconv.Itoa(id), false); want != expected || err != nil {
			t.Errorf("in memory: want %q, got %q, %v", expected, want, err)
		}
	}
}

// TestNotKept checks that an ID that cannot be written is no error, and one that cannot be read is.
func TestNotKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "none", "folder"), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "account"), 0o700); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{link: "", dir: "read the account of the last scan"} {
		_, err := New("account", folder, slog.New(slog.DiscardHandler)).Check("", "a", false)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("in %s: %v, want %q", folder, err, want)
		}
	}
}
