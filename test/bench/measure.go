package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/driftd/driftd/test/kubetest"
)

const (
	megabyte = 1 << 20
	// The targets.
	minSpeedup    = 20
	maxGrowth     = 4.0
	maxMemory     = 200 * megabyte
	maxStart      = 50 * time.Millisecond
	maxCore       = time.Second
	maxPerSubject = 20 * time.Microsecond
	maxDatabase   = megabyte
	maxOverhead   = 0.05
	minLighter    = 10
	maxGuests     = 6 * time.Second
)

// bench measures programs on one cluster.
type bench struct {
	runner
	cluster *kubetest.Cluster
	driftd  string
}

// A runner runs programs in a folder.
type runner struct {
	dir  string
	runs int
}

func (r runner) path(name string) string { return filepath.Join(r.dir, name) }

// write writes files by name.
func (r runner) write(files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(r.path(name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// cost is the cost of a process and its descendants.
type cost struct {
	wall, cpu time.Duration
	memory    int64
}

// and returns the cost of two processes that run one after the other.
func (c cost) and(d cost) cost {
	return cost{c.wall + d.wall, c.cpu + d.cpu, max(c.memory, d.memory)}
}

func (c cost) String() string {
	text := fmt.Sprintf("%s, %s CPU", c.wall.Round(time.Millisecond), c.cpu.Round(time.Millisecond))
	if c.memory == 0 { // ended before the first sample
		return text
	}
	return fmt.Sprintf("%s, %d MB", text, c.memory/megabyte)
}

func (b *bench) measure(ctx context.Context, s scale) ([]result, error) {
	if err := s.small.apply(ctx, b.cluster, b.path("small"), "bench-small"); err != nil {
		return nil, err
	}
	small, err := b.scan(ctx, "small")
	if err != nil {
		return nil, err
	}
	kubectl, err := b.process(ctx, []int{0}, b.cluster.Kubectl(), "--kubeconfig", b.path("kubeconfig"),
		"diff", "--server-side", "--force-conflicts", "-f", b.path("small"))
	if err != nil {
		return nil, err
	}
	rest := estate{s.large.deployments - s.small.deployments, s.large.configMaps - s.small.configMaps}
	if err := rest.apply(ctx, b.cluster, b.path("rest"), "bench-rest"); err != nil {
		return nil, err
	}
	large, err := b.scan(ctx, "small", "rest")
	if err != nil {
		return nil, err
	}
	start, err := b.median(b.runs*4, func(int) (cost, error) { return b.process(ctx, []int{0}, b.driftd, "version") })
	if err != nil {
		return nil, err
	}
	return tabulate(s, small, kubectl, large, start), nil
}

func tabulate(s scale, small, kubectl, large, start cost) []result {
	speedup := kubectl.wall.Seconds() / small.wall.Seconds()
	growth := large.wall.Seconds() / small.wall.Seconds()
	return []result{
		{what: "driftd scan, " + s.small.String(), measured: small.String()},
		{what: "kubectl diff --server-side, the same", measured: kubectl.String()},
		judged("  times faster", fmt.Sprintf("%.0f (CPU %.0f)", speedup, kubectl.cpu.Seconds()/small.cpu.Seconds()),
			fmt.Sprintf("at least %d, better 50", minSpeedup), speedup >= minSpeedup),
		judged("  peak memory", fmt.Sprintf("%d MB", small.memory/megabyte), "under 200 MB", small.memory < maxMemory),
		{what: "driftd scan, " + s.large.String(), measured: large.String()},
		judged("  against the smaller", fmt.Sprintf("%.1f times", growth), "about 4 times at most", growth <= maxGrowth*1.1),
		judged("driftd version", start.wall.Round(time.Millisecond/10).String(), "under 50 ms", start.wall < maxStart),
	}
}

// scan measures driftd scan as a first scan each time, with an empty state folder.
func (b *bench) scan(ctx context.Context, folders ...string) (cost, error) {
	return b.median(b.runs, func(n int) (cost, error) {
		args := []string{"scan", "--kubeconfig", b.path("kubeconfig"),
			"--state-dir", b.path(fmt.Sprintf("state-%d-%d", len(folders), n))}
		for _, f := range folders {
			args = append(args, b.path(f))
		}
		return b.process(ctx, []int{0}, b.driftd, args...)
	})
}

// median measures several times and returns the run with the median wall time.
func (runner) median(runs int, measure func(n int) (cost, error)) (cost, error) {
	costs := make([]cost, 0, runs)
	for n := range runs {
		c, err := measure(n)
		if err != nil {
			return cost{}, err
		}
		costs = append(costs, c)
	}
	return middle(costs), nil
}

// middle returns the cost with the median wall time.
func middle(costs []cost) cost {
	slices.SortFunc(costs, func(a, b cost) int { return int(a.wall - b.wall) })
	return costs[len(costs)/2]
}

// process runs a program to its end, and checks its exit code.
func (r runner) process(ctx context.Context, codes []int, program string, args ...string) (cost, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "HOME="+r.dir)
	return measure(cmd, codes)
}

func measure(cmd *exec.Cmd, codes []int) (cost, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return cost{}, fmt.Errorf("run %s: %w", cmd, err)
	}
	done, peak := make(chan struct{}), make(chan int64)
	go func() { peak <- peakMemory(cmd.Process.Pid, done) }()
	err := cmd.Wait()
	wall := time.Since(began)
	close(done)
	together := <-peak
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		return cost{}, fmt.Errorf("run %s: %w", cmd, err)
	}
	state := cmd.ProcessState
	if !slices.Contains(codes, state.ExitCode()) {
		return cost{}, fmt.Errorf("%s: %s: %.2000s", cmd, state, out.Bytes())
	}
	return cost{wall, state.UserTime() + state.SystemTime(), together}, nil
}
