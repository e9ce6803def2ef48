package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
)

func TestPeople(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	m := memory{}
	l := New(m, key.Public())
	ref, err := l.Ref("alice")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := l.Ref("alice"); again != ref || err != nil {
		t.Errorf("%s, then %s, %v", ref, again, err)
	}
	if none, err := l.Ref(""); none != "" || err != nil {
		t.Errorf("the empty name: %q, %v", none, err)
	}
	if _, err := l.Append([]Key{key}, Entry{Kind: KindDecision, Data: remark{"leave it", ref}}); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		e, err := l.Entry(0)
		if err == nil {
			e, err = l.Named(e)
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := read(); got != `{"by":"alice","text":"leave it"}` {
		t.Error(got)
	}

	edited := maps.Clone(m)
	edited[string(personKey(personRecord, ref))] = []byte("mallory")
	if r := New(edited, key.Public()).Verify(nil, nil); len(r.Faults) != 1 || r.Faults[0] != "the name of "+ref+" was edited" {
		t.Errorf("edited name: %q", r.Faults)
	}
	removed := maps.Clone(m)
	delete(removed, string(personKey(personRecord, ref)))
	if r := New(removed, key.Public()).Verify(nil, nil); len(r.Faults) != 1 || !strings.HasPrefix(r.Faults[0], "the name of "+ref+" is gone") {
		t.Errorf("removed name: %q", r.Faults)
	}

	named := maps.Clone(m)
	erased, err := l.Erase("alice")
	if err != nil || erased != ref {
		t.Fatal(erased, err)
	}
	if r := l.Verify(nil, nil); len(r.Faults) != 1 || !strings.HasPrefix(r.Faults[0], "the name of "+ref+" is gone") {
		t.Errorf("erased without an entry: %q", r.Faults)
	}
	if _, err := l.Append([]Key{key}, Entry{Kind: KindErase, Data: Erase{Person: ref}}); err != nil {
		t.Fatal(err)
	}
	if got := read(); got != `{"by":"`+ref+`","text":"leave it"}` {
		t.Error(got)
	}
	for k, v := range m {
		if strings.Contains(k, "alice") || bytes.Contains(v, []byte("alice")) {
			t.Errorf("%q still has the name: %s", k, v)
		}
	}
	if r := l.Verify(nil, nil); !r.OK() {
		t.Errorf("erased: %q", r.Faults)
	}
	if _, err := l.Erase("alice"); !errors.Is(err, ErrNoPerson) {
		t.Errorf("erase again: %v", err)
	}
	if again, err := l.Ref(ref); again != ref || err != nil {
		t.Errorf("the reference of an erased name: %s, %v", again, err)
	}
	returned := maps.Clone(m)
	maps.Copy(returned, map[string][]byte{string(personKey(personRecord, ref)): []byte("alice"), "nalice": named["nalice"]})
	mend(t, key, returned, "the name of "+ref+" was erased, and is there again")
	forgotten := maps.Clone(m)
	delete(forgotten, string(personKey(personRecord, ref)))
	mend(t, key, forgotten, "the record that the name of "+ref+" was erased is gone")
	// The retention drops the entry about the name, and the log still records that it was erased.
	grow(t, l, key, 3)
	if err := l.Drop([]Key{key}, 4, nil, time.Unix(1_900_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	if r := l.Verify(nil, nil); !r.OK() || !r.Erased(ref) || l.Matches(ref, "mallory", true) || !l.Matches(ref, ref, true) {
		t.Errorf("dropped: %+v", r)
	}
}

// mend checks the fault of records of persons, and that it is gone after they were mended.
func mend(t *testing.T, key Key, m memory, fault string) {
	t.Helper()
	l := New(m, key.Public())
	if r := l.Verify(nil, nil); len(r.Faults) != 1 || r.Faults[0] != fault {
		t.Errorf("%q, want %s", r.Faults, fault)
	}
	if err := l.MendPeople(); err != nil {
		t.Fatal(err)
	}
	if r := l.Verify(nil, nil); !r.OK() {
		t.Errorf("mended: %q", r.Faults)
	}
}

// References that no entry has are verified too: after a drop, stored decisions have them.
func TestUnusedReferences(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	whole, l := filled(t, key, 3)
	for _, name := range []string{"alice", "bob", strings.Repeat("long", 1000)} {
		if _, err := l.Ref(name); err != nil {
			t.Fatal(err)
		}
	}
	if r := l.Verify(nil, nil); !r.OK() {
		t.Fatalf("%q", r.Faults)
	}
	alice, err := l.Ref("alice")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(memory){
		"other salt":    func(m memory) { m["nalice"] = make([]byte, saltSize) },
		"other name":    func(m memory) { m["p"+alice] = []byte("mallory") },
		"name gone":     func(m memory) { delete(m, "p"+alice) },
		"salt gone":     func(m memory) { delete(m, "nalice") },
		"not erased":    func(m memory) { m["p"+alice], m["nalice"] = []byte{}, nil; delete(m, "nalice") },
		"added name":    func(m memory) { m["nmallory"] = make([]byte, saltSize) },
		"added":         func(m memory) { m["p"+refPrefix+"AAAA"] = []byte("bob") },
		"added, erased": func(m memory) { m["p"+refPrefix+"AAAA"] = []byte{} },
	} {
		m := maps.Clone(whole)
		change(m)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mend(t, key, m, "the reference of a person was edited")
		})
	}
}

// No record that is not part of the log is unseen, wherever it is.
func TestStrayRecords(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, test := range map[string]struct {
		key, want string
		// appends reports whether the log is continued nevertheless.
		appends bool
	}{
		"after the end":  {string(indexKey(entryRecord, 12)), "entry 12 is there but was not signed", false},
		"far away":       {string(indexKey(entryRecord, 1<<40)), "entry 1099511627776 is there but was not signed", false},
		"hash":           {string(indexKey(hashRecord, 99)), "hash 99 is there but was not signed", false},
		"list":           {string(indexKey(listRecord, 11)), "a list of entry 11 is there but was not signed", false},
		"list of none":   {string(indexKey(listRecord, 5)), "a list of entry 5 is there but was not signed", true},
		"list of before": {string(indexKey(listRecord, 1)), "a list of entry 1 is there but was not signed", true},
		"longer key":     {string(indexKey(entryRecord, 5)) + "x", `the record "e\x00\x00\x00\x00\x00\x00\x00\x05x" is there but was not signed`, true},
		"another head":   {"tx", `the record "tx" is there but was not signed`, true},
		"other kind":     {"zzz", `the record "zzz" is there but was not signed`, true},
	} {
		m, l := filled(t, key, 10)
		if err := l.Drop([]Key{key}, 3, nil, time.Unix(1_900_000_000, 0)); err != nil {
			t.Fatal(err)
		}
		m[test.key] = []byte("driftd/v1 scan{}")
		if r := l.Verify(nil, nil); len(r.Faults) != 1 || r.Faults[0] != test.want {
			t.Errorf("%s: %q, want %s", name, r.Faults, test.want)
		}
		if _, err := l.Append([]Key{key}, noted(0)); (err == nil) != test.appends {
			t.Errorf("%s: append: %v", name, err)
		}
		if err := l.RemoveStrays(); err != nil {
			t.Fatal(err)
		}
		if r := l.Verify(nil, nil); !r.OK() {
			t.Errorf("%s: removed: %q", name, r.Faults)
		}
	}
}

// Any number of erased names fits into the entries that the retention leaves.
func TestManyErasedNames(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	m := memory{}
	l := New(m, key.Public())
	const names = 2*maxErased + 1
	entries := make([]Entry, names)
	var last string
	for i := range entries {
		name := fmt.Sprint("name ", i)
		if _, err := l.Ref(name); err != nil {
			t.Fatal(err)
		}
		var err error
		if last, err = l.Erase(name); err != nil {
			t.Fatal(err)
		}
		entries[i] = Entry{Kind: KindErase, Data: Erase{Person: last}}
	}
	if _, err := l.Append([]Key{key}, entries...); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Drop([]Key{key}, head(t, l).Size, nil, time.Unix(1_900_000_000, 0)); err != nil {
			t.Fatal(err)
		}
		if r := l.Verify(nil, nil); !r.OK() || !r.Erased(last) {
			t.Errorf("%q", r.Faults)
		}
	}
}
