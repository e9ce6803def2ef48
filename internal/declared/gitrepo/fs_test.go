package gitrepo_test

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

func TestFS(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	for link, to := range map[string]string{
		"link.yaml": "sub/b.yaml", "sub/up.yaml": "../a.yaml", "folder": "sub", "out": "../../etc/passwd",
		"absolute": "/etc/passwd", "nothing": "gone", "circle": "circle",
	} {
		if err := os.MkdirAll(filepath.Join(o.dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(o.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	o.commit(map[string]string{"a.yaml": "a", "sub/b.yaml": "b", "sub.yaml": "between", "sub/deep/c": "c", "sub/deep/d/e": "e"})
	r, err := gitrepo.New(gitrepo.Settings{URL: o.dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Read(t.Context(), "", func(c gitrepo.Commit) error {
		for name, want := range map[string]string{
			"a.yaml": "a", "link.yaml": "b", "folder/b.yaml": "b", "folder/up.yaml": "a", "sub/deep/c": "c",
		} {
			if got, err := fs.ReadFile(c.Files, name); err != nil || string(got) != want {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
		}
		for _, name := range []string{"out", "absolute", "nothing", "circle", "a.yaml/b", "../a.yaml", "/a.yaml", ""} {
			if got, err := fs.ReadFile(c.Files, name); err == nil {
				t.Errorf("%s: got %q, want an error", name, got)
			}
		}
		plain, err := fs.Sub(c.Files, "sub/deep")
		if err != nil {
			return err
		}
		if err := fstest.TestFS(plain, "c", "d/e"); err != nil {
			t.Error(err)
		}
		var names []string
		entries, err := fs.ReadDir(c.Files, ".")
		for _, e := range entries {
			names = append(names, e.Name()+" "+e.Type().String()[:1])
		}
		want := []string{"a.yaml -", "absolute L", "circle L", "folder L", "link.yaml L", "nothing L", "out L", "sub d", "sub.yaml -"}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
