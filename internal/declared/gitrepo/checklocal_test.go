package gitrepo_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

func TestCheckLocal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bare, work := filepath.Join(dir, "bare.git"), filepath.Join(dir, "work")
	for path, isBare := range map[string]bool{bare: true, work: false} {
		if _, err := git.PlainInit(path, isBare); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct{ reason, url, want string }{
		"bare":             {"a repository", bare, ""},
		"work tree":        {"a repository", work, ""},
		"file URL":         {"a repository", "file://" + bare, ""},
		"https":            {"nothing is contacted", "https://git.example.org/x.git", ""},
		"ssh":              {"nothing is contacted", "git@git.example.org:x.git", ""},
		"relative":         {"New reports it", "./work", ""},
		"missing":          {"nothing is there", filepath.Join(dir, "gone"), "does not exist: create it, or correct the path"},
		"missing as a URL": {"nothing is there", "file://" + filepath.Join(dir, "gone"), "does not exist"},
		"a folder":         {"it has no .git", dir, "is not a git repository: name the top of one, or read the folder as it stands with dir"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := gitrepo.CheckLocal(tc.url)
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
