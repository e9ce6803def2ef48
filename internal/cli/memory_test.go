package cli

import (
	"math"
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

// TestLimitScan checks that the heap of a scan can grow before the first garbage collection,
// and that the block does not count against the memory limit.
func TestLimitScan(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "")
	release := limitScan(16 << 20)
	if got, want := debug.SetMemoryLimit(-1), int64(16<<20+baseMemory+scanReserve); got != want {
		t.Errorf("limit %d, want %d", got, want)
	}
	runtime.GC()
	var heap runtime.MemStats
	if runtime.ReadMemStats(&heap); heap.NextGC < scanReserve*5/4 {
		t.Errorf("the next collection is due at %d bytes", heap.NextGC)
	}
	release()
	debug.SetMemoryLimit(math.MaxInt64)
	t.Setenv("GOMEMLIMIT", "off")
	if limitScan(16 << 20)(); debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Error("no limit became a limit")
	}
}
