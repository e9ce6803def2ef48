package audit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// A Witnessed is a head of the log that was kept outside of the database.
type Witnessed struct {
	// From is the name of the witness, for display.
	From string
	Head Head
}

// differs returns the fault that the log does not lead to the head; text is that for a signed one.
func (w *Witnessed) differs(format string, args ...any) unmet {
	if w.Head.Unsigned {
		return unmet{*w, fmt.Sprintf("%s has a head of %d entries of the log %.100s, which no key of this log signed, and to which it does not lead: the log was begun anew with another key, or someone added the head there",
			w.From, w.Head.Size, w.Head.Origin)}
	}
	return unmet{*w, fmt.Sprintf(format, args...)}
}

// maxFaults bounds the number of faults that a Report lists.
const maxFaults = 20

// A Report is the result of verifying a log.
type Report struct {
	// Head is the head of the log. Its Size is 0 if the log is empty or has no valid head.
	Head Head
	// Dropped is the number of entries whose content the retention deleted.
	Dropped int64
	// Faults are the differences from the signed log, up to a maximum number. More is the number of the
	// others.
	Faults []string
	More   int
	// Settled are all faults that persons settled, with the person and the entry that records it; see
	// Trust.
	Settled []string
	// Backwards are the indices of the entries whose time precedes that of the entry before them.
	Backwards []int64

	// settled are the faults that a person settled, whether or not they are there.
	settled map[string]bool
	// erased are the references whose names were erased.
	erased map[string]bool
}

// OK reports whether there are no faults other than settled ones.
func (r *Report) OK() bool { return len(r.Faults) == 0 }

// Verify reads the whole log and compares it with its head and with witnessed heads. If visit is not nil,
// Verify calls it for each entry in order, with Items set, and with nil for an entry that is missing or was
// edited.
func (l *Log) Verify(witnessed []Witnessed, visit func(*Entry)) Report {
	v := l.verify(witnessed, visit)
	r := v.Report
	r.settled, r.Settled = v.settled.faults, l.recordsOf(&v.settled)
	for _, f := range v.open() {
		r.add(f.text)
	}
	r.erased = v.people
	return r
}

// Add adds faults in the content of the log, unless a person settled them.
func (r *Report) Add(faults ...string) {
	for _, fault := range faults {
		if !r.settled[fault] {
			r.add(fault)
		}
	}
}

func (r *Report) add(fault string) {
	if len(r.Faults) == maxFaults {
		r.More++
		return
	}
	r.Faults = append(r.Faults, fault)
}

func (l *Log) verify(witnessed []Witnessed, visit func(*Entry)) verifier {
	v := verifier{Log: l, heads: slices.Clone(witnessed), people: map[string]bool{}, settled: newSettlement()}
	slices.SortStableFunc(v.heads, func(a, b Witnessed) int { return cmp.Compare(a.Head.Size, b.Head.Size) })
	head, err := l.Head()
	if changed := (*TamperedError)(nil); errors.As(err, &changed) {
		v.fault("%s", changed.What)
		return v
	}
	v.Report.Head = head
	for i := range head.Size {
		e := v.entry(i)
		if visit != nil {
			visit(e)
		}
	}
	v.end(head)
	v.witnesses(head)
	return v
}

type verifier struct {
	*Log
	Report

	faults []fault
	// settled is what trust entries settle.
	settled settlement
	// unmet are the witnessed heads that the log does not lead to, with the faults.
	unmet []unmet
	// heads are the witnessed heads by size that were not compared yet.
	heads []Witnessed
	// subtrees are the roots of the complete subtrees over the entries read, by level. Only those
	// whose bit is set in the number of entries are valid.
	subtrees [63]tlog.Hash
	// wrong reports by level whether the subtree has a hash that differs from the stored one, and
	// was reported.
	wrong [63]bool
	gaps  []gap
	// unproved are the entries whose bytes the head does not sign, by their leaves, in order.
	unproved []int64
	last     time.Time
	// droppedBefore is the index up to which the retention dropped entries, by their own record.
	droppedBefore int64
	// people are the references in entries; the value reports whether the name was erased.
	people map[string]bool
	// listless reports of each entry whether it has no list. strays are the keys of the records that
	// are not part of the log, and persons those of persons that do not fit together.
	listless        []bool
	strays, persons [][]byte
}

// A fault is a difference from what was signed.
type fault struct {
	text string
	// edited is the entry that was edited, and unsigned the entries that no head leads to; nil for
	// other faults.
	edited   *Edited
	unsigned *Range
}

// open returns the faults that no person settled.
func (v *verifier) open() (faults []fault) {
	for i := range v.faults {
		f := v.faults[i]
		if v.settled.covers(&f) {
			continue
		}
		if f.edited != nil && len(v.settled.edited[f.edited.Index]) > 0 {
			f.text = fmt.Sprintf("entry %d was edited again", f.edited.Index)
		}
		faults = append(faults, f)
	}
	return faults
}

type unmet struct {
	Witnessed
	fault string
}

func (v *verifier) fault(format string, args ...any) {
	v.faults = append(v.faults, fault{text: fmt.Sprintf(format, args...)})
}

// differs adds the fault of an entry whose bytes are not those that the leaf stands for, and returns it.
// Entries in a row that no head leads to are one fault.
func (v *verifier) differs(i int64, leaf tlog.Hash, b []byte) *fault {
	v.unproved = append(v.unproved, i)
	found := tlog.RecordHash(b)
	if leaf != unsignedLeaf(found) {
		v.faults = append(v.faults, fault{text: fmt.Sprintf("entry %d was edited", i), edited: &Edited{i, found.String()}})
		return &v.faults[len(v.faults)-1]
	}
	if n := len(v.faults); n > 0 {
		if last := &v.faults[n-1]; last.unsigned != nil && last.unsigned.To == i {
			last.unsigned.To++
			last.text = fmt.Sprintf("no signed head leads to the entries %d to %d", last.unsigned.From, i)
			return last
		}
	}
	v.faults = append(v.faults, fault{text: fmt.Sprintf("no signed head leads to entry %d", i), unsigned: &Range{i, i + 1}})
	return &v.faults[len(v.faults)-1]
}

// A gap is a range of entries whose bytes are not there.
type gap struct{ from, to int64 }

// entry verifies the entry at index i, and the hashes that it completes. It returns nil unless the
// entry is the one that its hash stands for.
func (v *verifier) entry(i int64) (e *Entry) {
	leaf, stored := v.hash(tlog.StoredHashIndex(0, i))
	b := v.records.Get(indexKey(entryRecord, i))
	switch {
	case b == nil:
		v.missing(i)
	case !stored:
		v.fault("the hash of entry %d is gone", i)
		leaf = tlog.RecordHash(b)
	case leaf != tlog.RecordHash(b):
		v.differs(i, leaf, b)
	default:
		e = v.read(i, b)
	}
	v.listless = append(v.listless, e != nil && e.List == nil)
	v.list(e)
	v.grow(i, leaf)
	for len(v.heads) > 0 && v.heads[0].Head.Size <= i+1 {
		w := v.heads[0]
		v.heads = v.heads[1:]
		if w.Head.Size == i+1 && w.Head.Root != v.root(i+1) {
			v.unmet = append(v.unmet, w.differs("history before entry %d was rewritten: %s has another head", i+1, w.From))
		}
	}
	return e
}

// list reads the list of an entry into its Items. One that was edited or is gone is a fault, also if a
// complete list follows.
func (v *verifier) list(e *Entry) {
	if e == nil {
		return
	}
	var err error
	if e.Items, err = v.Items(e); err != nil {
		changed := (*TamperedError)(nil)
		errors.As(err, &changed)
		v.fault("%s", changed.What)
	}
}

func (v *verifier) missing(i int64) {
	if n := len(v.gaps); n > 0 && v.gaps[n-1].to == i {
		v.gaps[n-1].to++
		return
	}
	v.gaps = append(v.gaps, gap{i, i + 1})
}

// maxWait is how much older an entry may be than the one before it: its time was taken before it waited for the
// transaction of the other.
const maxWait = 10 * time.Second

// read checks the time of an entry, and reads what it records about the log itself.
func (v *verifier) read(i int64, b []byte) *Entry {
	e, err := parseEntry(i, b)
	if err != nil {
		v.fault("%v", err)
		return nil
	}
	if e.Time.Before(v.last.Add(-maxWait)) {
		v.Backwards = append(v.Backwards, i)
	}
	v.last = e.Time
	raw, ok := e.Data.(json.RawMessage)
	if !ok {
		return &e
	}
	for _, person := range refs(raw) {
		if _, ok := v.people[person]; !ok {
			v.people[person] = false
		}
	}
	if e.Kind == KindDrop || e.Kind == KindErase || e.Kind == KindTrust {
		v.note(&e, b, raw)
	}
	return &e
}

// note reads an entry about the log itself, if the head signs it: an entry that was forged with its hash
// must not settle the faults that this makes.
func (v *verifier) note(e *Entry, b []byte, raw json.RawMessage) {
	var d struct {
		Drop
		Trust
		Person string
	}
	if !v.signs(&v.Report.Head, e.Index, b) || json.Unmarshal(raw, &d) != nil {
		return
	}
	for _, person := range d.Erased {
		v.people[person] = true
	}
	switch e.Kind {
	case KindDrop:
		v.droppedBefore = max(v.droppedBefore, d.Before)
	case KindErase:
		v.people[d.Person] = true
	case KindTrust:
		v.settled.add(e.Index, &d.Trust)
	}
}

// grow adds the leaf of entry i to the subtrees, and compares the hashes that it completes with
// the stored ones. Of the hashes above a wrong one, none is compared.
func (v *verifier) grow(i int64, leaf tlog.Hash) {
	wrong := false
	last := v.push(i, leaf, func(level int, n int64, hash tlog.Hash) {
		wrong = wrong || v.wrong[level-1]
		if wrong {
			return
		}
		stored, ok := v.hash(tlog.StoredHashIndex(level, n))
		wrong = !ok || stored != hash
		switch {
		case !ok:
			v.fault("the hash over the entries %d to %d is gone", n<<level, i)
		case wrong:
			v.fault("the hash over the entries %d to %d was edited, or one of them together with its hash", n<<level, i)
		}
	})
	v.wrong[last] = wrong
}

// push adds leaf i to the subtrees. It calls completed with the level, the index in the level and
// the hash of each subtree that the leaf completes, and returns the level of the last one.
func (v *verifier) push(i int64, hash tlog.Hash, completed func(level int, n int64, hash tlog.Hash)) int {
	level := 0
	for i>>level&1 == 1 {
		hash = tlog.NodeHash(v.subtrees[level], hash)
		level++
		completed(level, i>>level, hash)
	}
	v.subtrees[level] = hash
	return level
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
	v.checkRecords(head.Size)
	if head.Size > 0 && v.root(head.Size) != head.Root {
		v.fault("the tree of %d entries is not the one that was signed", head.Size)
	}
	v.checkPeople()
}

// witnesses reports the witnessed heads that the log does not lead to.
func (v *verifier) witnesses(head Head) {
	for _, w := range v.heads {
		if w.Head.Size > head.Size {
			v.unmet = append(v.unmet, w.differs("%s saw %d entries, %d are there: the database is an older copy, or entries were removed", w.From, w.Head.Size, head.Size))
		}
	}
	for _, u := range v.unmet {
		if !v.settled.heads[settledHead(&u.Head)] {
			v.fault("%s", u.fault)
		}
	}
}
