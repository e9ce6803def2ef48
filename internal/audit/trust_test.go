package audit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A person can let a log continue that has faults. They stay on record, and a later edit is found
// again.
func TestTrust(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, change := range map[string]func(m memory){
		"edited":         func(m memory) { edit(m, 42, "nummer", 0) },
		"edited deeply":  func(m memory) { edit(m, 42, "nummer", 60) },
		"removed":        func(m memory) { remove(m, 42, 45) },
		"removed last":   func(m memory) { remove(m, 90, 100) },
		"added":          func(m memory) { m[string(indexKey(entryRecord, 100))] = []byte("driftd/v1 scan\n{}") },
		"no head":        func(m memory) { delete(m, string([]byte{headRecord})) },
		"another key":    func(m memory) { signAgain(t, m, newKey(t)) },
		"only a witness": func(memory) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, other := filled(t, key, 120)
			later := Witnessed{"w", head(t, other)}
			m, l := filled(t, key, 100)
			change(m)
			before := l.Verify([]Witnessed{later}, nil)
			if before.OK() {
				t.Fatal("no fault is found")
			}
			trust, err := l.Trust([]Key{key}, Trust{Reason: "restored"}, nil, []Witnessed{later}, time.Unix(1_900_000_000, 0))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before.Faults, trust.Faults); diff != "" {
				t.Error(diff)
			}
			grow(t, l, key, 60)
			if r := l.Verify([]Witnessed{later}, nil); !r.OK() || len(r.Settled) == 0 {
				t.Errorf("%+v", r)
			}
			edit(m, 42, "numero", 0)
			edit(m, 50, "numero", 0)
			if r := l.Verify([]Witnessed{later}, nil); r.OK() {
				t.Error("a later edit is not found")
			}
		})
	}
}

// BenchmarkVerify verifies a log of 10,000 entries of about 300 bytes.
func BenchmarkVerify(b *testing.B) {
	key := newKey(b)
	_, l := filled(b, key, 10_000)
	for b.Loop() {
		if r := l.Verify(nil, nil); !r.OK() {
			b.Fatal(r.Faults)
		}
	}
}

// BenchmarkAppend appends one entry to a log of 10,000.
func BenchmarkAppend(b *testing.B) {
	key := newKey(b)
	_, l := filled(b, key, 10_000)
	for b.Loop() {
		grow(b, l, key, 1)
	}
}
