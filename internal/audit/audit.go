// Package audit implements a tamper-evident log of driftd's findings, of people's decisions, and of changes
// to the database. Its entries are the leaves of a Merkle tree (RFC 6962), and its heads are checkpoints in
// the format of c2sp.org/tlog-checkpoint.
//
// A head in the database proves that the log was not modified without the key. A head that a witness keeps
// also detects modifications with the key, and shows whether the database is an older copy of itself.
package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// Records are the stored records of a log within a database transaction. Values are valid until the
// transaction ends.
type Records interface {
	// Get returns the value of a key, or nil if there is no record. Put and Remove set and delete a record.
	Get(key []byte) []byte
	Put(key, value []byte) error
	Remove(key []byte) error
	// Walk calls visit for the records in the order of their keys, starting at from, until visit returns
	// false. visit must not modify records.
	Walk(from []byte, visit func(key, value []byte) bool)
}

// The keys of records are a letter and what follows it:
//
//	e index   an entry
//	h index   a hash of the tree, at its tlog.StoredHashIndex
//	t         the head
//	n name    the reference of a person
//	p ref     the name of a person, see Ref
//	a index   the list of an entry, see List
const (
	entryRecord  = 'e'
	hashRecord   = 'h'
	headRecord   = 't'
	nameRecord   = 'n'
	personRecord = 'p'
	listRecord   = 'a'
)

func indexKey(kind byte, index int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, uint64(index))
}

// A TamperedError reports that the log differs from the one that was signed.
type TamperedError struct {
	// The difference, such as "entry 42 was edited".
	What string
}

// Error returns a description of the difference.
func (e *TamperedError) Error() string { return "the log was changed from outside: " + e.What }

func tampered(format string, args ...any) error {
	return &TamperedError{What: fmt.Sprintf(format, args...)}
}

// A Log gives access to an audit log within a database transaction.
type Log struct {
	records Records
	key     PublicKey
}

// New returns the log in the records. key verifies the signatures of its heads.
func New(records Records, key PublicKey) *Log { return &Log{records, key} }

// ErrEmpty is returned if the log has no entry.
var ErrEmpty = errors.New("the log is empty")

// Head returns the last head. It returns ErrEmpty if the log has none.
func (l *Log) Head() (Head, error) {
	signed := l.records.Get([]byte{headRecord})
	if signed == nil {
		if l.records.Get(indexKey(entryRecord, 0)) != nil || l.records.Get(indexKey(hashRecord, 0)) != nil {
			return Head{}, tampered("the head is gone")
		}
		return Head{}, ErrEmpty
	}
	h, err := ParseHead(append([]byte(nil), signed...), l.key)
	if err != nil {
		return Head{}, tampered("%v", err)
	}
	return h, nil
}

// current returns the last head and checks that the hashes of the log are those that it signs.
func (l *Log) current() (Head, error) {
	h, err := l.Head()
	if errors.Is(err, ErrEmpty) {
		return Head{Origin: l.key.Origin()}, nil
	}
	if err != nil {
		return Head{}, err
	}
	if err := l.atEnd(h.Size); err != nil {
		return Head{}, err
	}
	root, err := tlog.TreeHash(h.Size, l)
	if err != nil {
		return Head{}, err
	}
	if root != h.Root {
		return Head{}, tampered("the tree of %d entries is not the one that was signed", h.Size)
	}
	return h, nil
}

// atEnd returns an error if the log has another number of entries. The last entry must exist:
// only entries before it are ever dropped.
func (l *Log) atEnd(size int64) error {
	for _, end := range [][]byte{indexKey(entryRecord, size), indexKey(hashRecord, tlog.StoredHashCount(size)), indexKey(listRecord, size)} {
		if key := l.next(end); bytes.HasPrefix(key, end[:1]) {
			return tampered("%s is there but was not signed", recordName(key))
		}
	}
	if size > 0 && l.records.Get(indexKey(entryRecord, size-1)) == nil {
		return tampered("the head signs %d entries, %d are there", size, l.length(size))
	}
	return nil
}

// next returns the first key of a record from a key on; nil if there is none.
func (l *Log) next(from []byte) (next []byte) {
	l.records.Walk(from, func(key, _ []byte) bool {
		next = key
		return false
	})
	return next
}

// Leads returns a *TamperedError if the log is not an extension of the one with the head to: it has fewer
// entries, or different ones.
func (l *Log) Leads(to Head) error {
	h, err := l.Head()
	if errors.Is(err, ErrEmpty) {
		h, err = Head{}, nil
	}
	if err != nil {
		return err
	}
	if to.Size > h.Size {
		return tampered("%d entries were written, %d are there: the database is an older copy, or entries were removed", to.Size, h.Size)
	}
	root, err := tlog.TreeHash(to.Size, l)
	if err == nil && root != to.Root {
		err = tampered("history before entry %d was rewritten", to.Size)
	}
	return err
}

// length returns the number of entries up to the last one before limit that exists.
func (l *Log) length(limit int64) int64 {
	for limit > 0 && l.records.Get(indexKey(entryRecord, limit-1)) == nil {
		limit--
	}
	return limit
}

// Append appends entries and signs the new head with each of the keys, the first of which must be that of
// the log. If the log differs from the one that the last head signs, Append changes nothing and returns a
// *TamperedError, because the new head would sign the difference.
func (l *Log) Append(keys []Key, entries ...Entry) (Head, error) {
	h, err := l.current()
	if err == nil {
		h, err = l.extend(h, keys, entries...)
	}
	if err != nil {
		return Head{}, fmt.Errorf("append to the audit log: %w", err)
	}
	return h, nil
}

// extend adds entries after the head, and signs the new head.
func (l *Log) extend(h Head, keys []Key, entries ...Entry) (Head, error) {
	for i := range entries {
		if err := l.add(h.Size, &entries[i]); err != nil {
			return Head{}, err
		}
		h.Size++
	}
	var err error
	if h.Root, err = tlog.TreeHash(h.Size, l); err != nil {
		return Head{}, err
	}
	if err := h.sign(keys...); err != nil {
		return Head{}, err
	}
	if err := l.records.Put([]byte{headRecord}, h.Note); err != nil {
		return Head{}, fmt.Errorf("write head: %w", err)
	}
	return h, nil
}

// add writes an entry and the hashes that it completes.
func (l *Log) add(index int64, e *Entry) error {
	b, err := e.encode()
	if err != nil {
		return err
	}
	hashes, err := tlog.StoredHashes(index, b, l)
	if err != nil {
		return fmt.Errorf("hash entry %d: %w", index, err)
	}
	if err := l.records.Put(indexKey(entryRecord, index), b); err != nil {
		return fmt.Errorf("write entry %d: %w", index, err)
	}
	if len(e.Items) > 0 {
		if err := l.records.Put(indexKey(listRecord, index), encodeItems(e.Items)); err != nil {
			return fmt.Errorf("write the list of entry %d: %w", index, err)
		}
	}
	return l.putHashes(index, hashes)
}

// putHashes writes the hashes that an entry completes.
func (l *Log) putHashes(index int64, hashes []tlog.Hash) error {
	first := tlog.StoredHashIndex(0, index)
	for i, hash := range hashes {
		if err := l.records.Put(indexKey(hashRecord, first+int64(i)), hash[:]); err != nil {
			return fmt.Errorf("write hash of entry %d: %w", index, err)
		}
	}
	return nil
}

// ReadHashes implements tlog.HashReader.
func (l *Log) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		hash, ok := l.hash(index)
		if !ok {
			return nil, tampered("hash %d is gone", index)
		}
		hashes[i] = hash
	}
	return hashes, nil
}

func (l *Log) hash(index int64) (hash tlog.Hash, ok bool) {
	v := l.records.Get(indexKey(hashRecord, index))
	if len(v) != tlog.HashSize {
		return hash, false
	}
	return tlog.Hash(v), true
}

// ErrNoEntry is returned for an entry that the log does not contain. ErrDropped is returned for an entry
// whose content the retention deleted.
var (
	ErrNoEntry = errors.New("the log has no such entry")
	ErrDropped = errors.New("the entry is older than the retention: only its hash is kept")
)

// Entry returns the entry at an index, with its state.
func (l *Log) Entry(index int64) (Entry, error) {
	h, err := l.Head()
	if err != nil {
		return Entry{}, err
	}
	return l.EntryAt(&h, index)
}

// EntryAt is like Entry, for a log whose head is h.
func (l *Log) EntryAt(h *Head, index int64) (Entry, error) {
	b, err := l.raw(index)
	if err != nil {
		return Entry{}, err
	}
	state := l.state(h, index, b)
	e, err := parseEntry(index, b)
	if err != nil && state != "" {
		e, err = Entry{Index: index, Kind: KindUnreadable}, nil
	}
	e.State = state
	return e, err
}

// state returns the state of an entry with the bytes b.
func (l *Log) state(h *Head, index int64, b []byte) State {
	found := tlog.RecordHash(b)
	switch leaf, _ := l.hash(tlog.StoredHashIndex(0, index)); {
	case leaf == unsignedLeaf(found):
		return StateUnproved
	case leaf != found:
		return StateEdited
	case !l.signs(h, index, b):
		return StateUnproved
	}
	return ""
}

// signs reports whether the head signs the entry at an index with the bytes b.
func (l *Log) signs(h *Head, index int64, b []byte) bool {
	if index >= h.Size {
		return false
	}
	path, err := tlog.ProveRecord(h.Size, index, l)
	return err == nil && tlog.CheckRecord(path, h.Size, h.Root, index, tlog.RecordHash(b)) == nil
}

func (l *Log) raw(index int64) ([]byte, error) {
	if b := l.records.Get(indexKey(entryRecord, max(index, 0))); b != nil && index >= 0 {
		return append([]byte(nil), b...), nil
	}
	h, err := l.Head()
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= h.Size {
		return nil, fmt.Errorf("entry %d: %w: it has %d entries", index, ErrNoEntry, h.Size)
	}
	return nil, fmt.Errorf("entry %d: %w", index, ErrDropped)
}

// Older returns the number of entries at the beginning of the log that are older than a time, which is the
// index of the first other entry. Entries that were dropped or edited count as older.
func (l *Log) Older(than time.Time) (int64, error) {
	h, err := l.Head()
	if errors.Is(err, ErrEmpty) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	i := int64(sort.Search(int(h.Size), func(i int) bool { return l.records.Get(indexKey(entryRecord, int64(i))) != nil }))
	for ; i < h.Size; i++ {
		b := l.records.Get(indexKey(entryRecord, i))
		if leaf, _ := l.hash(tlog.StoredHashIndex(0, i)); leaf != tlog.RecordHash(b) {
			continue
		}
		if e, err := parseEntry(i, b); err == nil && !e.Time.Before(than) {
			return i, nil
		}
	}
	return i, nil
}

// maxErased bounds the references of erased names in one entry.
const maxErased = 1000

// Drop deletes the content and the lists of the entries before an index, but never those of the last entry.
// Their hashes remain. It appends an entry that records the deletion and all records that the log accounts
// for, and one with the settled faults of the deleted entries.
func (l *Log) Drop(keys []Key, before int64, items [][]byte, now time.Time) error {
	h, err := l.current()
	if err != nil {
		return fmt.Errorf("drop old entries: %w", err)
	}
	before = min(before, h.Size)
	older, err := l.olderTexts()
	if err != nil {
		return fmt.Errorf("drop old entries: %w", err)
	}
	settled := l.settledBefore(before, now)
	v := l.verify(nil, nil)
	erased := slices.Collect(slices.Chunk(v.erased(), maxErased))
	if len(erased) == 0 {
		erased = [][]string{nil}
	}
	drops := []Entry{{Kind: KindDrop, Time: now, Data: Drop{before, older, erased[0]}, Items: items, Complete: true}}
	for _, more := range erased[1:] {
		drops = append(drops, Entry{Kind: KindDrop, Time: now, Data: Drop{Before: before, Erased: more}})
	}
	if _, err := l.Append(keys, append(drops, settled...)...); err != nil {
		return err
	}
	for _, kind := range []byte{entryRecord, listRecord} {
		var old [][]byte
		l.records.Walk([]byte{kind}, func(key, _ []byte) bool {
			if bytes.Compare(key, indexKey(kind, before)) >= 0 {
				return false
			}
			old = append(old, slices.Clone(key))
			return true
		})
		for _, key := range old {
			if err := l.records.Remove(key); err != nil {
				return fmt.Errorf("drop %s: %w", recordName(key), err)
			}
		}
	}
	return nil
}

// Rotate replaces the key of the log by another key with the same origin. It appends an entry that records
// the new key, and signs the head with both keys. The new key alone signs later heads.
func (l *Log) Rotate(old, next Key, now time.Time) error {
	switch from, to := old.Public(), next.Public(); {
	case from.Origin() != to.Origin():
		return fmt.Errorf("change the key of the log %s: the new key is for the log %s: make one with driftd audit key --new FILE --origin '%s'", from.Origin(), to.Origin(), from.Origin())
	case from.String() == to.String():
		return fmt.Errorf("change the key of the log %s: the new key is the one that it has", from.Origin())
	}
	_, err := l.Append([]Key{old, next}, Entry{Kind: KindKey, Time: now, Data: Rotation{old.Public().String(), next.Public().String()}})
	return err
}
