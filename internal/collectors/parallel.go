package collectors

import "github.com/sourcegraph/conc/pool"

// Parallel calls do for 0 to count-1, at most limit at once and one at least, and returns when
// all have returned. If one of them panics, so does Parallel then.
func Parallel(limit, count int, do func(i int)) {
	workers := pool.New().WithMaxGoroutines(max(1, limit))
	for i := range count {
		workers.Go(func() { do(i) })
	}
	workers.Wait()
}
