package audit

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// unsignedDomain begins the text that the leaf of an entry that no head leads to is the hash of.
const unsignedDomain = "driftd/v1 unsigned\n"

// unsignedLeaf returns the leaf of an entry with a hash that no head leads to. It is the hash of no
// entry (RFC 6962 puts a zero byte before those), so that no proof of the entry verifies.
func unsignedLeaf(hash tlog.Hash) tlog.Hash {
	return sha256.Sum256(append([]byte(unsignedDomain), hash[:]...))
}

// rebuild makes the hashes of the log those of a tree, and returns its head without a signature. The
// hashes of the entries that the last head, or a witnessed one, leads to are kept, also where the bytes
// of the entry are others: only those were signed. Other entries get a leaf that proves nothing.
// Entries that follow the last head become part of the log.
func (l *Log) rebuild(last Head, witnessed []Witnessed) (Head, error) {
	heads := []Head{last}
	for i := range witnessed {
		heads = append(heads, witnessed[i].Head)
	}
	slices.SortStableFunc(heads, func(a, b Head) int { return cmp.Compare(b.Size, a.Size) })
	size := last.Size
	for i := range heads {
		if heads[i].Size > size && l.there(heads[i].Size-1) {
			size = heads[i].Size
		}
	}
	for l.there(size) {
		size++
	}
	r := rebuilder{Log: l}
	for i := range heads {
		if h := &heads[i]; h.Size > 0 && h.Size <= size {
			found, err := r.resolve(0, h.Size, h.Root)
			if err != nil {
				return Head{}, err
			}
			if found {
				r.signed = h.Size
				break
			}
		}
	}
	return r.write(size)
}

func (l *Log) there(index int64) bool {
	_, hashed := l.hash(tlog.StoredHashIndex(0, index))
	return hashed || l.records.Get(indexKey(entryRecord, index)) != nil
}

type rebuilder struct {
	*Log
	// signed is the size of the head that the hashes lead to, and unknown the ranges before it whose
	// leaves are not known, in order.
	signed  int64
	unknown []Range
}

// resolve writes the leaves of a range whose hash is known to be signed: those for which the hashes
// above lead to it. It reports whether there are any.
func (r *rebuilder) resolve(from, to int64, signed tlog.Hash) (found bool, err error) {
	if to-from == 1 {
		return true, r.putHashes(from, []tlog.Hash{signed})
	}
	middle := split(from, to)
	left, right, found := r.halves(from, middle, to, signed)
	if !found {
		return false, nil
	}
	for _, half := range []struct {
		from, to int64
		hash     tlog.Hash
	}{{from, middle, left}, {middle, to, right}} {
		found, err := r.resolve(half.from, half.to, half.hash)
		if err != nil {
			return false, err
		}
		if !found {
			r.unknown = append(r.unknown, Range{half.from, half.to})
		}
	}
	return true, nil
}

// split returns the start of the right half of a range in a tree (RFC 6962, section 2.1).
func split(from, to int64) int64 {
	half := int64(1)
	for half*2 < to-from {
		half *= 2
	}
	return from + half
}

// halves returns the hashes of the halves of a range that lead to its hash: those that are stored, or
// one of them over the stored leaves or over the entries.
func (r *rebuilder) halves(from, middle, to int64, signed tlog.Hash) (left, right tlog.Hash, found bool) {
	left, right = r.over(from, middle, r.storedOver), r.over(middle, to, r.storedOver)
	if tlog.NodeHash(left, right) == signed {
		return left, right, true
	}
	lefts := []tlog.Hash{left, r.over(from, middle, r.leafOver), r.over(from, middle, r.entryOver)}
	rights := []tlog.Hash{right, r.over(middle, to, r.leafOver), r.over(middle, to, r.entryOver)}
	for _, left = range lefts {
		for _, right = range rights {
			if tlog.NodeHash(left, right) == signed {
				return left, right, true
			}
		}
	}
	return left, right, false
}

// over returns the hash of a range. known returns that of a range if it does not follow from those of
// its halves.
func (r *rebuilder) over(from, to int64, known func(from, to int64) (tlog.Hash, bool)) tlog.Hash {
	if hash, ok := known(from, to); ok || to-from == 1 {
		return hash
	}
	middle := split(from, to)
	return tlog.NodeHash(r.over(from, middle, known), r.over(middle, to, known))
}

// storedOver returns the stored hash of a range that has one.
func (r *rebuilder) storedOver(from, to int64) (tlog.Hash, bool) {
	level, size := 0, to-from
	for size>>level > 1 {
		level++
	}
	if size != 1<<level || from%size != 0 {
		return tlog.Hash{}, false
	}
	hash, _ := r.hash(tlog.StoredHashIndex(level, from>>level))
	return hash, true
}

// leafOver returns the stored hash of an entry.
func (r *rebuilder) leafOver(from, to int64) (hash tlog.Hash, ok bool) {
	if to-from == 1 {
		hash, ok = r.hash(tlog.StoredHashIndex(0, from))
	}
	return hash, ok
}

// entryOver returns the hash of the bytes of an entry, and the stored one for an entry that is gone or
// had a leaf that proves nothing.
func (r *rebuilder) entryOver(from, to int64) (hash tlog.Hash, ok bool) {
	if to-from != 1 {
		return hash, false
	}
	hash, ok = r.leafOver(from, to)
	b := r.records.Get(indexKey(entryRecord, from))
	if found := tlog.RecordHash(b); b != nil && hash != unsignedLeaf(found) {
		return found, true
	}
	return hash, ok
}

// write writes the hashes over the leaves, and the entries as they are.
func (r *rebuilder) write(size int64) (Head, error) {
	for i := range size {
		if b := r.records.Get(indexKey(entryRecord, i)); b != nil {
			if err := r.keep(i, append([]byte(nil), b...)); err != nil {
				return Head{}, fmt.Errorf("write entry %d: %w", i, err)
			}
		}
		hashes, err := tlog.StoredHashesForRecordHash(i, r.leaf(i), r)
		if err != nil {
			return Head{}, fmt.Errorf("hash entry %d: %w", i, err)
		}
		if err := r.putHashes(i, hashes); err != nil {
			return Head{}, err
		}
	}
	root, err := tlog.TreeHash(size, r)
	return Head{Origin: r.key.Origin(), Size: size, Root: root}, err
}

// leaf returns the leaf of an entry.
func (r *rebuilder) leaf(i int64) tlog.Hash {
	for len(r.unknown) > 0 && r.unknown[0].To <= i {
		r.unknown = r.unknown[1:]
	}
	stored, _ := r.hash(tlog.StoredHashIndex(0, i))
	if i < r.signed && (len(r.unknown) == 0 || i < r.unknown[0].From) {
		return stored
	}
	b := r.records.Get(indexKey(entryRecord, i))
	if b == nil {
		// The hash may be that of bytes that an attacker has.
		return unsignedLeaf(stored)
	}
	return unsignedLeaf(tlog.RecordHash(b))
}

// keep writes an entry as it is, and removes its list if that is not the one that it identifies.
func (l *Log) keep(index int64, b []byte) error {
	if err := l.records.Put(indexKey(entryRecord, index), b); err != nil {
		return err
	}
	if e, err := parseEntry(index, b); err == nil {
		if _, err := l.Items(&e); err == nil {
			return nil
		}
	}
	return l.records.Remove(indexKey(listRecord, index))
}
