package collectors_test

import (
	"sync/atomic"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
)

// TestParallel checks that do is called once with each number, and that a limit and a
// count of 0 do not panic.
func TestParallel(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ limit, count int }{{0, 0}, {3, 0}, {1, 4}, {8, 4}} {
		var sum atomic.Int64
		collectors.Parallel(tc.limit, tc.count, func(i int) { sum.Add(1 << i) })
		if want := int64(1)<<tc.count - 1; sum.Load() != want {
			t.Errorf("limit %d, count %d: calls %b, want %b", tc.limit, tc.count, sum.Load(), want)
		}
	}
}
