package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/declared/folder"
)

// files are states in local files.
type files struct{}

// openFiles opens a file, a pattern of files, or a folder. In a folder, the states of workspaces
// have the paths that Terraform's local backend uses.
func openFiles(path string, _ Settings) (site, error) {
	if path == "" {
		return site{}, errors.New("no path; set the path of the state file")
	}
	path = filepath.Clean(path)
	name := func(workspace string) string {
		file, dir := path, filepath.Dir(path)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			file, dir = filepath.Join(path, "terraform.tfstate"), path
		}
		if workspace == defaultWorkspace {
			return file
		}
		return filepath.Join(dir, "terraform.tfstate.d", workspace, filepath.Base(file))
	}
	return site{place: files{}, name: name}, nil
}

func (files) list(_ context.Context, p pattern) ([]string, error) {
	found, err := filepath.Glob(string(p))
	if err != nil {
		return nil, fmt.Errorf("not a valid pattern: %w", err)
	}
	return found, nil
}

func (files) open(_ context.Context, name string) (io.ReadCloser, error) {
	f, err := folder.OpenFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errAbsent
	case errors.Is(err, folder.ErrNotRegular):
		return nil, errors.New("not a regular file; set the path of the state file")
	case err != nil:
		return nil, bounded.Cause(err)
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return nil, errors.Join(errors.New("not a regular file; set the path of the state file"), f.Close())
	}
	return f, nil
}
