package gitrepo

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// An objectStore is the storage of a repository on disk. It determines the size of an object
// before it loads it, which go-git's own storage does not do: a delta of a few bytes can
// result in gigabytes. It does not follow alternates. It is not safe for concurrent use.
type objectStore struct {
	*filesystem.Storage

	dir    *dotgit.DotGit
	cached cache.Object
	// packs is nil until they are listed.
	packs  []*pack
	closed bool
}

// A pack is a pack file and its index. The file is nil until it is read.
type pack struct {
	name  plumbing.Hash
	index idxfile.Index
	file  *packfile.Packfile
}

// openObjects opens the repository in files. Up to cacheSize bytes of its objects are kept in
// memory.
func openObjects(files billy.Filesystem, cacheSize cache.FileSize) *objectStore {
	objects := cache.NewObjectLRU(cacheSize)
	return &objectStore{Storage: filesystem.NewStorage(files, objects), dir: dotgit.New(files), cached: objects}
}

// Close closes the repository. Later reads fail.
func (o *objectStore) Close() error {
	o.closed = true
	err := errors.Join(o.Storage.Close(), o.dir.Close())
	for _, p := range o.packs {
		if p.file != nil {
			err = errors.Join(err, p.file.Close())
		}
	}
	o.packs = nil
	return err
}

// Reindex reloads the list of packs, so that packs that were added are found.
func (o *objectStore) Reindex() {
	for _, p := range o.packs {
		if p.file != nil {
			_ = p.file.Close() // It was only read.
		}
	}
	o.packs = nil
	o.Storage.Reindex()
}

// A stored object is the type and size of an object of the store.
type stored struct {
	typ plumbing.ObjectType
	// size is the size of the object. needs is the number of bytes to load to compute it; 0 if
	// it can be streamed.
	size, needs int64
	open        func() (plumbing.EncodedObject, error)
}

// EncodedObject implements storer.EncodedObjectStorer. It returns an errTooLarge for an object that exceeds
// the size limit.
func (o *objectStore) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	found, err := o.find(h)
	switch {
	case err != nil:
		return nil, err
	case t != plumbing.AnyObject && found.typ != t:
		return nil, plumbing.ErrObjectNotFound
	}
	if err := check(found.typ, found.size, found.needs); err != nil {
		return nil, err
	}
	return found.open()
}

// EncodedObjectSize implements storer.EncodedObjectStorer.
func (o *objectStore) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	found, err := o.find(h)
	return found.size, err
}

// HasEncodedObject implements storer.EncodedObjectStorer.
func (o *objectStore) HasEncodedObject(h plumbing.Hash) error {
	_, err := o.find(h)
	return err
}

// find searches for an object, in packs first.
func (o *objectStore) find(h plumbing.Hash) (stored, error) {
	if o.closed {
		return stored{}, os.ErrClosed
	}
	if err := o.loadPacks(); err != nil {
		return stored{}, err
	}
	for _, p := range o.packs {
		offset, err := p.index.FindOffset(h)
		if err != nil {
			continue
		}
		if err := o.openPack(p); err != nil {
			return stored{}, err
		}
		found, err := p.measure(offset)
		found.open = func() (plumbing.EncodedObject, error) { return p.file.GetByOffset(offset) }
		return found, err
	}
	return o.findLoose(h)
}

func (o *objectStore) loadPacks() error {
	if o.packs != nil {
		return nil
	}
	names, err := o.dir.ObjectPacks()
	if err != nil {
		return fmt.Errorf("list packs: %w", err)
	}
	packs := make([]*pack, 0, len(names))
	for _, name := range names {
		index, err := o.readIndex(name)
		if err != nil {
			return fmt.Errorf("read index of pack %s: %w", name, err)
		}
		packs = append(packs, &pack{name: name, index: index})
	}
	o.packs = packs
	return nil
}

func (o *objectStore) readIndex(name plumbing.Hash) (_ idxfile.Index, err error) {
	f, err := o.dir.ObjectPackIdx(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	index := idxfile.NewMemoryIndex()
	if err := idxfile.NewDecoder(f).Decode(index); err != nil {
		return nil, err
	}
	if index.PackfileChecksum != name {
		return nil, idxfile.ErrMalformedIdxFile
	}
	return index, nil
}

func (o *objectStore) openPack(p *pack) error {
	if p.file != nil {
		return nil
	}
	f, err := o.dir.ObjectPack(p.name)
	if err != nil {
		return err
	}
	p.file = packfile.NewPackfileWithCache(p.index, o.dir.Fs(), f, o.cached, streamOver)
	return nil
}

// maxChain bounds the length of a chain of deltas, as git does.
const maxChain = 4095

// measure returns the type and sizes of the object at offset. It reads only the sizes of its
// deltas.
func (p *pack) measure(offset int64) (found stored, err error) {
	var deltas, total int64
	for depth := range maxChain {
		link, err := p.link(offset)
		if err != nil {
			return stored{}, err
		}
		if depth == 0 {
			found.size = link.size
		}
		total = min(total+link.size, 1<<61)
		if !link.typ.IsDelta() {
			found.typ = link.typ
			switch {
			case total > maxDeltas && depth > 0:
				found.needs = total
			case depth > 0:
				found.needs = max(found.needs, link.size)
			}
			return found, nil
		}
		deltas = min(deltas+link.length, 1<<61)
		found.needs = max(found.needs, link.size, deltas)
		offset = link.base
	}
	return stored{}, packfile.ErrMalformedPackFile
}

// A link is an object or a delta of a pack. base is the offset of a delta's base.
type link struct {
	typ                plumbing.ObjectType
	length, size, base int64
}

func (p *pack) link(offset int64) (l link, err error) {
	scanner := p.file.Scanner()
	h, err := scanner.SeekObjectHeader(offset)
	if err != nil {
		return link{}, err
	}
	if h.Length>>62 != 0 {
		return link{}, packfile.ErrMalformedPackFile
	}
	l = link{typ: h.Type, length: h.Length, size: h.Length, base: h.OffsetReference}
	if h.Type == plumbing.REFDeltaObject {
		if l.base, err = p.index.FindOffset(h.Reference); err != nil {
			return link{}, err
		}
	}
	if h.Type.IsDelta() {
		l.size, err = deltaSize(scanner)
	}
	return l, err
}

// deltaSize returns the size of the result of the delta at the scanner's position.
func deltaSize(scanner *packfile.Scanner) (size int64, err error) {
	r, err := scanner.ReadObject()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	head := make([]byte, 2*binary.MaxVarintLen64)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return resultSize(head[:n])
}

// resultSize returns the size of a delta's result. A delta begins with the sizes of its
// base and of its result (gitformat-pack(5)).
func resultSize(delta []byte) (int64, error) {
	_, n := binary.Uvarint(delta)
	if n <= 0 {
		return 0, packfile.ErrInvalidDelta
	}
	size, m := binary.Uvarint(delta[n:])
	if m <= 0 || size>>62 > 0 {
		return 0, packfile.ErrInvalidDelta
	}
	return int64(size), nil
}

// findLoose searches for an object with a file of its own.
func (o *objectStore) findLoose(h plumbing.Hash) (found stored, err error) {
	f, err := o.dir.Object(h)
	if errors.Is(err, os.ErrNotExist) {
		return stored{}, plumbing.ErrObjectNotFound
	}
	if err != nil {
		return stored{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content, err := zlib.NewReader(f)
	if err != nil {
		return stored{}, err
	}
	buffered := bufio.NewReaderSize(content, looseHeader)
	if found.typ, found.size, err = readLooseHeader(buffered); err != nil {
		return stored{}, err
	}
	found.open = func() (plumbing.EncodedObject, error) {
		return sized{dotgit.NewEncodedObject(o.dir, h, found.typ, found.size)}, nil
	}
	return found, nil
}

// A sized object ends at the size in its header.
type sized struct{ plumbing.EncodedObject }

// Reader implements plumbing.EncodedObject.
func (s sized) Reader() (io.ReadCloser, error) {
	r, err := s.EncodedObject.Reader()
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(r, s.Size()), r}, nil
}

// looseHeader is an upper bound of the header of a loose object, in bytes.
const looseHeader = 64

// readLooseHeader reads "type size\0" (gitrepository-layout(5)).
func readLooseHeader(r *bufio.Reader) (plumbing.ObjectType, int64, error) {
	head, err := r.ReadSlice(0)
	if err != nil {
		return plumbing.InvalidObject, 0, fmt.Errorf("read object header: %w", err)
	}
	name, text, _ := bytes.Cut(head[:len(head)-1], []byte(" "))
	typ, err := plumbing.ParseObjectType(string(name))
	if err != nil {
		return typ, 0, err
	}
	size, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || size < 0 {
		return typ, 0, errors.New("malformed object header")
	}
	return typ, size, nil
}
