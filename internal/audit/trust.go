package audit

import (
	"fmt"
	"slices"
	"time"
)

// Trust is the data of an entry of KindTrust: a person examined the faults of the log and decided to
// continue it. The faults remain recorded.
type Trust struct {
	// By is the reference of the person.
	By     string `json:"by"`
	Reason string `json:"reason"`
	// Of is the index of the entry that this entry continues, or that it repeats because the retention
	// deletes it. It is nil for the first entry of a person's decision.
	Of *int64 `json:"of,omitempty"`
	// Doubt is the reason why the integrity of the log was in doubt, or "" if it was not.
	Doubt string `json:"doubt,omitempty"`
	// Faults are the faults that Verify found. More is the number of further faults.
	Faults []string `json:"faults"`
	More   int      `json:"more,omitempty"`
	// Lasting are the faults that remain and do not belong to one of the following fields, such as deleted
	// entries.
	Lasting []string `json:"lasting,omitempty"`
	// Edited are the entries whose content differs from the signed one. Unsigned are the entries that no
	// head covers. Neither can be proved.
	Edited   []Edited `json:"edited,omitempty"`
	Unsigned []Range  `json:"unsigned,omitempty"`
	// Heads are the witnessed heads of which the log is not an extension.
	Heads []SettledHead `json:"heads,omitempty"`
}

// An Edited identifies an entry that was edited, and the hash (RFC 6962) of its content when a person
// settled the edit.
type Edited struct {
	Index int64  `json:"index"`
	Hash  string `json:"hash"`
}

// A SettledHead identifies a witnessed head.
type SettledHead struct {
	Size int64  `json:"size"`
	Root string `json:"root"`
}

func settledHead(h *Head) SettledHead { return SettledHead{h.Size, h.Root.String()} }

// maxSettled bounds the bytes of the faults and heads that one entry settles. Further ones follow in
// entries of the same kind.
const maxSettled = 16 << 10

// Trust signs the log with its present content, and appends an entry with t, the faults of the log, and all
// records of the database. The caller sets By, Reason and Doubt of t, and may set Faults and More to those
// that were found before; if Faults is nil, Trust determines them. Entries that a head covers keep their
// hashes: an edit is settled, but not signed.
func (l *Log) Trust(keys []Key, t Trust, items [][]byte, witnessed []Witnessed, now time.Time) (Trust, error) {
	before := l.Verify(witnessed, nil)
	if t.Faults == nil {
		t.Faults, t.More = slices.Concat([]string{}, before.Faults), before.More
	}
	h, err := l.rebuild(before.Head, witnessed)
	if err == nil {
		err = h.sign(keys...)
	}
	if err == nil {
		err = l.records.Put([]byte{headRecord}, h.Note)
	}
	if err != nil {
		return t, fmt.Errorf("sign the audit log anew: %w", err)
	}
	signed := l.verify(witnessed, nil)
	for _, u := range signed.unmet {
		if head := settledHead(&u.Head); !slices.Contains(t.Heads, head) && !signed.settled.heads[head] {
			t.Heads = append(t.Heads, head)
		}
	}
	// Which faults remain shows when the entry is there; then it is written again, with them.
	if _, err := l.extend(h, keys, Entry{Kind: KindTrust, Time: now, Data: t, Items: items, Complete: true}); err != nil {
		return t, err
	}
	remaining := l.verify(nil, nil)
	t.settle(remaining.open())
	entries := t.entries(h.Size, now)
	entries[0].Items, entries[0].Complete = items, true
	_, err = l.extend(h, keys, entries...)
	return t, err
}

// settle adds faults that remain.
func (t *Trust) settle(faults []fault) {
	for _, f := range faults {
		switch {
		case f.edited != nil:
			t.Edited = append(t.Edited, *f.edited)
		case f.unsigned != nil:
			t.Unsigned = append(t.Unsigned, *f.unsigned)
		default:
			t.Lasting = append(t.Lasting, f.text)
		}
	}
}

// entries returns t as entries that are each small enough, the first one with the index first.
func (t *Trust) entries(first int64, now time.Time) []Entry {
	c := chunks{of: first, list: []Trust{*t}, room: maxSettled}
	c.list[0].Lasting, c.list[0].Edited, c.list[0].Unsigned, c.list[0].Heads = nil, nil, nil, nil
	for _, fault := range t.Lasting {
		to := c.next(len(fault))
		to.Lasting = append(to.Lasting, fault)
	}
	for _, e := range t.Edited {
		to := c.next(len(e.Hash) + rangeSize)
		to.Edited = append(to.Edited, e)
	}
	for _, r := range t.Unsigned {
		to := c.next(rangeSize)
		to.Unsigned = append(to.Unsigned, r)
	}
	for _, head := range t.Heads {
		to := c.next(len(head.Root) + rangeSize)
		to.Heads = append(to.Heads, head)
	}
	entries := make([]Entry, len(c.list))
	for i := range c.list {
		entries[i] = Entry{Kind: KindTrust, Time: now, Data: c.list[i]}
	}
	return entries
}

// rangeSize is about the number of bytes of two indexes in JSON with their names.
const rangeSize = 40

// chunks are a Trust in several entries. Those after the first continue the entry of.
type chunks struct {
	of   int64
	list []Trust
	room int
}

// next returns the last of the entries, which has room for size more bytes.
func (c *chunks) next(size int) *Trust {
	if c.room -= size; c.room < 0 {
		first, of := &c.list[0], c.of
		if first.Of != nil {
			of = *first.Of
		}
		c.list, c.room = append(c.list, Trust{By: first.By, Reason: first.Reason, Of: &of, Faults: []string{}}), maxSettled-size
	}
	return &c.list[len(c.list)-1]
}

// settledBefore returns as entries what the entries before an index settle: the record of the faults,
// and what of it the log still has.
func (l *Log) settledBefore(before int64, now time.Time) (entries []Entry) {
	v := l.verify(nil, nil)
	has := map[string]bool{}
	for i := range v.faults {
		has[v.faults[i].text] = true
	}
	for _, s := range v.settled.trusts {
		if s.index >= before {
			continue
		}
		t := s.Trust
		if t.Of == nil {
			t.Of = &s.index
		}
		t.Doubt = ""
		t.Lasting = slices.DeleteFunc(t.Lasting, func(fault string) bool { return !has[fault] })
		t.Edited = slices.DeleteFunc(t.Edited, func(e Edited) bool { return e.Index < before })
		t.Unsigned = slices.DeleteFunc(t.Unsigned, func(r Range) bool { return r.To <= before })
		if len(t.Faults)+len(t.Lasting)+len(t.Edited)+len(t.Unsigned)+len(t.Heads) > 0 {
			entries = append(entries, t.entries(*t.Of, now)...)
		}
	}
	return entries
}

// A settlement is what the trust entries of a log settle.
type settlement struct {
	trusts   []settledTrust
	faults   map[string]bool
	heads    map[SettledHead]bool
	edited   map[int64][]string
	unsigned []Range
}

// A settledTrust is the content of a trust entry.
type settledTrust struct {
	index int64
	Trust
}

func newSettlement() settlement {
	return settlement{faults: map[string]bool{}, heads: map[SettledHead]bool{}, edited: map[int64][]string{}}
}

func (s *settlement) add(index int64, t *Trust) {
	s.trusts = append(s.trusts, settledTrust{index, *t})
	for _, fault := range t.Lasting {
		s.faults[fault] = true
	}
	for _, e := range t.Edited {
		s.edited[e.Index] = append(s.edited[e.Index], e.Hash)
	}
	for _, head := range t.Heads {
		s.heads[head] = true
	}
	s.unsigned = append(s.unsigned, t.Unsigned...)
}

// covers reports whether a person settled a fault.
func (s *settlement) covers(f *fault) bool {
	switch {
	case f.edited != nil:
		return slices.Contains(s.edited[f.edited.Index], f.edited.Hash)
	case f.unsigned != nil:
		return s.covered(f.unsigned.From, f.unsigned.To)
	}
	return s.faults[f.text]
}

// covered reports whether the ranges of unsigned entries have all entries of another one.
func (s *settlement) covered(from, to int64) bool {
	for from < to {
		i := slices.IndexFunc(s.unsigned, func(r Range) bool { return r.From <= from && from < r.To })
		if i < 0 {
			return false
		}
		from = s.unsigned[i].To
	}
	return true
}

// recordsOf returns the faults that persons settled, with who settled them and the entry.
func (l *Log) recordsOf(s *settlement) (list []string) {
	for _, t := range s.trusts {
		entry := t.index
		if t.Of != nil {
			entry = *t.Of
		}
		who := ""
		if name, _ := l.Name(t.By); name != "" { // the reference, if the name was edited
			who = " by " + name
		}
		faults := t.Faults
		if len(faults) == 0 && t.Of == nil {
			faults = t.Lasting // as earlier versions continued an entry
		}
		if t.More > 0 {
			faults = append(slices.Clone(faults), fmt.Sprintf("and %d more", t.More))
		}
		for _, fault := range faults {
			list = append(list, fmt.Sprintf("%s (settled%s with entry %d)", fault, who, entry))
		}
	}
	return list
}
