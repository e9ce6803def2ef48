package trigger

import (
	"strconv"
	"testing"
	"time"
)

func TestReplayCache(t *testing.T) {
	t.Parallel()
	var m replayCache
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	steps := []struct {
		reason string
		key    string
		after  time.Duration
		want   bool
	}{
		{"a new key", "a", 0, true},
		{"kept until keepSeen has passed", "a", keepSeen, false},
		{"a clock set back does not evict", "a", -time.Hour, false},
		{"evicted after keepSeen", "a", keepSeen + time.Second, true},
		{"added again", "a", keepSeen + time.Minute, false},
	}
	for _, s := range steps {
		if got := m.add(s.key, now.Add(s.after)); got != s.want {
			t.Errorf("%s: add(%s) = %t", s.reason, s.key, got)
		}
	}
}

func TestReplayCacheIsBounded(t *testing.T) {
	t.Parallel()
	var m replayCache
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for i := range 3 * maxSeen {
		if !m.add(strconv.Itoa(i), now) {
			t.Fatalf("add(%d) = false, want true", i)
		}
	}
	if len(m.seen) != maxSeen || len(m.order) != maxSeen {
		t.Errorf("%d keys and %d in order, want %d", len(m.seen), len(m.order), maxSeen)
	}
	if m.add(strconv.Itoa(3*maxSeen-1), now) || m.add(strconv.Itoa(2*maxSeen+1), now) {
		t.Error("a recent key was evicted")
	}
	if !m.add("0", now) {
		t.Error("the oldest key was not evicted")
	}
}
