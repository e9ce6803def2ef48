package audit

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"
)

// rotated returns a log that had the keys in turn, with ten entries under each, and the heads that
// a witness kept before each change.
func rotated(t testing.TB, keys ...Key) (memory, *Log, []Head) {
	t.Helper()
	m, l := filled(t, keys[0], 10)
	heads := []Head{head(t, l)}
	for i, next := range keys[1:] {
		if err := l.Rotate(keys[i], next, time.Unix(1_900_000_000, 0)); err != nil {
			t.Fatal(err)
		}
		l = New(m, next.Public())
		grow(t, l, next, 10)
		heads = append(heads, head(t, l))
	}
	return m, l, heads
}

func texts(keys []PublicKey) (list []string) {
	for _, k := range keys {
		list = append(list, k.String())
	}
	return list
}

func TestOlderKeys(t *testing.T) {
	t.Parallel()
	key := []Key{newKey(t), newKey(t), newKey(t)}
	want := key[2].Public().String() + "\n" + key[1].Public().String() + "\n" + key[0].Public().String()
	m, l, heads := rotated(t, key...)
	check := func(when string) []PublicKey {
		t.Helper()
		keys, err := l.Keys()
		if got := strings.Join(texts(keys), "\n"); err != nil || got != want {
			t.Errorf("%s: keys\n%s\nerror %v, want\n%s", when, got, err, want)
		}
		return keys
	}
	keys := check("rotated twice")
	var witnessed []Witnessed
	for _, h := range heads {
		parsed, err := ParseHeadBy(h.Note, keys...)
		if err != nil || parsed.Size != h.Size || parsed.Root != h.Root {
			t.Errorf("%+v, %v", parsed, err)
		}
		witnessed = append(witnessed, Witnessed{"w", parsed})
	}
	if r := l.Verify(witnessed, nil); !r.OK() {
		t.Errorf("%q", r.Faults)
	}
	if err := l.Drop([]Key{key[2]}, 25, nil, time.Unix(1_900_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	check("entries that record keys were dropped")
	if err := l.Drop([]Key{key[2]}, 40, nil, time.Unix(1_900_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	check("the first drop was dropped")
	if r := l.Verify(nil, nil); !r.OK() {
		t.Errorf("%q", r.Faults)
	}
	if keys, err := New(memory{}, key[0].Public()).Keys(); err != nil || len(keys) != 1 {
		t.Errorf("an empty log: %v, %v", keys, err)
	}
	if keys, err := New(m, key[0].Public()).Keys(); err == nil || len(keys) != 1 {
		t.Errorf("another key: %v, %v", keys, err)
	}
}

// A key that was written into the database by an edit is not a key of the log.
func TestForgedKeys(t *testing.T) {
	t.Parallel()
	old, next, mine := newKey(t), newKey(t), newKey(t)
	m, l, _ := rotated(t, old, next)
	for levels := range 8 {
		forged := maps.Clone(m)
		e := Entry{Kind: KindKey, Time: time.Unix(1_900_000_000, 0), Data: Rotation{mine.Public().String(), next.Public().String()}}
		b, err := e.encode()
		if err != nil {
			t.Fatal(err)
		}
		forged[string(indexKey(entryRecord, 10))] = b
		edit(forged, 10, "", levels)
		keys, err := New(forged, next.Public()).Keys()
		var changed *TamperedError
		if !errors.As(err, &changed) || strings.Contains(strings.Join(texts(keys), "\n"), mine.Public().String()) {
			t.Errorf("%d levels: %v, %v", levels, texts(keys), err)
		}
	}
	e, err := l.Entry(10)
	if err != nil || e.Kind != KindKey {
		t.Errorf("entry 10 is %+v, %v", e, err)
	}
}

func TestParseHeadBy(t *testing.T) {
	t.Parallel()
	a, b, c := newKey(t), newKey(t), newKey(t)
	_, l := filled(t, a, 3)
	h := head(t, l)
	if _, err := ParseHeadBy(h.Note, b.Public(), a.Public(), a.Public(), PublicKey{}); err != nil {
		t.Error(err)
	}
	for want, keys := range map[string][]PublicKey{
		"not signed by the key " + b.Public().String(): {b.Public()},
		"signed by none of the 2 keys of the log":      {b.Public(), c.Public()},
		"no key to verify":                             {},
	} {
		if _, err := ParseHeadBy(h.Note, keys...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := ParseHeadBy(make([]byte, maxHead+1), a.Public()); err == nil || !strings.Contains(err.Error(), "the limit is") {
		t.Error(err)
	}
	foreign := Head{Origin: "another/log", Size: 3, Root: h.Root}
	if err := foreign.sign(a); err != nil {
		t.Fatal(err)
	}
	if _, err := ParseHeadBy(foreign.Note, a.Public()); err == nil || !strings.Contains(err.Error(), "the head is of the log another/log") {
		t.Error(err)
	}
}

func TestRotateRefuses(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	_, l := filled(t, key, 3)
	text, err := GenerateKey("test.example/other")
	if err != nil {
		t.Fatal(err)
	}
	other, err := ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	for want, next := range map[string]Key{
		"the new key is for the log test.example/other": other,
		"the new key is the one that it has":            key,
	} {
		if err := l.Rotate(key, next, time.Time{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if h := head(t, l); h.Size != 3 {
		t.Errorf("%d entries", h.Size)
	}
}

// A head counts with any signer: the log must lead to it, as one that was begun anew does not.
func TestUnsignedHeads(t *testing.T) {
	t.Parallel()
	old, key := newKey(t), newKey(t)
	_, before := filled(t, old, 7)
	_, l := filled(t, key, 5)
	other := head(t, before)
	h, err := ParseUnverified(other.Note)
	if err != nil || h.Size != 7 || h.Root != other.Root {
		t.Fatal(h, err)
	}
	same := head(t, l)
	for name, test := range map[string]struct {
		head Head
		want string
	}{
		"longer":     {h, "w has a head of 7 entries of the log test.example/log, which no key of this log signed"},
		"shorter":    {Head{Origin: "o", Size: 3, Root: h.Root, Unsigned: true}, "w has a head of 3 entries of the log o, which no key of this log signed"},
		"of the log": {Head{Origin: "o", Size: 5, Root: same.Root, Unsigned: true}, ""},
	} {
		r := l.Verify([]Witnessed{{From: "w", Head: test.head}}, nil)
		if got := strings.Join(r.Faults, "; "); !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: %q", name, r.Faults)
		}
	}
	for _, text := range []string{"", "x", "o\n3\nAAAA\n\n", "o\n3\n" + same.Root.String() + "\n\n— a b\n", strings.Repeat("x", maxHead+1)} {
		if h, err := ParseUnverified([]byte(text)); err == nil {
			t.Errorf("%.40q is a head: %+v", text, h)
		}
	}
}
