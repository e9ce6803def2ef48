package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/driftd/driftd/internal/lazyregexp"
)

// hashLike matches a name that git reads as the hash of an object.
var hashLike = lazyregexp.New(`^([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$`)

// branchReference returns the full name of a new branch. The name must be one that git accepts
// (git-check-ref-format(1), with --branch), and that it does not read as something else.
func branchReference(repository *git.Repository, name string) (plumbing.ReferenceName, error) {
	reference := plumbing.NewBranchReferenceName(name)
	if reference.Validate() != nil || name == "HEAD" || strings.HasPrefix(name, "refs/") || hashLike().MatchString(name) {
		return "", fmt.Errorf("%q is not the name of a branch", name)
	}
	if err := available(repository.Storer, reference); err != nil {
		return "", err
	}
	if _, err := repository.ResolveRevision(plumbing.Revision(name)); err == nil {
		return "", fmt.Errorf("git reads %q as another object of the repository: name another branch", name)
	}
	return reference, nil
}

// available returns an error if a reference exists, or if its name is the folder of another one, or
// the other way round: git stores references in files.
func available(s storer.ReferenceStorer, reference plumbing.ReferenceName) error {
	all, err := s.IterReferences()
	if err != nil {
		return fmt.Errorf("list refs: %w", err)
	}
	defer all.Close()
	return all.ForEach(func(r *plumbing.Reference) error {
		switch name := r.Name(); {
		case name == reference:
			return fmt.Errorf("branch %s exists already: name a new one", name.Short())
		case strings.HasPrefix(string(name), string(reference)+"/"), strings.HasPrefix(string(reference), string(name)+"/"):
			return fmt.Errorf("branch %s exists, and git cannot have %s then: name another one", name.Short(), reference.Short())
		}
		return nil
	})
}

// createReference creates a reference under git's own lock on it. It never changes one that
// exists.
func createReference(repository *git.Repository, reference plumbing.ReferenceName, hash plumbing.Hash) (err error) {
	storage, ok := repository.Storer.(*filesystem.Storage)
	if !ok {
		return errors.New("the repository is in no folder")
	}
	files, lock := storage.Filesystem(), string(reference)+".lock"
	file, err := files.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("another program holds the lock %s: try again", lock)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, hash)
	if err = errors.Join(err, file.Close()); err == nil {
		err = available(repository.Storer, reference)
	}
	if err == nil {
		err = rename(files, lock, string(reference))
	}
	if err != nil {
		return errors.Join(err, files.Remove(lock))
	}
	return nil
}

// rename renames a lock to its reference. Git leaves empty folders behind when it deletes
// references, and removes them when a name needs them.
func rename(files billy.Filesystem, lock, reference string) error {
	if info, err := files.Lstat(reference); err == nil && info.IsDir() {
		if err := removeEmpty(files, reference); err != nil {
			return err
		}
	}
	return files.Rename(lock, reference)
}

// removeEmpty removes a folder that has nothing but empty folders.
func removeEmpty(files billy.Filesystem, dir string) error {
	entries, err := files.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			return fmt.Errorf("%s is a folder with files", dir)
		}
		if err := removeEmpty(files, files.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return files.Remove(dir)
}
