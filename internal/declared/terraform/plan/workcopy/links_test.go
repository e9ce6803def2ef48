package workcopy

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCopyLinks checks that a sealed copy has links out of the repository as links: driftd may read
// files that the plan must not read.
func TestCopyLinks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		// target is the target of the link, relative to repo/root.
		target string
		sealed bool
		// within is set if the root is in a repository.
		within bool
		link   bool
	}{
		"secret":         {"a file outside", "../../secret", true, true, true},
		"folder":         {"a folder outside", "../../outside", true, true, true},
		"by two links":   {"a link to a link that leads out", "../hop", true, true, true},
		"inside":         {"modules are shared by links", "../shared", true, true, false},
		"open":           {"an unsealed copy follows links", "../../secret", false, true, false},
		"no repository":  {"the root is the border", "../../secret", true, false, true},
		"sibling":        {"a sibling folder without a repository", "../shared", true, false, true},
		"below the root": {"a file of the root without a repository", "main.tf", true, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{"secret": "x", "outside/x": "x", "repo/shared/x": "x", "repo/root/main.tf": "# empty"} {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for link, target := range map[string]string{"repo/hop": "../secret", "repo/root/link": tt.target} {
				if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
					t.Fatal(err)
				}
			}
			s := Source{Root: filepath.Join(dir, "repo", "root"), Sealed: tt.sealed, Limits: Limits{Files: 100, Bytes: 1 << 20}}
			if tt.within {
				s.Within = filepath.Join(dir, "repo")
			}
			root, err := Copy(t.Context(), s, filepath.Join(dir, "copy"))
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(filepath.Join(root, "link"))
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode()&os.ModeSymlink != 0; got != tt.link {
				t.Errorf("%s: a link: %t, want %t", tt.reason, got, tt.link)
			}
		})
	}
}
