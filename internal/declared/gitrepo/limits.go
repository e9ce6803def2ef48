package gitrepo

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// Limits on what is read from a repository. Everyone with push access chooses its content, and
// an object may be a thousand times larger than its compressed form.
const (
	// maxObject bounds what is loaded into memory for one object, in bytes: the
	// object, and each part of a delta that it is computed from. Larger objects that
	// are not deltas are read as a stream.
	maxObject = 64 << 20
	// maxDeltas bounds the sizes of the objects that one object is computed from, in
	// bytes: the work of reading it.
	maxDeltas = 8 << 30
	// maxCommit bounds commits and tags, and maxTree the list of a folder, in bytes.
	maxCommit = 4 << 20
	maxTree   = 16 << 20
	// maxEntries bounds the entries of one folder, and maxDepth the folders above a
	// file.
	maxEntries = 250_000
	maxDepth   = 256
	// maxLink bounds the target of a symbolic link, in bytes.
	maxLink = 4096
	// maxRefs bounds the branches, tags and other refs, and maxRefsSize what they take
	// as text, in bytes.
	maxRefs     = 500_000
	maxRefsSize = 64 << 20
	// maxPackObjects bounds the objects of one transfer.
	maxPackObjects = 2_000_000
	// streamOver is the size, in bytes, above which objects are read as a stream.
	streamOver = 1 << 20
)

// errTooLarge reports that an object, a transfer or a count exceeds a bound. The repository is
// not damaged: reading it again gives the same error.
var errTooLarge = errors.New("too large")

// damage returns the error of an object that cannot be read: an errDamaged, unless
// it is too large.
func damage(what string, hash plumbing.Hash, err error) error {
	if errors.Is(err, errTooLarge) {
		return fmt.Errorf("%s %s: %w", what, hash, err)
	}
	return fmt.Errorf("%w: %s %s: %w", errDamaged, what, hash, err)
}

// check returns an error if an object is too large to load. size is the size of the object,
// and needs the number of bytes to load to compute it.
func check(typ plumbing.ObjectType, size, needs int64) error {
	limit := int64(maxObject)
	switch typ {
	case plumbing.CommitObject, plumbing.TagObject:
		limit = maxCommit
	case plumbing.TreeObject:
		limit = maxTree
	case plumbing.BlobObject:
		size = 0
	}
	switch {
	case size > limit:
		return fmt.Errorf("%w: %s of %d bytes, more than %d", errTooLarge, typ, size, limit)
	case needs > maxObject:
		return fmt.Errorf("%w: it is stored as a delta of %d bytes, more than %d", errTooLarge, needs, maxObject)
	}
	return nil
}
