package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"
)

type memory map[string][]byte

func (m memory) Get(key []byte) []byte { return m[string(key)] }

func (m memory) Put(key, value []byte) error {
	m[string(key)] = bytes.Clone(value)
	return nil
}

func (m memory) Remove(key []byte) error {
	delete(m, string(key))
	return nil
}

func (m memory) Walk(from []byte, visit func(key, value []byte) bool) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key >= string(from) && !visit([]byte(key), m[key]) {
			return
		}
	}
}

type remark struct {
	Text string `json:"text"`
	By   string `json:"by,omitempty"`
}

func newKey(t testing.TB) Key {
	t.Helper()
	text, err := GenerateKey("test.example/log")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func noted(i int) Entry {
	return Entry{Kind: KindScan, Time: time.Unix(1_800_000_000+int64(i), 0), Data: remark{Text: fmt.Sprint("number ", i)}}
}

// filled returns a log of n entries.
func filled(t testing.TB, key Key, n int) (memory, *Log) {
	t.Helper()
	m := memory{}
	l := New(m, key.Public())
	grow(t, l, key, n)
	return m, l
}

func grow(t testing.TB, l *Log, key Key, n int) {
	t.Helper()
	entries := make([]Entry, n)
	for i := range entries {
		entries[i] = noted(i)
	}
	if _, err := l.Append([]Key{key}, entries...); err != nil {
		t.Fatal(err)
	}
}

func head(t testing.TB, l *Log) Head {
	t.Helper()
	h, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// edit replaces the entry and the hashes above it up to a level, as an editor without the key can.
func edit(m memory, index int64, text string, levels int) {
	b := bytes.Replace(m.Get(indexKey(entryRecord, index)), []byte("number"), []byte(text), 1)
	m[string(indexKey(entryRecord, index))] = b
	hash := tlog.RecordHash(b)
	for level := range levels {
		m[string(indexKey(hashRecord, tlog.StoredHashIndex(level, index>>level)))] = bytes.Clone(hash[:])
		l := Log{records: m}
		left, ok := l.hash(tlog.StoredHashIndex(level, index>>level&^1))
		right, both := l.hash(tlog.StoredHashIndex(level, index>>level|1))
		if !ok || !both {
			return
		}
		hash = tlog.NodeHash(left, right)
	}
}

func TestTampering(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, test := range map[string]struct {
		change func(m memory)
		// want are parts of the faults, in order; append is a part of the error of Append, "" if it
		// is only found by Verify.
		want   []string
		append string
	}{
		"edited entry":            {func(m memory) { edit(m, 42, "nummer", 0) }, []string{"entry 42 was edited"}, ""},
		"removed entry":           {func(m memory) { delete(m, string(indexKey(entryRecord, 42))) }, []string{"entry 42 is gone"}, ""},
		"removed entries":         {func(m memory) { remove(m, 42, 45) }, []string{"the entries 42 to 44 are gone"}, ""},
		"swapped entries":         {swap, []string{"entry 7 was edited", "entry 8 was edited"}, ""},
		"removed last":            {func(m memory) { remove(m, 499, 500) }, []string{"the head signs 500 entries, 499 are there"}, "the head signs 500 entries, 499 are there"},
		"edited entry and leaf":   {func(m memory) { edit(m, 42, "nummer", 1) }, []string{"entries 42 to 43", "the tree of 500 entries is not the one that was signed"}, ""},
		"edited all the way up":   {func(m memory) { edit(m, 42, "nummer", 60) }, []string{"the tree of 500 entries is not the one that was signed"}, "the tree of 500 entries is not the one that was signed"},
		"edited hash":             {func(m memory) { m[string(indexKey(hashRecord, tlog.StoredHashIndex(3, 2)))] = make([]byte, 32) }, []string{"the hash over the entries 16 to 23 was edited"}, ""},
		"added entry":             {func(m memory) { m[string(indexKey(entryRecord, 500))] = []byte("driftd/v1 scan\n{}") }, []string{"entry 500 is there but was not signed"}, "entry 500 is there but was not signed"},
		"removed head":            {func(m memory) { delete(m, string([]byte{headRecord})) }, []string{"the head is gone"}, "the head is gone"},
		"head of another size":    {func(m memory) { replace(m, "\n500\n", "\n499\n") }, []string{"read head"}, "read head"},
		"head of another key":     {func(m memory) { signAgain(t, m, newKey(t)) }, []string{"not signed by the key"}, "not signed by the key"},
		"foreign bytes":           {func(m memory) { m[string(indexKey(entryRecord, 3))] = []byte("x") }, []string{"entry 3 was edited"}, ""},
		"everything but the head": {func(m memory) { remove(m, 0, 500) }, []string{"the head signs 500 entries, 0 are there"}, "the head signs 500 entries, 0 are there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, l := filled(t, key, 500)
			if r := l.Verify(nil, nil); !r.OK() || r.Head.Size != 500 {
				t.Fatalf("before: %+v", r)
			}
			test.change(m)
			r := l.Verify(nil, nil)
			if len(r.Faults) != len(test.want) {
				t.Fatalf("%d faults, want %q: %q", len(r.Faults), test.want, r.Faults)
			}
			for i, want := range test.want {
				if !strings.Contains(r.Faults[i], want) {
					t.Errorf("fault %q, want %q", r.Faults[i], want)
				}
			}
			was := maps.Clone(m)
			_, err := l.Append([]Key{key}, noted(0))
			switch {
			case test.append == "" && err != nil:
				t.Errorf("append: %v", err)
			case test.append == "":
				if r := l.Verify(nil, nil); r.OK() {
					t.Error("an append laundered the edit")
				}
			case err == nil || !strings.Contains(err.Error(), test.append) || !strings.Contains(err.Error(), "changed from outside"):
				t.Errorf("append: %v, want %q", err, test.append)
			case !maps.EqualFunc(m, was, bytes.Equal):
				t.Error("a refused append changed records")
			}
		})
	}
}

func remove(m memory, from, to int64) {
	for i := from; i < to; i++ {
		delete(m, string(indexKey(entryRecord, i)))
	}
}

func swap(m memory) {
	a, b := string(indexKey(entryRecord, 7)), string(indexKey(entryRecord, 8))
	m[a], m[b] = m[b], m[a]
}

func replace(m memory, old, with string) {
	m[string([]byte{headRecord})] = bytes.Replace(m[string([]byte{headRecord})], []byte(old), []byte(with), 1)
}

func signAgain(t *testing.T, m memory, key Key) {
	h, err := parseBody(string(m[string([]byte{headRecord})]))
	if err == nil {
		err = h.sign(key)
	}
	if err != nil {
		t.Error(err)
	}
	m[string([]byte{headRecord})] = h.Note
}

// With the key an edit shows only against a head that was kept elsewhere.
func TestWitnesses(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	_, l := filled(t, key, 300)
	kept := []Witnessed{{"the file /mnt/heads", head(t, l)}}

	rewritten, l := filled(t, key, 500)
	if r := l.Verify(kept, nil); !r.OK() {
		t.Errorf("a log that grew: %q", r.Faults)
	}
	edit(rewritten, 42, "nummer", 60)
	root, err := tlog.TreeHash(500, l)
	if err != nil {
		t.Fatal(err)
	}
	h := Head{Origin: key.Public().Origin(), Size: 500, Root: root}
	if err := h.sign(key); err != nil {
		t.Fatal(err)
	}
	rewritten[string([]byte{headRecord})] = h.Note
	if r := l.Verify(nil, nil); !r.OK() {
		t.Errorf("rewritten with the key, without a witness: %q", r.Faults)
	}
	if r := l.Verify(kept, nil); len(r.Faults) != 1 || r.Faults[0] != "history before entry 300 was rewritten: the file /mnt/heads has another head" {
		t.Errorf("rewritten with the key: %q", r.Faults)
	}

	_, l = filled(t, key, 200)
	if r := l.Verify(nil, nil); !r.OK() {
		t.Errorf("an older copy, without a witness: %q", r.Faults)
	}
	if r := l.Verify(kept, nil); len(r.Faults) != 1 || !strings.HasPrefix(r.Faults[0], "the file /mnt/heads saw 300 entries, 200 are there") {
		t.Errorf("an older copy: %q", r.Faults)
	}
}

func TestProofs(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	_, l := filled(t, key, 100)
	proof, err := l.Prove(42)
	if err != nil {
		t.Fatal(err)
	}
	e, h, err := Check(proof, key.Public())
	if err != nil {
		t.Fatal(err)
	}
	data, ok := e.Data.(json.RawMessage)
	if !ok || string(data) != `{"text":"number 42"}` || e.Index != 42 || e.Kind != KindScan || h.Size != 100 {
		t.Errorf("%+v %+v: %s", e, h, data)
	}
	forged := bytes.Replace(proof, []byte("extra "), []byte("extra AAAA"), 1)
	if _, _, err := Check(forged, key.Public()); err == nil || !strings.Contains(err.Error(), "not the one at position 42") {
		t.Errorf("forged entry: %v", err)
	}
	moved := bytes.Replace(proof, []byte("index 42"), []byte("index 43"), 1)
	if _, _, err := Check(moved, key.Public()); err == nil || !strings.Contains(err.Error(), "not the one at position 43") {
		t.Errorf("another position: %v", err)
	}
	beyond := bytes.Replace(proof, []byte("index 42"), []byte("index 100"), 1)
	if _, _, err := Check(beyond, key.Public()); err == nil || !strings.Contains(err.Error(), "signs 100 entries") {
		t.Errorf("a position beyond the head: %v", err)
	}
	if _, _, err := Check(proof, newKey(t).Public()); err == nil || !strings.Contains(err.Error(), "not signed by the key") {
		t.Errorf("another key: %v", err)
	}
	if _, _, err := Check([]byte("x"), key.Public()); err == nil || !strings.Contains(err.Error(), "it is no proof") {
		t.Errorf("no proof: %v", err)
	}
	for _, index := range []int64{-1, 100} {
		if _, err := l.Prove(index); !errors.Is(err, ErrNoEntry) {
			t.Errorf("prove %d: %v", index, err)
		}
	}
}

// Every entry of a log of any size can be proved, also if the log grew in several steps.
func TestProperty(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	rapid.Check(t, func(t *rapid.T) {
		m := memory{}
		l := New(m, key.Public())
		var kept []Witnessed
		size := 0
		for range rapid.IntRange(1, 8).Draw(t, "appends") {
			n := rapid.IntRange(1, 9).Draw(t, "entries")
			entries := make([]Entry, n)
			for i := range entries {
				entries[i] = noted(size + i)
			}
			h, err := l.Append([]Key{key}, entries...)
			if err != nil {
				t.Fatal(err)
			}
			size += n
			kept = append(kept, Witnessed{"w", h})
		}
		if r := l.Verify(kept, nil); !r.OK() || r.Head.Size != int64(size) {
			t.Fatalf("%+v", r)
		}
		for i := range size {
			proof, err := l.Prove(int64(i))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := Check(proof, key.Public()); err != nil {
				t.Fatal(err)
			}
		}
		victim := int64(rapid.IntRange(0, size-1).Draw(t, "edited"))
		edit(m, victim, "nummer", rapid.IntRange(0, 10).Draw(t, "levels"))
		if r := l.Verify(nil, nil); r.OK() {
			t.Fatalf("an edit of entry %d of %d was not found", victim, size)
		}
	})
}

func TestDrop(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	m, l := filled(t, key, 50)
	if err := l.Drop([]Key{key}, 20, nil, time.Unix(1_900_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	if r := l.Verify(nil, nil); !r.OK() || r.Dropped != 20 || r.Head.Size != 51 {
		t.Errorf("%+v", r)
	}
	if _, err := l.Entry(19); !errors.Is(err, ErrDropped) {
		t.Errorf("dropped entry: %v", err)
	}
	if _, err := l.Entry(20); err != nil {
		t.Error(err)
	}
	delete(m, string(indexKey(entryRecord, 20)))
	if r := l.Verify(nil, nil); len(r.Faults) != 1 || r.Faults[0] != "entry 20 is gone" || r.Dropped != 20 {
		t.Errorf("%+v", r)
	}
	if err := l.Drop([]Key{key}, 99, nil, time.Unix(1_900_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Entry(51); err != nil {
		t.Errorf("the entry that records the drop: %v", err)
	}
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	old := newKey(t)
	m, l := filled(t, old, 10)
	was := head(t, l)
	next := newKey(t)
	if err := l.Rotate(old, next, time.Unix(1_900_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	both := head(t, l)
	if _, err := ParseHead(both.Note, old.Public()); err != nil {
		t.Errorf("the old key: %v", err)
	}
	if _, err := ParseHead(both.Note, next.Public()); err != nil {
		t.Errorf("the new key: %v", err)
	}
	l = New(m, next.Public())
	grow(t, l, next, 5)
	if r := l.Verify([]Witnessed{{"w", was}}, nil); !r.OK() || r.Head.Size != 16 {
		t.Errorf("%+v", r)
	}
	if r := New(m, old.Public()).Verify(nil, nil); r.OK() {
		t.Error("the old key still verifies new heads")
	}
}

// A version that is not known yet is verified, listed and proved as it is.
func TestNewerVersion(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	m, l := filled(t, key, 2)
	b := []byte("driftd/v2 dance\n" + `{"time":"2030-01-02T03:04:05Z","data":{"x":1},"more":true}`)
	hashes, err := tlog.StoredHashes(2, b, l)
	if err != nil {
		t.Fatal(err)
	}
	m[string(indexKey(entryRecord, 2))] = b
	for i, h := range hashes {
		m[string(indexKey(hashRecord, tlog.StoredHashIndex(0, 2)+int64(i)))] = h[:]
	}
	root, err := tlog.TreeHash(3, l)
	if err != nil {
		t.Fatal(err)
	}
	h := Head{Origin: key.Public().Origin(), Size: 3, Root: root}
	if err := h.sign(key); err != nil {
		t.Fatal(err)
	}
	m[string([]byte{headRecord})] = h.Note
	if r := l.Verify(nil, nil); !r.OK() {
		t.Errorf("%q", r.Faults)
	}
	grow(t, l, key, 3)
	if r := l.Verify(nil, nil); !r.OK() {
		t.Errorf("after an append: %q", r.Faults)
	}
	if e, err := l.Entry(2); err != nil || e.Version != "v2" || e.Kind != "dance" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestClockBack(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	_, l := filled(t, key, 3)
	if _, err := l.Append([]Key{key}, noted(-500), noted(4)); err != nil {
		t.Fatal(err)
	}
	if r := l.Verify(nil, nil); !r.OK() || len(r.Backwards) != 1 || r.Backwards[0] != 3 {
		t.Errorf("%+v", r)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	m := memory{}
	l := New(m, key.Public())
	if _, err := l.Append([]Key{key}, Entry{Kind: KindScan, Data: remark{Text: strings.Repeat("x", maxEntry)}}); err == nil || !strings.Contains(err.Error(), "the limit is 65535") {
		t.Errorf("%v", err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "PRIVATE+KEY+a+00000000+AAAA", "PRIVATE+KEY+a b+00000000+AAAA"} {
		if _, err := ParseKey(text); err == nil || !strings.Contains(err.Error(), "driftd audit key --new") {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := ParsePublicKey(text); err == nil || !strings.Contains(err.Error(), "driftd audit key") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := GenerateKey("a b"); err == nil {
		t.Error("an origin with a space is accepted")
	}
}
