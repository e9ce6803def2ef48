package cli

import (
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// baseMemory is the memory that driftd needs in addition to max_memory: for its program, database
// and reports, in bytes.
const baseMemory = 256 << 20

// limitMemory sets the memory limit of the garbage collector to max_memory plus baseMemory, but
// at most nine tenths of the memory of the cgroup or the machine. GOMEMLIMIT in the
// environment has precedence. It returns the limit in bytes.
func limitMemory(maxMemory int64) int64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		return debug.SetMemoryLimit(-1)
	}
	limit := maxMemory + baseMemory
	provider := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)
	if has, err := memlimit.ApplyRatio(provider, 0.9)(); err == nil && has < uint64(limit) {
		limit = int64(has)
	}
	debug.SetMemoryLimit(limit)
	return limit
}
