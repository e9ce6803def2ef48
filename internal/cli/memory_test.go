package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestLimitMemory checks that the limit includes the base memory, that it is at most the
// machine's memory, and that GOMEMLIMIT has precedence.
func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "")
	if got, want := limitMemory(16<<20), int64(16<<20+baseMemory); got != want || debug.SetMemoryLimit(-1) != want {
		t.Errorf("limit %d, want %d", got, want)
	}
	if got := limitMemory(1 << 60); got <= 0 || got >= 1<<50 {
		t.Errorf("limit %d is not that of the machine", got)
	}
	debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "1GiB")
	if limitMemory(16 << 20); debug.SetMemoryLimit(-1) != before {
		t.Error("the limit of the environment does not count")
	}
}

// TestLimitScan checks that a heap in which twice scanGrowth lives doubles before it is collected, that GOGC has
// precedence, and that the collector is as before in the end.
func TestLimitScan(t *testing.T) {
	limit := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(limit)
	percent := debug.SetGCPercent(70)
	defer debug.SetGCPercent(percent)
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("GOGC", "")
	release := limitScan(16 << 20)
	if got, want := debug.SetMemoryLimit(-1), int64(16<<20+baseMemory); got != want {
		t.Errorf("limit %d, want %d", got, want)
	}
	ballast := make([]byte, 2*scanGrowth)
	var heap runtime.MemStats
	for i := 0; i < 100 && (heap.NextGC < 4*scanGrowth || heap.NextGC > 5*scanGrowth); i++ {
		runtime.GC()
		runtime.Gosched() // pace runs in a goroutine of its own
		runtime.ReadMemStats(&heap)
	}
	if heap.NextGC < 4*scanGrowth || heap.NextGC > 5*scanGrowth {
		t.Errorf("with %d bytes the next collection is due at %d bytes", len(ballast), heap.NextGC)
	}
	runtime.KeepAlive(ballast)
	release()
	runtime.GC()
	if got := debug.SetGCPercent(70); got != 70 {
		t.Errorf("the percentage is %d after release", got)
	}
	t.Setenv("GOGC", "70")
	defer limitScan(16 << 20)()
	if got := debug.SetGCPercent(70); got != 70 {
		t.Errorf("the percentage is %d, GOGC is 70", got)
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{
		0: firstGC(scanGrowth), 1 << 20: firstGC(scanGrowth), scanGrowth: 100, freeHeap / 2: 100, 160 << 20: 50, 5 * scanGrowth: 20, 20 * scanGrowth: 10, 1 << 40: 10,
	} {
		if got := growth(scanGrowth, live); got != want {
			t.Errorf("growth(%d) = %d, want %d", live, got, want)
		}
	}
}
