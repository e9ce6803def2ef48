package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// A Witnessed is a head of the log that was kept outside of the database.
type Witnessed struct {
	// From is where it was kept, as people name it.
	From string
	Head Head
}

// maxFaults bounds the number of faults that a Report lists.
const maxFaults = 20

// A Report is the result of verifying a log.
type Report struct {
	// Head is the head of the log; its Size is 0 if the log is empty or has no valid head.
	Head Head
	// Dropped is the number of entries of which the retention left only the hash.
	Dropped int64
	// Faults are what differs from what was signed, the first ones; More is the number of others.
	Faults []string
	More   int
	// Backwards are the entries whose time is before that of the entry before them.
	Backwards []int64
}

// OK reports whether nothing was found.
func (r *Report) OK() bool { return len(r.Faults) == 0 }

func (r *Report) fault(format string, args ...any) {
	if len(r.Faults) == maxFaults {
		r.More++
		return
	}
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// Verify reads the whole log and compares it with its head and with witnessed heads.
func (l *Log) Verify(witnessed []Witnessed) Report {
	v := verifier{Log: l, heads: slices.Clone(witnessed), people: map[string]bool{}}
	slices.SortStableFunc(v.heads, func(a, b Witnessed) int { return int(min(max(a.Head.Size-b.Head.Size, -1), 1)) })
	head, err := l.Head()
	if changed := (*TamperedError)(nil); errors.As(err, &changed) {
		v.fault("%s", changed.What)
		return v.Report
	}
	v.Report.Head = head
	for i := range head.Size {
		v.entry(i)
	}
	v.end(head)
	return v.Report
}

type verifier struct {
	*Log
	Report

	// heads are the witnessed heads by size that were not compared yet.
	heads []Witnessed
	// subtrees are the roots of the complete subtrees over the entries read, by level. Only those
	// whose bit is set in the number of entries are valid.
	subtrees [63]tlog.Hash
	// wrong reports by level whether the subtree has a hash that differs from the stored one, and
	// was reported.
	wrong [63]bool
	gaps  []gap
	last  time.Time
	// droppedBefore is the index up to which the retention dropped entries, by their own record.
	droppedBefore int64
	// people are the references in entries; the value reports whether the name was erased.
	people map[string]bool
}

// A gap is a range of entries whose bytes are not there.
type gap struct{ from, to int64 }

// entry verifies the entry at index i, and the hashes that it completes.
func (v *verifier) entry(i int64) {
	leaf, stored := v.hash(tlog.StoredHashIndex(0, i))
	b := v.records.Get(indexKey(entryRecord, i))
	switch {
	case b == nil:
		v.missing(i)
	case !stored:
		v.fault("the hash of entry %d is gone", i)
		leaf = tlog.RecordHash(b)
	case leaf != tlog.RecordHash(b):
		v.fault("entry %d was edited", i)
	default:
		v.read(i, b)
	}
	v.grow(i, leaf)
	for len(v.heads) > 0 && v.heads[0].Head.Size <= i+1 {
		w := v.heads[0]
		v.heads = v.heads[1:]
		if w.Head.Size == i+1 && w.Head.Root != v.root(i+1) {
			v.fault("history before entry %d was rewritten: %s has another head", i+1, w.From)
		}
	}
}

func (v *verifier) missing(i int64) {
	if n := len(v.gaps); n > 0 && v.gaps[n-1].to == i {
		v.gaps[n-1].to++
		return
	}
	v.gaps = append(v.gaps, gap{i, i + 1})
}

// read checks the time of an entry, and reads what it records about the log itself.
func (v *verifier) read(i int64, b []byte) {
	e, err := parseEntry(i, b)
	if err != nil {
		v.fault("%v", err)
		return
	}
	if e.Time.Before(v.last) {
		v.Backwards = append(v.Backwards, i)
	}
	v.last = e.Time
	for _, person := range refs(b) {
		v.people[person] = v.people[person]
	}
	var d struct {
		Drop
		Erase
	}
	raw, ok := e.Data.(json.RawMessage)
	if !ok || (e.Kind != KindDrop && e.Kind != KindErase) || json.Unmarshal(raw, &d) != nil {
		return
	}
	if e.Kind == KindErase {
		v.people[d.Person] = true
	}
	v.droppedBefore = max(v.droppedBefore, d.Before)
}

// grow adds the leaf of entry i to the subtrees, and compares the hashes that it completes with
// the stored ones.
func (v *verifier) grow(i int64, hash tlog.Hash) {
	level, wrong := 0, false
	for ; i>>level&1 == 1; level++ {
		hash, wrong = tlog.NodeHash(v.subtrees[level], hash), wrong || v.wrong[level]
		first := i >> (level + 1) << (level + 1)
		stored, ok := v.hash(tlog.StoredHashIndex(level+1, i>>(level+1)))
		switch {
		case wrong || stored == hash:
		case !ok:
			v.fault("the hash over the entries %d to %d is gone", first, i)
			wrong = true
		default:
			v.fault("the hash over the entries %d to %d was edited, or one of them together with its hash", first, i)
			wrong = true
		}
	}
	v.subtrees[level], v.wrong[level] = hash, wrong
}

// root returns the root of the tree over the first n entries, which are those read.
func (v *verifier) root(n int64) tlog.Hash {
	var root tlog.Hash
	first := true
	for level := range v.subtrees {
		switch {
		case n>>level&1 == 0:
		case first:
			root, first = v.subtrees[level], false
		default:
			root = tlog.NodeHash(v.subtrees[level], root)
		}
	}
	return root
}

// end compares the log as a whole with its head.
func (v *verifier) end(head Head) {
	for _, g := range v.gaps {
		kept := max(g.from, v.droppedBefore)
		v.Dropped += min(g.to, kept) - g.from
		switch {
		case g.to <= kept:
		case g.to == head.Size:
			v.fault("the head signs %d entries, %d are there", head.Size, kept)
		case g.to-kept == 1:
			v.fault("entry %d is gone", kept)
		default:
			v.fault("the entries %d to %d are gone", kept, g.to-1)
		}
	}
	if v.records.Get(indexKey(entryRecord, head.Size)) != nil {
		v.fault("entry %d is there but was not signed", head.Size)
	}
	if head.Size > 0 && v.root(head.Size) != head.Root {
		v.fault("the tree of %d entries is not the one that was signed", head.Size)
	}
	for _, person := range slices.Sorted(maps.Keys(v.people)) {
		name, err := v.Name(person)
		switch {
		case err != nil:
			v.fault("the name of %s was edited", person)
		case name == person && !v.people[person]:
			v.fault("the name of %s is gone, and no entry records that it was erased", person)
		}
	}
	for _, w := range v.heads {
		if w.Head.Size > head.Size {
			v.fault("%s saw %d entries, %d are there: the database is an older copy, or entries were removed", w.From, w.Head.Size, head.Size)
		}
	}
}
