package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// coreResources is the number of resources in the Go benchmarks of the core.
const coreResources = 100_000

// measureCore runs the Go benchmarks that need no cluster: matching, comparing and classifying
// on two cores, and the store.
func measureCore(ctx context.Context, s scale, _, _ string) ([]result, error) {
	marks, err := benchmarks(ctx, s.runs, "^(BenchmarkCore|BenchmarkSaveNew100k|BenchmarkSaveUnchanged100k)$",
		"./internal/daemon", "./internal/store")
	if err != nil {
		return nil, err
	}
	core, first, again := marks["BenchmarkCore"], marks["BenchmarkSaveNew100k"], marks["BenchmarkSaveUnchanged100k"]
	if core == nil || first == nil || again == nil {
		return nil, fmt.Errorf("read go benchmarks: one of three is not there, only %v", marks)
	}
	whole := core.duration()
	each := whole / coreResources
	grown := int64(again["kB-grown/op"] * 1024)
	return []result{
		judged("core: match, diff, classify 100,000 resources", whole.Round(time.Millisecond).String(), "under 1 s", whole < maxCore),
		judged("  each", each.Round(10*time.Nanosecond).String(), "under 20 µs", each < maxPerSubject),
		{what: "store: 100,000 new resources", measured: first.duration().Round(time.Millisecond).String() + fmt.Sprintf(", %.1f MB", first["MB"])},
		judged("store: the same again, unchanged", fmt.Sprintf("%s, grown by %d kB", again.duration().Round(time.Millisecond), grown>>10),
			"grown by under 1 MB", grown < maxDatabase),
	}, nil
}

// A benchmark has the values of one benchmark of go test by unit.
type benchmark map[string]float64

func (b benchmark) duration() time.Duration { return time.Duration(b["ns/op"]) }

// benchmarks runs Go benchmarks on two cores, several times each, and returns their values by
// name.
func benchmarks(ctx context.Context, runs int, pattern string, packages ...string) (map[string]benchmark, error) {
	args := append([]string{"test", "-run", "^$", "-bench", pattern, "-benchtime", strconv.Itoa(runs) + "x", "-cpu", "2"}, packages...)
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, out)
	}
	found := map[string]benchmark{}
	for line := range strings.Lines(string(out)) {
		if name, values, ok := parseBenchmark(line); ok {
			found[name] = values
		}
	}
	return found, nil
}

// parseBenchmark parses a line in the format of golang.org/design/14313: the name, the number
// of runs, and values with their units.
func parseBenchmark(line string) (string, benchmark, bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return "", nil, false
	}
	values := benchmark{}
	for i := 2; i+1 < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return "", nil, false
		}
		values[fields[i+1]] = v
	}
	name, _, _ := strings.Cut(fields[0], "-")
	return name, values, true
}
