package cli

import (
	"math"
	"os"
	"runtime"
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

// scanReserve is the size of the block that limitScan allocates, in bytes.
const scanReserve = 64 << 20

// limitScan limits the memory of a scan in this process like limitMemory, and defers garbage
// collections until the heap has grown by 32 MiB more than $GOGC allows. A scan that begins with
// an empty heap would otherwise spend a third of its CPU time on them. limitScan holds an unused
// block without pointers: the collector counts the block as live, and the system provides no
// memory for it. The block is released after release was called.
func limitScan(maxMemory int64) (release func()) {
	limit := limitMemory(maxMemory)
	debug.SetMemoryLimit(min(limit, math.MaxInt64-scanReserve) + scanReserve)
	block := make([]byte, scanReserve)
	return func() { runtime.KeepAlive(block) }
}
