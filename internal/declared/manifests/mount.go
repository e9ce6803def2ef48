package manifests

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/driftd/driftd/internal/bounded"
)

// mountPoint is the path of a tree's files for kustomize. It does not exist on disk.
const mountPoint = "/driftd-tree"

// A mountedFS provides files below mountPoint, read-only. It defines the methods that
// kustomize's builds use.
type mountedFS struct {
	outsideFS

	files fs.FS
	limit int64
}

// newMountedFS returns a mountedFS without other files. reason is the error of reading another
// file.
func newMountedFS(files fs.FS, limit int64, reason string) mountedFS {
	return mountedFS{outsideFS: outsideFS{FileSystem: filesys.MakeFsOnDisk(), reason: reason}, files: files, limit: limit}
}

// withDisk returns a mountedFS that also has a folder of the disk, to which kustomize
// clones remote bases.
func (m mountedFS) withDisk(dir string) mountedFS {
	m.dir = dir
	return m
}

// The reasons why a file outside of a tree is not read.
const (
	outsideRepository = "leads out of the repository"
	outsideFolder     = "leads out of the folder, which is in no git repository: declare a folder that contains both, and select files with include"
)

// An outsideFS provides one folder of the disk, or nothing. The author of a kustomization can
// name any other file.
type outsideFS struct {
	filesys.FileSystem
	// dir is the folder, or "".
	dir string
	// reason is the error of reading any other file.
	reason string
}

// Exists implements filesys.FileSystem.
func (o outsideFS) Exists(file string) bool { return o.has(file) && o.FileSystem.Exists(file) }

// IsDir implements filesys.FileSystem.
func (o outsideFS) IsDir(file string) bool { return o.has(file) && o.FileSystem.IsDir(file) }

// CleanedAbs implements filesys.FileSystem.
func (o outsideFS) CleanedAbs(file string) (filesys.ConfirmedDir, string, error) {
	if !o.has(file) {
		return "", "", errors.New(o.reason)
	}
	return o.FileSystem.CleanedAbs(file)
}

// ReadFile implements filesys.FileSystem.
func (o outsideFS) ReadFile(file string) ([]byte, error) {
	if !o.has(file) {
		return nil, errors.New(o.reason)
	}
	return o.FileSystem.ReadFile(file)
}

// has reports whether file is in the folder. Symbolic links are followed.
func (o outsideFS) has(file string) bool {
	dir, err := filepath.EvalSymlinks(o.dir)
	if o.dir == "" || err != nil {
		return false
	}
	resolved, err := filepath.EvalSymlinks(file)
	return err == nil && strings.HasPrefix(resolved+"/", dir+"/")
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
		return m.outsideFS.Exists(file)
	}
	_, err := fs.Stat(m.files, name)
	return err == nil
}

// IsDir implements filesys.FileSystem.
func (m mountedFS) IsDir(file string) bool {
	name, ok := within(file)
	if !ok {
		return m.outsideFS.IsDir(file)
	}
	info, err := fs.Stat(m.files, name)
	return err == nil && info.IsDir()
}

// CleanedAbs implements filesys.FileSystem.
func (m mountedFS) CleanedAbs(file string) (filesys.ConfirmedDir, string, error) {
	name, ok := within(file)
	if !ok {
		return m.outsideFS.CleanedAbs(file)
	}
	info, err := fs.Stat(m.files, name)
	if err != nil {
		return "", "", at(file, err)
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
		return m.outsideFS.ReadFile(file)
	}
	if m.IsDir(file) {
		// Without restrictions, kustomize first reads a folder like a file.
		return nil, at(file, errIsFolder)
	}
	data, err := readFile(m.files, name, m.limit)
	if err != nil {
		return nil, at(file, err)
	}
	return data, nil
}

var errIsFolder = errors.New("a folder")

// at returns an error with the path of the file below mountPoint.
func at(file string, err error) error {
	return fmt.Errorf("%s: %w", path.Clean(file), bounded.Cause(err))
}
