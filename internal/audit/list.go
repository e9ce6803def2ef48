package audit

import (
	"encoding/binary"

	"golang.org/x/mod/sumdb/tlog"
)

// A List identifies the records of the database that an entry accounts for. The entry contains the root of
// the list. The list itself is stored separately and is not part of the log.
type List struct {
	Count int `json:"count"`
	// Root is the Merkle tree hash (RFC 6962) of the items in their order, in base64.
	Root string `json:"root"`
	// Complete reports whether the items are all records, instead of only those that changed.
	Complete bool `json:"complete,omitempty"`
}

func (e *Entry) list() *List {
	if len(e.Items) == 0 && !e.Complete {
		return nil
	}
	return &List{len(e.Items), root(e.Items), e.Complete}
}

func root(items [][]byte) string {
	v := verifier{}
	for i, item := range items {
		v.push(int64(i), tlog.RecordHash(item), func(int, int64, tlog.Hash) {})
	}
	return v.root(int64(len(items))).String()
}

// Items returns the records that an entry accounts for. It returns a *TamperedError if they do not match
// the list in the entry.
func (l *Log) Items(e *Entry) ([][]byte, error) {
	if e.List == nil || e.List.Count == 0 {
		return nil, nil
	}
	b := l.records.Get(indexKey(listRecord, e.Index))
	if b == nil {
		return nil, tampered("the list of entry %d is gone", e.Index)
	}
	items, ok := decodeItems(b)
	if !ok || len(items) != e.List.Count || root(items) != e.List.Root {
		return nil, tampered("the list of entry %d was edited", e.Index)
	}
	return items, nil
}

// IsList reports whether a record with the key is the list of an entry.
func IsList(key []byte) bool { return len(key) > 0 && key[0] == listRecord }

// encodeItems returns the items, each after its length.
func encodeItems(items [][]byte) []byte {
	var b []byte
	for _, item := range items {
		b = append(binary.AppendUvarint(b, uint64(len(item))), item...)
	}
	return b
}

func decodeItems(b []byte) (items [][]byte, ok bool) {
	for len(b) > 0 {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, false
		}
		items, b = append(items, b[n:n+int(size)]), b[n+int(size):]
	}
	return items, true
}
