package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// files are states on this machine.
type files struct{}

// openFiles opens a file, a pattern of files, or a folder, which holds the
// states of workspaces as Terraform's local backend keeps them.
func openFiles(path string, _ Settings) (site, error) {
	if path == "" {
		return site{}, errors.New("no path; name the file")
	}
	path = filepath.Clean(path)
	name := func(workspace string) string {
		file, folder := path, filepath.Dir(path)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			file, folder = filepath.Join(path, "terraform.tfstate"), path
		}
		if workspace == defaultWorkspace {
			return file
		}
		return filepath.Join(folder, "terraform.tfstate.d", workspace, filepath.Base(file))
	}
	return site{place: files{}, name: name}, nil
}

func (files) list(_ context.Context, p pattern) ([]string, error) {
	found, err := filepath.Glob(string(p))
	if err != nil {
		return nil, fmt.Errorf("not a pattern: %w", err)
	}
	return found, nil
}

func (files) open(_ context.Context, name string) (io.ReadCloser, error) {
	// A pipe would keep whoever opens it.
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errAbsent
	case err != nil:
		return nil, withoutPath(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file; name the state file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	return f, nil
}

// withoutPath takes the path off an error, which is said once.
func withoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
