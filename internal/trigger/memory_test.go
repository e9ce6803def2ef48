package trigger

import (
	"strconv"
	"testing"
	"time"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	var m memory
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	steps := []struct {
		reason string
		key    string
		after  time.Duration
		want   bool
	}{
		{"nobody knows it", "a", 0, true},
		{"it was here", "a", keepSeen, false},
		{"a clock set back changes nothing", "a", -time.Hour, false},
		{"it was long ago", "a", keepSeen + time.Second, true},
		{"and is known again", "a", keepSeen + time.Minute, false},
	}
	for _, s := range steps {
		if got := m.note(s.key, now.Add(s.after)); got != s.want {
			t.Errorf("%s: note(%s) = %t", s.reason, s.key, got)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	var m memory
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for i := range 3 * maxSeen {
		if !m.note(strconv.Itoa(i), now) {
			t.Fatalf("request %d is new", i)
		}
	}
	if len(m.seen) != maxSeen || len(m.order) != maxSeen {
		t.Errorf("remembers %d and %d, want %d", len(m.seen), len(m.order), maxSeen)
	}
	if m.note(strconv.Itoa(3*maxSeen-1), now) || m.note(strconv.Itoa(2*maxSeen+1), now) {
		t.Error("forgot what came last")
	}
	if !m.note("0", now) {
		t.Error("remembers what came first")
	}
}
