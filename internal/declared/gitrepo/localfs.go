package gitrepo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/driftd/driftd/internal/declared/folder"
)

// openLocal opens the repository in the folder dir of this machine: a work tree, one that "git
// worktree add" made, or a bare repository. It reads files of the repository only, and runs
// nothing that its configuration names.
func openLocal(dir string) (*objectStore, error) {
	files, err := gitFolder(dir)
	if err != nil {
		return nil, err
	}
	return openGitFolder(files, localCache)
}

// localCache bounds the objects of a local repository that are kept in memory.
const localCache = 32 * cache.MiByte

func openGitFolder(files billy.Filesystem, cacheSize cache.FileSize) (*objectStore, error) {
	s := openObjects(files, cacheSize)
	// git.Open checks the format and the extensions.
	if _, err := git.Open(s, nil); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	switch _, err := files.Stat(alternates); {
	case err == nil:
		return nil, errors.Join(errAlternates, s.Close())
	case !errors.Is(err, fs.ErrNotExist):
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

const alternates = "objects/info/alternates"

// errAlternates reports a repository whose objects are in another one. The owner of the
// repository chooses the other one, and driftd may have more permissions than the owner.
var errAlternates = errors.New("it uses objects of another repository (" + alternates +
	"), which is not supported: declare that one, or run git repack -a -d and remove the file")

// gitFolder returns the files of a local repository (gitrepository-layout(5)).
func gitFolder(dir string) (billy.Filesystem, error) {
	within := dir
	info, err := os.Stat(filepath.Join(dir, git.GitDirName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.IsDir():
		within = filepath.Join(dir, git.GitDirName)
		if err := checkLink(within, os.Getuid()); err != nil {
			return nil, err
		}
	default:
		if within, err = linkedFolder(filepath.Join(dir, git.GitDirName), "gitdir: "); err != nil {
			return nil, err
		}
	}
	common, err := linkedFolder(filepath.Join(within, "commondir"), "")
	if errors.Is(err, fs.ErrNotExist) {
		return regularFiles{osfs.New(within)}, nil
	}
	if err != nil {
		return nil, err
	}
	return dotgit.NewRepositoryFilesystem(regularFiles{osfs.New(within)}, regularFiles{osfs.New(common)}), nil
}

// linkedFolder returns the folder that the file name contains after prefix. File and folder
// must have the same owner, unless the file belongs to root or to driftd's own user: otherwise
// a user could make driftd read files that the user cannot read.
func linkedFolder(name, prefix string) (string, error) {
	if err := checkLink(name, os.Getuid()); err != nil {
		return "", err
	}
	f, err := folder.OpenFile(name)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(io.LimitReader(f, maxLink))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(content), "\n")
	to, ok := strings.CutPrefix(line, prefix)
	if to = strings.TrimSpace(to); !ok || to == "" {
		return "", fmt.Errorf("%s names no folder", name)
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(name), to)
	}
	by, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	of, err := os.Stat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s names %s, which does not exist", name, to)
	case err != nil:
		return "", err
	case !mayFollow(owner(by), owner(of), os.Getuid()):
		return "", fmt.Errorf("%s names %s, which belongs to another user", name, to)
	}
	return to, nil
}

// checkLink returns an error if name is a symbolic link to another user's file or folder: see
// linkedFolder. go-billy rejects links that lead out of a repository.
func checkLink(name string, self int) error {
	link, err := os.Lstat(name)
	if err != nil || link.Mode()&fs.ModeSymlink == 0 {
		return err
	}
	to, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !mayFollow(owner(link), owner(to), self) {
		return fmt.Errorf("%s is a symbolic link to a file of another user", name)
	}
	return nil
}

// mayFollow reports whether a file that belongs to the user ID file may refer to a folder that
// belongs to the user ID to. self is driftd's own user ID.
func mayFollow(file, to, self int) bool { return file == to || file == 0 || file == self }

// owner returns the user ID of a file's owner, or -1.
func owner(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}

// regularFiles is the file system of a repository. It opens regular files only, and no file
// larger than maxRefsSize outside of objects: go-git reads those into memory.
type regularFiles struct{ billy.Filesystem }

// Open implements billy.Basic.
func (r regularFiles) Open(name string) (billy.File, error) { return r.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile implements billy.Basic.
func (r regularFiles) OpenFile(name string, flag int, perm fs.FileMode) (billy.File, error) {
	info, err := r.Stat(name)
	if err != nil {
		return nil, err
	}
	path := filepath.ToSlash(filepath.Clean(name))
	switch {
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: name, Err: folder.ErrNotRegular}
	case info.Size() > maxRefsSize && !strings.HasPrefix(strings.TrimPrefix(path, "/"), "objects/"):
		return nil, fmt.Errorf("%w: %s has %d bytes, more than %d", errTooLarge, name, info.Size(), maxRefsSize)
	}
	return r.Filesystem.OpenFile(name, flag|syscall.O_NONBLOCK, perm)
}
