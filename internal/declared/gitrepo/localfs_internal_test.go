package gitrepo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
)

// otherUser is a user ID that does not run the tests.
const otherUser = 12345

// linkOfOther creates a symbolic link whose owner is not root. Links of root are always
// followed.
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
	// driftd is neither root nor the owner of the link.
	const self = -2
	for _, tc := range []struct{ reason, to, want string }{
		{"another user's file", "/etc/passwd", "to a file of another user"},
		{"another user's folder", "/etc", "to a file of another user"},
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

// TestLinkToRepository proves that another user's link to a repository that only driftd can
// read is not followed. Links of driftd's own user are.
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
		if rejected := err != nil && strings.Contains(err.Error(), ".git is a symbolic link"); rejected != isRoot {
			t.Errorf("%s: got %v", tc.reason, err)
		}
	}
}

// TestLinkOutOfRepository proves that links out of a repository are errors.
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
