package manifests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSameRepository(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"https://git.example.org/org/web.git", "ssh://git@git.example.org/org/web", true},
		{"git@git.example.org:web.git", "https://mirror.example.org/other/web/", true},
		{"https://git.example.org/org/web", "https://git.example.org/org/web-2", false},
		{"", "https://git.example.org/org/web", true},
		{"file:///srv/web.git/", "", true},
	} {
		if got := sameRepository(tc.a, tc.b); got != tc.want {
			t.Errorf("%q and %q: got %t", tc.a, tc.b, got)
		}
	}
}

func TestWorkTreeOf(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	if err := os.MkdirAll(filepath.Join(top, "repository", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{"": "", "elsewhere": "elsewhere", "repository": "repository", "repository/apps/web": "repository"} {
		if got, found := workTreeOf(filepath.Join(top, folder)); got != filepath.Join(top, want) || found != strings.HasPrefix(folder, "repository") {
			t.Errorf("%q: got %q, want %q", folder, got, want)
		}
	}
}
