package cli

import (
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
