package cli

import (
	"runtime/debug"
	"testing"
)

// TestLimitMemory holds that the limit leaves room beside max_memory, that it never is
// more than the machine has, and that GOMEMLIMIT counts instead.
func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "")
	if got, want := limitMemory(16<<20), int64(16<<20+beside); got != want || debug.SetMemoryLimit(-1) != want {
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
