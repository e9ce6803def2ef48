package manifests

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// mountPoint is where kustomize sees the files of a commit. Nothing is there on
// disk.
const mountPoint = "/driftd-commit"

// A mountedFS shows files below mountPoint, read-only, and another file system
// elsewhere. Of the methods, kustomize's builds use those that are defined here.
type mountedFS struct {
	filesys.FileSystem
	files fs.FS
	limit int64
}

// newMountedFS returns one that shows nothing outside of files.
func newMountedFS(files fs.FS, limit int64) mountedFS {
	return mountedFS{FileSystem: filesys.MakeFsInMemory(), files: files, limit: limit}
}

// withDisk returns one that shows the disk outside of files: that is where
// kustomize puts a remote base.
func (m mountedFS) withDisk() mountedFS {
	m.FileSystem = filesys.MakeFsOnDisk()
	return m
}

// within returns the path within files; ok is false for a path elsewhere.
func within(absolute string) (name string, ok bool) {
	name, ok = strings.CutPrefix(path.Clean(absolute)+"/", mountPoint+"/")
	if name = strings.TrimSuffix(name, "/"); name == "" {
		name = "."
	}
	return name, ok
}

// Exists implements filesys.FileSystem.
func (m mountedFS) Exists(file string) bool {
	name, ok := within(file)
	if !ok {
		return m.FileSystem.Exists(file)
	}
	_, err := fs.Stat(m.files, name)
	return err == nil
}

// IsDir implements filesys.FileSystem.
func (m mountedFS) IsDir(file string) bool {
	name, ok := within(file)
	if !ok {
		return m.FileSystem.IsDir(file)
	}
	info, err := fs.Stat(m.files, name)
	return err == nil && info.IsDir()
}

// CleanedAbs implements filesys.FileSystem.
func (m mountedFS) CleanedAbs(file string) (filesys.ConfirmedDir, string, error) {
	name, ok := within(file)
	if !ok {
		return m.FileSystem.CleanedAbs(file)
	}
	info, err := fs.Stat(m.files, name)
	if err != nil {
		return "", "", err
	}
	if info.IsDir() {
		return filesys.ConfirmedDir(path.Join(mountPoint, name)), "", nil
	}
	return filesys.ConfirmedDir(path.Join(mountPoint, path.Dir(name))), path.Base(name), nil
}

// ReadFile implements filesys.FileSystem.
func (m mountedFS) ReadFile(file string) ([]byte, error) {
	name, ok := within(file)
	if !ok {
		return m.FileSystem.ReadFile(file)
	}
	f, err := m.files.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, m.limit+1))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil && int64(len(data)) > m.limit {
		return nil, fmt.Errorf("%s is larger than %d bytes; raise max_file_size", path.Base(name), m.limit)
	}
	return data, err
}
