package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/driftd/driftd/internal/bounded"
)

// Bounds limits the number of files and folders that CheckOut writes, and the size of the files in bytes. A
// size of 0 means DefaultMaxCloneSize.
type Bounds struct {
	Files int
	Bytes int64
}

// CheckOut writes the files to dir, which must be empty. It writes symbolic links that stay inside the
// repository, and an empty folder for each submodule. Like git, it skips files and folders named .git: a
// program that runs in dir must not use them as a repository. It does not run hooks or filters.
//
// CheckOut returns the files that it could not write, with the reason, by their path in the commit:
// symbolic links that lead out of the repository, and files that are too large to be read.
func (c *FS) CheckOut(ctx context.Context, dir string, b Bounds) (absent map[string]error, err error) {
	b.Bytes = cmp.Or(b.Bytes, DefaultMaxCloneSize)
	to, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder: %w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	out := checkoutWriter{from: c, to: to, left: b, bounds: b, absent: map[string]error{}}
	return out.absent, fs.WalkDir(c, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case name == ".":
			return nil
		case isGit(d.Name()) && d.IsDir():
			return fs.SkipDir
		case isGit(d.Name()):
			return nil
		}
		return out.write(name, d)
	})
}

// isGit reports whether a file system may treat name as .git.
func isGit(name string) bool {
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

type checkoutWriter struct {
	from         *FS
	to           *os.Root
	left, bounds Bounds
	absent       map[string]error
}

func (o *checkoutWriter) write(name string, d fs.DirEntry) error {
	if o.left.Files--; o.left.Files < 0 {
		return fmt.Errorf("%w: more than %d files and folders", errTooLarge, o.bounds.Files)
	}
	path := filepath.FromSlash(name)
	switch {
	case d.IsDir(), d.Type()&fs.ModeIrregular != 0:
		return o.to.Mkdir(path, 0o700)
	case d.Type()&fs.ModeSymlink != 0:
		target, err := o.from.target(name)
		if err != nil {
			return o.leaveOut(name, err)
		}
		return o.to.Symlink(target, path)
	}
	return o.file(name, path)
}

// leaveOut records a file that cannot be written, and returns any other error.
func (o *checkoutWriter) leaveOut(name string, err error) error {
	if !errors.Is(err, errLeadsOut) && !errors.Is(err, errTooLarge) && !errors.Is(err, ErrLeftOut) {
		return err
	}
	o.absent[name] = fmt.Errorf("%s: %w", name, bounded.Cause(err))
	return nil
}

func (o *checkoutWriter) file(name, path string) (err error) {
	info, err := o.from.Stat(name)
	if err != nil {
		return o.leaveOut(name, err)
	}
	if o.left.Bytes -= info.Size(); o.left.Bytes < 0 {
		return fmt.Errorf("%w: more than %d bytes; raise max_clone_size", errTooLarge, o.bounds.Bytes)
	}
	in, err := o.from.Open(name)
	if err != nil {
		return o.leaveOut(name, err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	file, err := o.to.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, in)
	return errors.Join(err, file.Close())
}
