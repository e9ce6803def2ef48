package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// A packIndexer computes the index of a pack. Unlike go-git's parser, which
// holds each object in memory, it leaves out deltas whose result is larger than
// maxObject, and reads other large objects as a stream.
type packIndexer struct {
	scanner *packfile.Scanner
	entries []packEntry
	// byHash holds the entries whose hash is known; nil if no delta names its base by
	// hash.
	byHash map[plumbing.Hash]int
	// contents caches the bases of deltas, by offset.
	contents *cache.BufferLRU
	// leftOut counts the objects that are not in the index.
	leftOut int
}

// A packEntry is an object of a pack. Entries are sorted by their offset.
type packEntry struct {
	offset int64
	// length is that of the object or delta, and size that of the object, in bytes.
	length, size int64
	// base is the position of a delta's base, and baseHash its hash if the position is
	// unknown.
	base     int
	baseHash plumbing.Hash
	hash     plumbing.Hash
	crc      uint32
	typ      plumbing.ObjectType
	state    entryState
}

type entryState uint8

const (
	unresolved entryState = iota
	resolved
	leftOutEntry
)

// indexCache bounds the contents that are kept while a pack is indexed.
const indexCache = 96 * cache.MiByte

// indexPack returns the index of pack, and the number of objects that are too large for it.
// The index is nil if the pack has no objects.
func indexPack(ctx context.Context, pack io.ReadSeeker) (*idxfile.MemoryIndex, int, error) {
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return nil, 0, err
	}
	x := &packIndexer{scanner: packfile.NewScanner(pack), contents: cache.NewBufferLRU(indexCache)}
	checksum, err := x.scan(ctx)
	if errors.Is(err, packfile.ErrEmptyPackfile) {
		return nil, 0, nil
	}
	if err == nil && len(x.entries) > 0 {
		err = x.resolveAll(ctx)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("index pack: %w", err)
	}
	if len(x.entries) == 0 {
		return nil, 0, nil
	}
	index, err := x.index(checksum)
	return index, x.leftOut, err
}

// scan lists the objects of the pack and returns its checksum.
func (x *packIndexer) scan(ctx context.Context) (plumbing.Hash, error) {
	_, count, err := x.scanner.Header()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if count > maxPackObjects {
		return plumbing.ZeroHash, fmt.Errorf("%w: %d objects, more than %d", errTooLarge, count, maxPackObjects)
	}
	for range count {
		if err := ctx.Err(); err != nil {
			return plumbing.ZeroHash, err
		}
		e, err := x.next(ctx)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		x.entries = append(x.entries, e)
	}
	return x.scanner.Checksum()
}

// next reads the next object and keeps only its hash and sizes.
func (x *packIndexer) next(ctx context.Context) (packEntry, error) {
	h, err := x.scanner.NextObjectHeader()
	if err != nil {
		return packEntry{}, err
	}
	e := packEntry{offset: h.Offset, length: h.Length, size: h.Length, base: -1, typ: h.Type}
	hasher := plumbing.NewHasher(h.Type, h.Length)
	head := &prefix{}
	var into io.Writer = hasher
	if h.Type.IsDelta() {
		into = head
	}
	n, crc, err := x.scanner.NextObject(contextWriter{ctx, into})
	switch {
	case err != nil:
		return e, err
	case n != h.Length || n>>62 != 0:
		return e, packfile.ErrMalformedPackFile
	}
	e.crc = crc
	switch h.Type {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		e.hash, e.state = hasher.Sum(), resolved
		return e, nil
	case plumbing.OFSDeltaObject:
		if e.base = x.at(h.OffsetReference); e.base < 0 {
			return e, packfile.ErrMalformedPackFile
		}
	case plumbing.REFDeltaObject:
		e.baseHash = h.Reference
		if x.byHash == nil {
			x.byHash = map[plumbing.Hash]int{}
		}
	default:
		return e, packfile.ErrMalformedPackFile
	}
	e.size, err = resultSize(head.text)
	return e, err
}

// at returns the position of the entry that begins at offset, or -1.
func (x *packIndexer) at(offset int64) int {
	i, found := slices.BinarySearchFunc(x.entries, offset, func(e packEntry, offset int64) int { return int(e.offset - offset) })
	if !found {
		return -1
	}
	return i
}

// resolveAll computes the hashes of the deltas. A delta that names its base by hash waits
// until the hash of the base is known.
func (x *packIndexer) resolveAll(ctx context.Context) error {
	if x.byHash != nil {
		for i := range x.entries {
			if x.entries[i].state == resolved {
				x.byHash[x.entries[i].hash] = i
			}
		}
	}
	for waiting := -1; waiting != 0; {
		before := waiting
		waiting = 0
		for i := range x.entries {
			if x.entries[i].state != unresolved {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			known, err := x.resolve(ctx, i)
			if err != nil {
				return err
			}
			if !known {
				waiting++
			}
		}
		if waiting == before {
			// Their bases are not in the pack, or too large for its index.
			if x.leftOut == 0 {
				return packfile.ErrReferenceDeltaNotFound
			}
			x.leftOut += waiting
			return nil
		}
	}
	return nil
}

// resolve computes the hash of the delta i. known is false if it has to wait for its base.
func (x *packIndexer) resolve(ctx context.Context, i int) (known bool, err error) {
	var chain []int
	for x.entries[i].typ.IsDelta() {
		e := &x.entries[i]
		if e.base < 0 {
			base, found := x.byHash[e.baseHash]
			if !found {
				return false, nil
			}
			e.base = base
		}
		chain = append(chain, i)
		if len(chain) > maxChain {
			return false, packfile.ErrMalformedPackFile
		}
		if e.state == leftOutEntry || e.size > maxObject || e.length > maxObject {
			x.leaveOut(chain)
			return true, nil
		}
		if _, kept := x.contents.Get(e.offset); kept {
			break
		}
		i = e.base
	}
	if x.entries[i].size > maxObject {
		x.leaveOut(chain)
		return true, nil
	}
	return true, x.apply(ctx, i, chain)
}

// leaveOut marks the objects of a chain as left out of the index.
func (x *packIndexer) leaveOut(chain []int) {
	for _, i := range chain {
		if x.entries[i].state == unresolved {
			x.entries[i].state = leftOutEntry
			x.leftOut++
		}
	}
}

// apply computes the objects of a chain of deltas. The last delta of the chain is based on the
// entry base, or is that entry.
func (x *packIndexer) apply(ctx context.Context, base int, chain []int) error {
	content, err := x.content(ctx, base)
	if err != nil {
		return err
	}
	typ := x.typeOf(base)
	for _, i := range slices.Backward(chain) {
		if i == base {
			continue
		}
		e := &x.entries[i]
		delta, err := x.inflate(ctx, e)
		if err != nil {
			return err
		}
		if content, err = packfile.PatchDelta(content, delta); err != nil {
			return err
		}
		x.contents.Put(e.offset, content)
		if e.state == unresolved {
			e.hash, e.state = plumbing.ComputeHash(typ, content), resolved
			if x.byHash != nil {
				x.byHash[e.hash] = i
			}
		}
	}
	return nil
}

func (x *packIndexer) content(ctx context.Context, i int) ([]byte, error) {
	e := &x.entries[i]
	if content, kept := x.contents.Get(e.offset); kept {
		return content, nil
	}
	content, err := x.inflate(ctx, e)
	if err == nil {
		x.contents.Put(e.offset, content)
	}
	return content, err
}

// typeOf returns the type of the object i; for a delta, the type of its base.
func (x *packIndexer) typeOf(i int) plumbing.ObjectType {
	for x.entries[i].typ.IsDelta() {
		i = x.entries[i].base
	}
	return x.entries[i].typ
}

// inflate decompresses an object or a delta.
func (x *packIndexer) inflate(ctx context.Context, e *packEntry) ([]byte, error) {
	if _, err := x.scanner.SeekObjectHeader(e.offset); err != nil {
		return nil, err
	}
	content := &prefix{limit: int(e.length), text: make([]byte, 0, e.length)}
	_, _, err := x.scanner.NextObject(contextWriter{ctx, content})
	return content.text, err
}

// index returns the index of the resolved entries.
func (x *packIndexer) index(checksum plumbing.Hash) (*idxfile.MemoryIndex, error) {
	w := &idxfile.Writer{}
	if err := w.OnHeader(uint32(len(x.entries))); err != nil { //nolint:gosec // at most maxPackObjects
		return nil, err
	}
	for i := range x.entries {
		if e := &x.entries[i]; e.state == resolved {
			w.Add(e.hash, uint64(e.offset), e.crc) //nolint:gosec // never negative
		}
	}
	if err := w.OnFooter(checksum); err != nil {
		return nil, err
	}
	return w.Index()
}

// A prefix is a writer that keeps the beginning of its input: limit bytes, or enough for the
// sizes of a delta.
type prefix struct {
	limit int
	text  []byte
}

func (p *prefix) Write(b []byte) (int, error) {
	limit := max(p.limit, 20)
	p.text = append(p.text, b[:min(len(b), max(limit-len(p.text), 0))]...)
	return len(b), nil
}

// A contextWriter is a writer whose Write fails once its context has ended.
type contextWriter struct {
	ctx context.Context //nolint:containedctx // an io.Writer has no other way to take one
	io.Writer
}

func (w contextWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}
