package gitrepo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
)

// otherUser is a user ID that runs no tests.
const otherUser = 12345

// linkOfOther makes a symbolic link that does not belong to root, whose links are followed
// anywhere.
func linkOfOther(t *testing.T, to, link string) {
	t.Helper()
	err := os.Symlink(to, link)
	if err == nil && os.Getuid() == 0 {
		err = os.Lchown(link, otherUser, -1)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestCheckLink(t *testing.T) {
	t.Parallel()
	// A driftd that is neither root nor the owner of the link.
	const self = -2
	for _, tc := range []struct{ reason, to, want string }{
		{"another user's file", "/etc/passwd", "belongs to another user"},
		{"another user's folder", "/etc", "belongs to another user"},
		{"nothing", "/nonexistent", "no such file"},
	} {
		link := filepath.Join(t.TempDir(), "link")
		linkOfOther(t, tc.to, link)
		if err := checkLink(link, self); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
		}
	}
	if err := checkLink("/etc/passwd", self); err != nil {
		t.Errorf("no link: %v", err)
	}
}

// TestLinkToRepository proves that a link of another user is not followed to a repository
// that only driftd may read. Links of driftd's own user are.
func TestLinkToRepository(t *testing.T) {
	t.Parallel()
	private := t.TempDir()
	if err := os.WriteFile(filepath.Join(private, "gitfile"), []byte("gitdir: "+private), 0o600); err != nil {
		t.Fatal(err)
	}
	isRoot := os.Getuid() == 0
	for _, tc := range []struct{ reason, to string }{
		{"a repository", private},
		{"the file of a work tree", filepath.Join(private, "gitfile")},
	} {
		dir := t.TempDir()
		linkOfOther(t, tc.to, filepath.Join(dir, ".git"))
		_, err := gitFolder(dir)
		if refused := err != nil && strings.Contains(err.Error(), ".git is a symbolic link"); refused != isRoot {
			t.Errorf("%s: got %v", tc.reason, err)
		}
	}
}

// TestLinkOutOfRepository proves that links that lead out of a repository are refused.
func TestLinkOutOfRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for link, to := range map[string]string{"HEAD": "/etc/passwd", "objects": "/etc"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"HEAD", "objects/passwd"} {
		if _, err := (regularFiles{osfs.New(dir)}).Open(name); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}
