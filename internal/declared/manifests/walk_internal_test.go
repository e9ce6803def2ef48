package manifests

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// A lockedFS has a folder without read permission.
type lockedFS struct{ fstest.MapFS }

var errLocked = errors.New("permission denied")

// ReadDir implements fs.ReadDirFS.
func (l lockedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "locked" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errLocked}
	}
	return l.MapFS.ReadDir(name)
}

func TestUnreadableFolder(t *testing.T) {
	t.Parallel()
	files := lockedFS{fstest.MapFS{
		"locked/a.yaml": {}, "open/b.yaml": {}, "open/pipe.yaml": {Mode: fs.ModeNamedPipe},
	}}
	l := &loader{config: Defaults()}
	found, err := l.walk(t.Context(), &tree{files: files, place: place{Root: ".", Prefix: "deploy"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Problem{
		{Address: "deploy/locked", Reason: "permission denied"}, {Address: "deploy/open/pipe.yaml", Reason: "not a regular file"},
	}
	if diff := cmp.Diff(want, found.problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"open/b.yaml"}, found.files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := l.walk(t.Context(), &tree{files: files, place: place{Root: "locked"}}); !errors.Is(err, errLocked) {
		t.Errorf("the declared folder itself: got %v", err)
	}
}
