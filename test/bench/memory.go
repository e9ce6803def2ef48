package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sampleInterval is the interval at which the memory of a process and its descendants is read.
// Shorter peaks may be missed, of all programs alike.
const sampleInterval = 50 * time.Millisecond

// peakMemory returns, once done is closed, the maximum of the resident memory of a process and
// its descendants.
func peakMemory(root int, done <-chan struct{}) int64 {
	tick := time.NewTicker(sampleInterval)
	defer tick.Stop()
	var peak int64
	for {
		select {
		case <-done:
			return peak
		case <-tick.C:
			peak = max(peak, residentMemory(root), highWater(root))
		}
	}
}

// highWater returns the maximum memory of the process itself so far. The kernel's count at the
// end of the process is too high: it includes the memory of the parent.
func highWater(pid int) int64 { return statusLine(pid, "VmHWM:") }

// statusLine returns a line in the format of proc_pid_status(5), in bytes.
func statusLine(pid int, name string) int64 {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status") // "" once it has ended
	_, rest, _ := strings.Cut(string(text), name)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}

// residentMemory returns the present memory of a process and its descendants.
func residentMemory(root int) int64 {
	// Other folders have no such file, and ended processes have no memory.
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	parents, pages := map[int]int{}, map[int]int64{}
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		if pid, parent, rss, ok := parseStat(string(text)); ok {
			parents[pid], pages[pid] = parent, rss
		}
	}
	var sum int64
	for pid := range pages {
		for above := pid; above != 0; above = parents[above] {
			if above == root {
				sum += pages[pid]
				break
			}
		}
	}
	return sum * int64(os.Getpagesize())
}

// parseStat parses a line in the format of proc_pid_stat(5): a number, a name in brackets with
// any characters, and numbers, of which the second is the parent and the twenty-second the
// resident pages.
func parseStat(line string) (pid, parent int, rss int64, ok bool) {
	number, _, found := strings.Cut(line, " (")
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if !found || len(fields) < 22 {
		return 0, 0, 0, false
	}
	var err [3]error
	pid, err[0] = strconv.Atoi(number)
	parent, err[1] = strconv.Atoi(fields[1])
	rss, err[2] = strconv.ParseInt(fields[21], 10, 64)
	return pid, parent, rss, err == [3]error{}
}
