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

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"
)

// provable reports whether a proof of the entry at an index verifies that is made from the database.
func provable(l *Log, key Key, h Head, index int64) bool {
	b := l.records.Get(indexKey(entryRecord, index))
	hashes, err := tlog.ProveRecord(h.Size, index, l)
	if b == nil || err != nil {
		return false
	}
	p := proof{index: index, entry: b, hashes: hashes, head: h.Note}
	_, _, err = Check(p.encode(), key.Public())
	_, ownErr := l.Prove(index)
	if ownErr == nil && err != nil {
		panic(fmt.Sprintf("Prove returns a proof of entry %d that does not verify: %v", index, err))
	}
	return err == nil
}

func settle(t interface{ Fatal(...any) }, l *Log, key Key, witnessed ...Witnessed) Trust {
	ref, err := l.Ref("lena")
	if err != nil {
		t.Fatal(err)
	}
	trust, err := l.Trust([]Key{key}, Trust{By: ref, Reason: "looked into it"}, nil, witnessed, time.Unix(1_900_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

// A settled edit is not signed: after it no proof of an edited entry verifies, entries that are
// known to be unedited can still be proved, and old heads lead to the log if its leaves are known.
func TestTrustSignsNoEdit(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, test := range map[string]struct {
		reason string
		change func(m memory)
		// edited are the entries that were edited, and unproved those that no head leads to.
		edited, unproved []int64
		// kept reports whether the tree is the one that was signed.
		kept bool
	}{
		"an entry":            {"its leaf is known", func(m memory) { edit(m, 42, "nummer", 0) }, []int64{42}, nil, true},
		"swapped":             {"both leaves are known", swap, []int64{7, 8}, nil, true},
		"with its leaf":       {"the two leaves below a wrong hash are not known", func(m memory) { edit(m, 42, "nummer", 1) }, nil, []int64{42, 43}, false},
		"with two hashes":     {"the four leaves below a wrong hash are not known", func(m memory) { edit(m, 42, "nummer", 2) }, nil, []int64{40, 41, 42, 43}, false},
		"up to the head":      {"no leaf is known", func(m memory) { edit(m, 42, "nummer", 60) }, nil, series(0, 100), false},
		"a leaf":              {"the entry shows its leaf", func(m memory) { m[string(indexKey(hashRecord, tlog.StoredHashIndex(0, 42)))] = make([]byte, 32) }, nil, nil, true},
		"a leaf that is gone": {"the entry shows its leaf", func(m memory) { delete(m, string(indexKey(hashRecord, tlog.StoredHashIndex(0, 42)))) }, nil, nil, true},
		"a hash":              {"the leaves show the hash", func(m memory) { m[string(indexKey(hashRecord, tlog.StoredHashIndex(3, 2)))] = make([]byte, 32) }, nil, nil, true},
		"a hash and an entry": {"the stored leaves show the hash", func(m memory) {
			m[string(indexKey(hashRecord, tlog.StoredHashIndex(3, 2)))] = make([]byte, 32)
			edit(m, 17, "nummer", 0)
		}, []int64{17}, nil, true},
		"no head":     {"nothing shows what was signed", func(m memory) { delete(m, string([]byte{headRecord})) }, nil, series(0, 100), true},
		"another key": {"the key of the log signed nothing", func(m memory) { signAgain(t, m, newKey(t)) }, nil, series(0, 100), true},
		"added":       {"it was not signed", func(m memory) { m[string(indexKey(entryRecord, 100))] = []byte("driftd/v1 scan\n{}") }, nil, []int64{100}, true},
		"removed":     {"its leaf is known", func(m memory) { remove(m, 42, 45) }, nil, nil, true},
		"removed with its leaf": {"the other leaf below the wrong hash is not known either", func(m memory) {
			edit(m, 42, "nummer", 1)
			remove(m, 42, 43)
		}, nil, []int64{43}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, l := filled(t, key, 100)
			was := head(t, l)
			test.change(m)
			faults := l.Verify(nil, nil).Faults
			settle(t, l, key)
			grow(t, l, key, 5)
			h := head(t, l)
			for i := range h.Size - 6 {
				e, err := l.Entry(i)
				if errors.Is(err, ErrDropped) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				want := State("")
				switch {
				case slices.Contains(test.edited, i):
					want = StateEdited
				case slices.Contains(test.unproved, i):
					want = StateUnproved
				}
				if e.State != want {
					t.Errorf("entry %d is %q, want %q: %s", i, e.State, want, test.reason)
				}
				if got := provable(l, key, h, i); got != (want == "") {
					t.Errorf("entry %d: a proof verifies: %v, want %v", i, got, want == "")
				}
			}
			// Leads compares heads of any key.
			if err := l.Leads(was); (err == nil) != (test.kept && test.unproved == nil || name == "added") {
				t.Errorf("the head of before: %v", err)
			}
			r := l.Verify(nil, nil)
			if !r.OK() {
				t.Fatalf("faults %q", r.Faults)
			}
			var want []string
			for _, fault := range faults {
				want = append(want, fault+" (settled by lena with entry "+fmt.Sprint(h.Size-6)+")")
			}
			if diff := cmp.Diff(want, r.Settled); diff != "" {
				t.Error(diff)
			}
			if again := settle(t, l, key, Witnessed{"w", Head{Size: 9}}); len(again.Faults) != 1 {
				t.Errorf("faults of the second time: %q", again.Faults)
			}
			for _, i := range slices.Concat(test.edited, test.unproved) {
				if provable(l, key, head(t, l), i) {
					t.Errorf("entry %d can be proved after it was settled twice", i)
				}
			}
		})
	}
}

func series(from, to int64) (list []int64) {
	for ; from < to; from++ {
		list = append(list, from)
	}
	return list
}

// A witnessed head shows which entries were signed where the database does not.
func TestTrustByWitnesses(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, change := range map[string]func(m memory){
		"no head":     func(m memory) { delete(m, string([]byte{headRecord})) },
		"another key": func(m memory) { signAgain(t, m, newKey(t)) },
	} {
		m, l := filled(t, key, 70)
		kept := Witnessed{"w", head(t, l)}
		grow(t, l, key, 30)
		change(m)
		edit(m, 42, "nummer", 0)
		settle(t, l, key, kept)
		for i, want := range map[int64]State{0: "", 41: "", 42: StateEdited, 69: "", 70: StateUnproved, 99: StateUnproved, 100: ""} {
			e, err := l.Entry(i)
			if err != nil || e.State != want {
				t.Errorf("%s: entry %d is %q, want %q: %v", name, i, e.State, want, err)
			}
		}
		if r := l.Verify([]Witnessed{kept}, nil); !r.OK() {
			t.Errorf("%s: %q", name, r.Faults)
		}
	}
}

// An entry that was edited and settled is found again when it is edited again.
func TestEditedAgain(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, first := range map[string]func(m memory){
		"entry 42 was edited again": func(m memory) { edit(m, 42, "nummer", 0) },
		"entry 42 was edited":       func(m memory) { edit(m, 42, "nummer", 1) },
	} {
		m, l := filled(t, key, 100)
		first(m)
		settle(t, l, key)
		b := indexKey(entryRecord, 42)
		m[string(b)] = bytes.Replace(m[string(b)], []byte("nummer"), []byte("numero"), 1)
		if r := l.Verify(nil, nil); len(r.Faults) != 1 || r.Faults[0] != name {
			t.Errorf("%q, want %q", r.Faults, name)
		}
	}
}

// A trust entry that was forged together with its hash does not settle its own forgery.
func TestForgedTrust(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for levels := range 9 {
		m, l := filled(t, key, 100)
		forged := Entry{Kind: KindTrust, Time: time.Unix(1_900_000_000, 0), Data: Trust{Faults: []string{},
			Lasting: []string{
				"the hash over the entries 42 to 43 was edited, or one of them together with its hash", "the hash over the entries 40 to 43 was edited, or one of them together with its hash",
				"the hash over the entries 40 to 47 was edited, or one of them together with its hash", "the hash over the entries 32 to 47 was edited, or one of them together with its hash",
				"the hash over the entries 32 to 63 was edited, or one of them together with its hash", "the hash over the entries 0 to 63 was edited, or one of them together with its hash",
				"the tree of 100 entries is not the one that was signed", "entry 42 was edited"},
			Unsigned: []Range{{0, 100}}}}
		b, err := forged.encode()
		if err != nil {
			t.Fatal(err)
		}
		m[string(indexKey(entryRecord, 42))] = b
		edit(m, 42, "", levels)
		if r := l.Verify(nil, nil); r.OK() || len(r.Settled) > 0 {
			t.Errorf("%d levels: %+v", levels, r)
		}
	}
}

// Bundles of entries that were edited are left out of an export, after a person settled it.
func TestExportOfSettledEdits(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	m, l := filled(t, key, 1000)
	edit(m, 42, "nummer", 0)
	edit(m, 600, "nummer", 1)
	settle(t, l, key)
	files, names, err := exported(t, l)
	var left *LeftOutError
	if !errors.As(err, &left) || !cmp.Equal(left.Ranges, []Range{{0, 256}, {512, 768}}) || !strings.Contains(err.Error(), "or edited") {
		t.Fatalf("error %v", err)
	}
	if slices.Contains(names, "tile/entries/000") || !slices.Contains(names, "tile/entries/001") || !slices.Contains(names, "checkpoint") {
		t.Errorf("files %q", names)
	}
	reader := tlog.TileHashReader(tlog.Tree{N: 1001, Hash: head(t, l).Root}, tileFiles(files))
	if _, err := tlog.ProveRecord(1001, 5, reader); err != nil {
		t.Errorf("an entry beside an edited one: %v", err)
	}
	edit(m, 700, "nummer", 0)
	if _, _, err := exported(t, l); err == nil || !strings.Contains(err.Error(), "entry 700 was edited") {
		t.Errorf("a later edit: %v", err)
	}
}

// Settled faults stay on record after the retention removed the entries that record it.
func TestDropKeepsWhatWasSettled(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	m, l := filled(t, key, 50)
	edit(m, 42, "nummer", 0)
	edit(m, 44, "nummer", 1)
	settle(t, l, key)
	grow(t, l, key, 20)
	settled := l.Verify(nil, nil).Settled
	if len(settled) != 3 {
		t.Fatalf("settled %q", settled)
	}
	for _, before := range []int64{30, 43, 60, 71} {
		if err := l.Drop([]Key{key}, before, nil, time.Unix(1_900_000_000, 0)); err != nil {
			t.Fatal(err)
		}
		if r := l.Verify(nil, nil); !r.OK() || !cmp.Equal(r.Settled, settled) {
			t.Errorf("before %d: faults %q, settled %q", before, r.Faults, r.Settled)
		}
	}
}

// A settlement of any size fits in entries.
func TestTrustOfManyEdits(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	m, l := filled(t, key, 2000)
	for i := range int64(900) {
		edit(m, 2*i, "nummer", 0)
		edit(m, 2*i+1, "nummer", int(i)%2)
	}
	settle(t, l, key)
	r := l.Verify(nil, nil)
	if !r.OK() || r.Head.Size < 2003 || len(r.Settled) != maxFaults+1 || r.Settled[maxFaults] != "and 1781 more (settled by lena with entry 2000)" {
		t.Errorf("%d entries, %q, %q", r.Head.Size, r.Faults, r.Settled)
	}
	for i := r.Head.Size - 1; i > 2000; i-- {
		e, err := l.Entry(i)
		raw, ok := e.Data.(json.RawMessage)
		var trust Trust
		if err != nil || !ok || json.Unmarshal(raw, &trust) != nil || trust.Of == nil || *trust.Of != 2000 {
			t.Errorf("entry %d: %.200s, %v", i, raw, err)
		}
	}
}

// drawChange changes records as an attacker without the key can, and returns a sentence about it.
func drawChange(t *rapid.T, m memory, size int64) string {
	index := rapid.Int64Range(0, size-1).Draw(t, "index")
	level := rapid.IntRange(0, 8).Draw(t, "level")
	hash := string(indexKey(hashRecord, tlog.StoredHashIndex(level, index>>level)))
	change := rapid.SampledFrom([]string{"edit", "edit", "remove", "remove hash", "hash", "remove head", "move"}).Draw(t, "change")
	switch change {
	case "edit":
		if m.Get(indexKey(entryRecord, index)) != nil {
			edit(m, index, rapid.SampledFrom([]string{"nummer", "numero"}).Draw(t, "text"), level)
		}
	case "remove":
		remove(m, index, index+1)
	case "remove hash":
		// Without a head, a log without its first entry and its hash is an empty one.
		if level+int(index) > 0 {
			delete(m, hash)
		}
	case "hash":
		if m[hash] != nil {
			m[hash] = bytes.Repeat([]byte{byte(index)}, 32)
		}
	case "remove head":
		delete(m, string([]byte{headRecord}))
	case "move":
		to := rapid.Int64Range(0, size-1).Draw(t, "to")
		if b := m.Get(indexKey(entryRecord, index)); b != nil {
			m[string(indexKey(entryRecord, to))] = b
		}
	}
	return fmt.Sprintf("%s %d, level %d", change, index, level)
}

// After a person settled any changes by people without the key, no proof of an entry that was edited
// verifies, the log verifies, and a further edit is found.
func TestTrustProperty(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	rapid.Check(t, func(t *rapid.T) {
		m := memory{}
		l := New(m, key.Public())
		var witnessed []Witnessed
		size := int64(0)
		for range rapid.IntRange(1, 4).Draw(t, "appends") {
			n := rapid.IntRange(1, 9).Draw(t, "entries")
			entries := make([]Entry, n)
			for i := range entries {
				entries[i] = noted(int(size) + i)
			}
			h, err := l.Append([]Key{key}, entries...)
			if err != nil {
				t.Fatal(err)
			}
			if size += int64(n); rapid.Bool().Draw(t, "witnessed") {
				witnessed = append(witnessed, Witnessed{"w", h})
			}
		}
		was := maps.Clone(m)
		for range rapid.IntRange(1, 2).Draw(t, "times") {
			for range rapid.IntRange(1, 3).Draw(t, "changes") {
				t.Log(drawChange(t, m, size))
			}
			changed := maps.Clone(m)
			settle(t, l, key, witnessed...)
			if err := l.RemoveStrays(); err != nil {
				t.Fatal(err)
			}
			r := l.Verify(witnessed, nil)
			if !r.OK() {
				t.Fatalf("settled: %q", r.Faults)
			}
			for i := range size {
				// Without a head, a log without its last entries and their hashes is a shorter one: the settling
				// is recorded in their place. A witness, or the head file, has the longer one.
				if at := indexKey(entryRecord, i); changed.Get(at) == nil && m.Get(at) != nil {
					continue
				}
				if !bytes.Equal(m.Get(indexKey(entryRecord, i)), was.Get(indexKey(entryRecord, i))) && provable(l, key, r.Head, i) {
					t.Fatalf("the edited entry %d can be proved", i)
				}
				if e, err := l.EntryAt(&r.Head, i); err == nil && (e.State == "") != provable(l, key, r.Head, i) {
					t.Fatalf("entry %d is %q", i, e.State)
				}
			}
			if _, err := l.Append([]Key{key}, noted(0)); err != nil {
				t.Fatal(err)
			}
			// In the next round, entries in the place of removed ones are the log's own.
			for i := range size {
				at := indexKey(entryRecord, i)
				if b := m.Get(at); b != nil && changed.Get(at) == nil {
					was[string(at)] = b
				}
			}
		}
		last := rapid.Int64Range(0, size-1).Draw(t, "edited later")
		if m.Get(indexKey(entryRecord, last)) == nil {
			return
		}
		m[string(indexKey(entryRecord, last))] = append(m.Get(indexKey(entryRecord, last)), ' ')
		if r := l.Verify(witnessed, nil); r.OK() {
			t.Fatalf("a later edit of entry %d is not found", last)
		}
	})
}

// Bytes whose hash an attacker put into the tree are not signed either if they are gone meanwhile.
func TestTrustSignsNoHiddenEdit(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for levels := range 9 {
		m, l := filled(t, key, 100)
		edit(m, 42, "nummer", levels)
		forged := m.Get(indexKey(entryRecord, 42))
		remove(m, 42, 43)
		settle(t, l, key)
		m[string(indexKey(entryRecord, 42))] = forged
		if provable(l, key, head(t, l), 42) {
			t.Errorf("%d levels: the edited entry can be proved", levels)
		}
	}
}
