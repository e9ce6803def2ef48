package collectors

import "github.com/sourcegraph/conc/pool"

// Parallel calls do with each number from 0 to count-1 and returns when all calls have returned. It
// runs at most limit calls concurrently, or one if limit is less than one. If a call panics,
// Parallel panics after all calls have returned.
func Parallel(limit, count int, do func(i int)) {
	workers := pool.New().WithMaxGoroutines(max(1, limit))
	for i := range count {
		workers.Go(func() { do(i) })
	}
	workers.Wait()
}
