package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"

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

const (
	// scanGrowth and listGrowth are by how many bytes the heap of a scan and of a list of findings grows at
	// least between two garbage collections.
	scanGrowth = 40 << 20
	listGrowth = 80 << 20
	// A heap of less than freeHeap bytes doubles between two collections, up to freeHeap. A larger one grows by
	// one part in moreGrowth of what lives in it.
	freeHeap   = 240 << 20
	moreGrowth = 10
)

// firstGC returns the percentage until the first collection: Go does not collect a heap with less than
// 4 MiB for each hundred percent.
func firstGC(least uint64) int { return int(least / (4 << 20) * 100) }

// daemonGrowth is by how many percent the heap of a daemon grows between two garbage collections. Snapshots live
// long, so half of Go's default costs a few percent of CPU time and saves a tenth of the memory.
const daemonGrowth = 50

// limitDaemon limits the memory of a daemon like limitMemory, and how far its heap grows. GOGC in the environment
// has precedence.
func limitDaemon(maxMemory int64) int64 {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(daemonGrowth)
	}
	return limitMemory(maxMemory)
}

// limitScan limits the memory of a scan in this process like limitMemory, and paces its garbage
// collections.
func limitScan(maxMemory int64) (release func()) {
	limitMemory(maxMemory)
	return paceCollections(scanGrowth)
}

// paceCollections paces the garbage collections of a command by bytes instead of by a percentage. A
// command begins with an empty heap, and would otherwise collect it so often that this takes a third of
// its CPU time, and let a large heap grow by half of what lives in it. GOGC in the environment has
// precedence. After release was called, the collector is as before.
func paceCollections(least uint64) (release func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	p := &pacer{least: least, before: debug.SetGCPercent(firstGC(least))}
	p.awaitGC()
	return p.release
}

// A pacer sets the percentage of the garbage collector anew after each collection.
type pacer struct {
	// least is by how many bytes the heap grows at least.
	least    uint64
	before   int
	mu       sync.Mutex
	released bool
}

// awaitGC paces after the next collection and each one that follows it, until release is called.
func (p *pacer) awaitGC() {
	type sentinel struct{ _ *pacer } // small objects without a pointer share blocks, and live longer
	runtime.AddCleanup(&sentinel{p}, func(p *pacer) {
		if p.pace() {
			p.awaitGC()
		}
	}, p)
}

// pace sets the percentage, unless release was called.
func (p *pacer) pace() bool {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.released {
		debug.SetGCPercent(growth(p.least, live[0].Value.Uint64()))
	}
	return !p.released
}

// growth returns by which percentage a heap may grow in which so many bytes live, and which grows by at
// least so many.
func growth(least, live uint64) (percent int) {
	by := max(least, live/moreGrowth)
	if live < freeHeap {
		by = max(by, min(live, freeHeap-live))
	}
	return min(int((100*by+live/2)/max(live, 1)), firstGC(least))
}

func (p *pacer) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.released = true
	debug.SetGCPercent(p.before)
}
