package audit

import (
	"bytes"
	"testing"
)

// FuzzCheck checks proofs and heads, which strangers pass on.
func FuzzCheck(f *testing.F) {
	key := newKey(f)
	_, l := filled(f, key, 9)
	proof, err := l.Prove(4)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(proof)
	f.Add(bytes.Replace(proof, []byte("index 4"), []byte("index +04"), 1))
	f.Add(head(f, l).Note)
	entry, _, err := Check(proof, key.Public())
	if err != nil {
		f.Fatal(err)
	}
	names, _, err := named(f, key).Disclose(0)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(bytes.Clone(proof), names...))
	f.Fuzz(func(t *testing.T, b []byte) {
		top, _, _ := bytes.Cut(b, []byte("\n\n"))
		if e, h, err := Check(b, key.Public()); err == nil && (!bytes.HasPrefix(proof, top) || e.Index != entry.Index || e.Kind != entry.Kind || h.Size != 9) {
			t.Errorf("a forged proof: %+v %+v", e, h)
		}
		if e, _, people, err := CheckDisclosed(b, key.Public()); err == nil && (e.Index != entry.Index || len(people) > 0) {
			t.Errorf("forged names: %+v", people)
		}
		if h, err := ParseHead(b, key.Public()); err == nil && h.Size != 9 {
			t.Errorf("a forged head: %+v", h)
		}
		if _, err := parseEntry(0, b); err != nil {
			return
		}
	})
}
