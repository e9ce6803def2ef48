package audit

import (
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// checkRecords reports the records that are not part of a log of size entries, such as those after
// its end, which a later entry would meet.
func (v *verifier) checkRecords(size int64) {
	names := map[string]bool{}
	v.records.Walk(nil, func(key, value []byte) bool {
		switch {
		case len(key) == 0:
		case key[0] == nameRecord:
			names[string(key)] = true
			return true
		case key[0] == personRecord && v.holds(string(key[1:]), string(value)):
			delete(names, string(personKey(nameRecord, string(value))))
			return true
		case key[0] == personRecord:
			v.persons = append(v.persons, slices.Clone(key))
			return true
		case v.belongs(key, size):
			return true
		}
		v.strays = append(v.strays, slices.Clone(key))
		return true
	})
	for name := range names {
		v.persons = append(v.persons, []byte(name))
	}
	switch n := len(v.strays); n {
	case 0:
	case 1:
		v.fault("%s is there but was not signed", recordName(v.strays[0]))
	default:
		v.fault("%s is there but was not signed, and %d more records", recordName(v.strays[0]), n-1)
	}
}

// belongs reports whether a record with the key, which is not that of a person, can be part of a log
// of size entries.
func (v *verifier) belongs(key []byte, size int64) bool {
	index, ok := indexOf(key)
	switch key[0] {
	case headRecord:
		return len(key) == 1
	case entryRecord:
		return ok && index < size
	case hashRecord:
		return ok && index < tlog.StoredHashCount(size)
	case listRecord:
		return ok && index < size && !v.listless[index] && (index >= v.droppedBefore || v.records.Get(indexKey(entryRecord, index)) != nil)
	}
	return false
}

func indexOf(key []byte) (index int64, ok bool) {
	if len(key) != 9 {
		return 0, false
	}
	index = int64(binary.BigEndian.Uint64(key[1:]))
	return index, index >= 0
}

// recordName returns the name of a record in a fault.
func recordName(key []byte) string {
	index, ok := indexOf(key)
	switch {
	case ok && key[0] == entryRecord:
		return fmt.Sprintf("entry %d", index)
	case ok && key[0] == hashRecord:
		return fmt.Sprintf("hash %d", index)
	case ok && key[0] == listRecord:
		return fmt.Sprintf("a list of entry %d", index)
	}
	return fmt.Sprintf("the record %.40q", key)
}

// RemoveStrays deletes the records that are not part of the log.
func (l *Log) RemoveStrays() error {
	v := l.verify(nil, nil)
	for _, key := range v.strays {
		if err := l.records.Remove(key); err != nil {
			return fmt.Errorf("remove %s: %w", recordName(key), err)
		}
	}
	return nil
}
