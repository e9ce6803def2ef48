package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// Trust is the data of an entry of KindTrust: a person looked into the faults of the log, and lets
// it continue as it is. The faults stay on record.
type Trust struct {
	// By is the reference of the person.
	By     string `json:"by"`
	Reason string `json:"reason"`
	// Doubt is why the log was in doubt; "" if it was not.
	Doubt string `json:"doubt,omitempty"`
	// Faults are the faults that Verify found, and More the number of those that it did not list.
	Faults []string `json:"faults"`
	More   int      `json:"more,omitempty"`
	// Lasting are the faults that remain, such as entries that are gone, and Heads the witnessed
	// heads that the log does not lead to. Verify reports them as settled. Entries that only have
	// these continue the one before, or stand for older ones that were dropped.
	Lasting []string      `json:"lasting,omitempty"`
	Heads   []SettledHead `json:"heads,omitempty"`
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

// Trust signs the log as it is now, and appends the entry t with the faults that the log had, and
// all records that the database has. By, Reason and Doubt of t are set, and Faults are those of what
// the log records.
func (l *Log) Trust(keys []Key, t Trust, items [][]byte, witnessed []Witnessed, now time.Time) (Trust, error) {
	before := l.Verify(witnessed, nil)
	before.Add(t.Faults...)
	t.Faults, t.More = slices.Concat([]string{}, before.Faults), before.More
	h, err := l.rebuild(before.Head.Size)
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
	t.Lasting = remaining.open()
	entries := t.entries(now)
	entries[0].Items, entries[0].Complete = items, true
	_, err = l.extend(h, keys, entries...)
	return t, err
}

// entries returns t as entries that are each small enough.
func (t *Trust) entries(now time.Time) []Entry {
	first := *t
	first.Lasting, first.Heads = nil, nil
	list := []Trust{first}
	room := maxSettled
	for _, fault := range t.Lasting {
		last := next(&list, &room, len(fault))
		last.Lasting = append(last.Lasting, fault)
	}
	for _, head := range t.Heads {
		last := next(&list, &room, len(head.Root))
		last.Heads = append(last.Heads, head)
	}
	entries := make([]Entry, len(list))
	for i := range list {
		entries[i] = Entry{Kind: KindTrust, Time: now, Data: list[i]}
	}
	return entries
}

// next returns the last of the entries that has room for size more bytes.
func next(list *[]Trust, room *int, size int) *Trust {
	last := &(*list)[len(*list)-1]
	if *room -= size; *room < 0 {
		*list, *room = append(*list, Trust{By: last.By, Reason: last.Reason, Faults: []string{}}), maxSettled-size
		last = &(*list)[len(*list)-1]
	}
	return last
}

// settledBefore returns as entries what the entries before an index settle and still matters: heads,
// and faults that the log has.
func (l *Log) settledBefore(before int64, now time.Time) (entries []Entry) {
	has := map[string]bool{}
	for _, fault := range l.Verify(nil, nil).Settled {
		has[fault] = true
	}
	for i := range before {
		b := l.records.Get(indexKey(entryRecord, i))
		if !ofKind(b, KindTrust) {
			continue
		}
		var t Trust
		e, err := parseEntry(i, b)
		if raw, ok := e.Data.(json.RawMessage); err != nil || !ok || json.Unmarshal(raw, &t) != nil {
			continue // an edited entry settles nothing
		}
		t.Lasting = slices.DeleteFunc(t.Lasting, func(fault string) bool { return !has[fault] })
		if len(t.Lasting)+len(t.Heads) > 0 {
			t.Faults, t.More = []string{}, 0
			entries = append(entries, t.entries(now)...)
		}
	}
	return entries
}

// rebuild writes the hashes over the entries as they are. The log has at least size entries; those
// that follow them become part of it. A missing entry is represented by its hash, if that is there.
func (l *Log) rebuild(size int64) (Head, error) {
	for l.there(size) {
		size++
	}
	for i := range size {
		leaf, _ := l.hash(tlog.StoredHashIndex(0, i))
		if b := l.records.Get(indexKey(entryRecord, i)); b != nil {
			leaf = tlog.RecordHash(b)
			if err := l.keep(i, append([]byte(nil), b...)); err != nil {
				return Head{}, fmt.Errorf("write entry %d: %w", i, err)
			}
		}
		hashes, err := tlog.StoredHashesForRecordHash(i, leaf, l)
		if err != nil {
			return Head{}, fmt.Errorf("hash entry %d: %w", i, err)
		}
		if err := l.putHashes(i, hashes); err != nil {
			return Head{}, err
		}
	}
	root, err := tlog.TreeHash(size, l)
	return Head{Origin: l.key.Origin(), Size: size, Root: root}, err
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

func (l *Log) there(index int64) bool {
	_, hashed := l.hash(tlog.StoredHashIndex(0, index))
	return hashed || l.records.Get(indexKey(entryRecord, index)) != nil
}

// A settlement is what the trust entries of a log settle.
type settlement struct {
	faults map[string]bool
	heads  map[SettledHead]bool
}

func (s *settlement) add(t *Trust) {
	for _, fault := range t.Lasting {
		s.faults[fault] = true
	}
	for _, head := range t.Heads {
		s.heads[head] = true
	}
}
