package collectors_test

import (
	"sync/atomic"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
)

func TestParallel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reason       string
		limit, count int
	}{
		{"a limit that is a number of things, of which there are none", 0, 0},
		{"nothing to do", 3, 0},
		{"fewer than the limit", 3, 2},
		{"more than the limit", 3, 10},
	} {
		var calls atomic.Int64
		collectors.Parallel(tt.limit, tt.count, func(i int) { calls.Add(1 << (2 * i)) })
		want := int64(0)
		for i := range tt.count {
			want += 1 << (2 * i)
		}
		if calls.Load() != want {
			t.Errorf("%s: got calls %b, want %b", tt.reason, calls.Load(), want)
		}
	}
}
