package cli

import (
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// beside is what driftd needs beside what max_memory counts: its program, its database
// and reports, in bytes.
const beside = 256 << 20

// limitMemory makes the garbage collector work harder before driftd takes more than
// max_memory needs, or than nine tenths of what its cgroup or the machine has. GOMEMLIMIT
// in the environment counts instead. It returns the limit in bytes.
func limitMemory(maxMemory int64) int64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		return debug.SetMemoryLimit(-1)
	}
	limit := maxMemory + beside
	provider := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)
	if has, err := memlimit.ApplyRatio(provider, 0.9)(); err == nil && has < uint64(limit) {
		limit = int64(has)
	}
	debug.SetMemoryLimit(limit)
	return limit
}
