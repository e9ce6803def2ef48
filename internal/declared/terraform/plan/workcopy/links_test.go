package workcopy

import (
	"os"
	"path/filepath"
	"slices"
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
		"inside":         {"modules are shared by links", "../common", true, true, false},
		"open":           {"an unsealed copy follows links", "../../secret", false, true, false},
		"no repository":  {"the root is the border", "../../secret", true, false, true},
		"sibling":        {"a sibling folder without a repository", "../common", true, false, true},
		"below the root": {"a file of the root without a repository", "main.tf", true, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{"secret": "x", "outside/x": "x", "repo/common/x": "x", "repo/root/main.tf": "# empty"} {
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

// TestCopyReceived checks that a copy reports the files that it has, at their own paths, and not
// those that it leaves out.
func TestCopyReceived(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"repo/root/main.tf": `module "m" { source = "../m" }`, "repo/root/vars.yaml": "x", "repo/root/.terraform/x": "x",
		"repo/m/m.tf": "# empty", "repo/other/x": "x", "repo/common/s.yaml": "x", "secret": "x"} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"repo/root/link": "../common", "repo/root/out": "../../secret"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, sealed := range []bool{false, true} {
		var got []string
		s := Source{Root: filepath.Join(dir, "repo", "root"), Within: filepath.Join(dir, "repo"), Sealed: sealed, Limits: Limits{Files: 100, Bytes: 1 << 20},
			Received: func(path string, isDir bool) {
				name, err := filepath.Rel(dir, path)
				if err != nil {
					t.Error(err)
				}
				if isDir {
					name += "/"
				}
				got = append(got, name)
			}}
		if _, err := Copy(t.Context(), s, filepath.Join(t.TempDir(), "copy")); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		want := []string{"repo/common/", "repo/common/s.yaml", "repo/m/", "repo/m/m.tf", "repo/root/", "repo/root/main.tf", "repo/root/vars.yaml", "secret"}
		if !slices.Equal(got, want) {
			t.Errorf("sealed %t: received %q, want %q", sealed, got, want)
		}
	}
}
