package collectors

import "sync"

// Parallel calls do for 0 to count-1, at most limit at once, and returns when
// all have returned.
func Parallel(limit, count int, do func(i int)) {
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(limit, count) {
		workers.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	workers.Wait()
}
