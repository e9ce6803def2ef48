package rootdir

import (
	"os"
	"path/filepath"
	"testing"
)

// A link that leads out of the repository stays a link when the copy is sealed: driftd,
// which may read more than the plan, does not read it for the plan.
func TestCopyLinks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		// target is what the link leads to, from within repo/root.
		target string
		sealed bool
		// within is set where the root is in a repository.
		within bool
		link   bool
	}{
		"secret":         {"the attack", "../../secret", true, true, true},
		"folder":         {"of a folder", "../../outside", true, true, true},
		"by two links":   {"of a link inside that leads out", "../hop", true, true, true},
		"inside":         {"modules are shared by links", "../shared", true, true, false},
		"open":           {"without a box the CLI reads what it likes", "../../secret", false, true, false},
		"no repository":  {"the root is the border", "../../secret", true, false, true},
		"beside":         {"of a root in no repository", "../shared", true, false, true},
		"below the root": {"of a root in no repository", "main.tf", true, false, false},
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
