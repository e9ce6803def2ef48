package audit

import (
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
	// heads that the log does not lead to. Verify reports them as settled.
	Lasting []string      `json:"lasting,omitempty"`
	Heads   []SettledHead `json:"heads,omitempty"`
}

// A SettledHead identifies a witnessed head.
type SettledHead struct {
	Size int64  `json:"size"`
	Root string `json:"root"`
}

func settledHead(h *Head) SettledHead { return SettledHead{h.Size, h.Root.String()} }

// Trust signs the log as it is now, and appends the entry t with the faults that the log had. By,
// Reason and Doubt of t are set, and Faults are those of what the log records, which last.
func (l *Log) Trust(keys []Key, t Trust, witnessed []Witnessed, now time.Time) (Trust, error) {
	before := l.Verify(witnessed)
	others := t.Faults
	t.Faults, t.More = slices.Concat([]string{}, before.Faults, others), before.More
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
	for _, w := range witnessed {
		if len(l.verify([]Witnessed{w}).faults) > len(l.verify(nil).faults) {
			t.Heads = append(t.Heads, settledHead(&w.Head))
		}
	}
	// Which faults remain shows when the entry is there; then it is written again, with them.
	if _, err := l.extend(h, keys, Entry{Kind: KindTrust, Time: now, Data: t}); err != nil {
		return t, err
	}
	t.Lasting = slices.Concat(l.verify(nil).faults, others)
	_, err = l.extend(h, keys, Entry{Kind: KindTrust, Time: now, Data: t})
	return t, err
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

func (l *Log) there(index int64) bool {
	_, hashed := l.hash(tlog.StoredHashIndex(0, index))
	return hashed || l.records.Get(indexKey(entryRecord, index)) != nil
}

// A settlement is what the trust entries of a log settle.
type settlement struct {
	faults []string
	heads  []SettledHead
}

func (s *settlement) add(t *Trust) {
	s.faults = append(s.faults, t.Lasting...)
	s.heads = append(s.heads, t.Heads...)
}

func (s *settlement) hasHead(h *Head) bool { return slices.Contains(s.heads, settledHead(h)) }
