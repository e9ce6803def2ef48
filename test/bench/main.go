// Command bench compares driftd with kubectl diff, tofu plan and helm template on real servers, and with its
// own targets, in one run on one machine: `make bench`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/driftd/driftd/test/kubetest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A scale has the sizes of the measurements.
type scale struct {
	small, large estate
	// planned and recorded are the numbers of resources that are planned and read from a state,
	// guests is the number of guests of a Proxmox cluster.
	// edits is the number of objects that are edited, one after the other.
	// machines is the number of virtual machines in a NetBox.
	planned, recorded, guests, machines, edits int
	// findings is the number of findings on a page, viewers that of its clients, and resources
	// that of the resources of an idle daemon.
	findings, viewers, resources int
	// listed is the number of findings of a list.
	listed int
	// charts is the number of charts that are rendered, and rented that of the resources of an account of AWS.
	charts, rented int
	// runs is the number of runs of each short measurement; the median counts.
	runs int
}

var errMissed = errors.New("a target was missed")

func run(ctx context.Context) error {
	driftd := flag.String("driftd", filepath.Join("bin", "driftd"), "the program under test")
	short := flag.Bool("short", false, "a quick look: less of everything, and no judgement")
	only := flag.String("only", "", "measure one area: machine, kubernetes, terraform, proxmox, netbox, openstack, aws, alerts, page, lists, core, box or charts")
	flag.Parse()
	s := scale{small: estate{1000, 2000}, large: estate{3333, 6667}, planned: 1000, recorded: 5000, guests: 3000, machines: 20000, edits: 200, findings: 10000, viewers: 200, resources: 5000, listed: 50000, charts: 200, rented: 200000, runs: 5}
	if *short {
		s = scale{small: estate{50, 100}, large: estate{150, 300}, planned: 50, recorded: 200, guests: 300, machines: 2000, edits: 10, findings: 500, viewers: 20, resources: 300, listed: 500, charts: 20, rented: 2000, runs: 1}
	}
	program, err := filepath.Abs(*driftd)
	if err != nil {
		return fmt.Errorf("find driftd: %w", err)
	}
	results, err := measureAll(ctx, s, program, *only)
	if err != nil {
		return err
	}
	if *short {
		results = withoutVerdicts(results)
	}
	if err := printResults(os.Stdout, results); err != nil {
		return err
	}
	if slices.ContainsFunc(results, func(r result) bool { return r.verdict() == "MISSED" }) {
		return errMissed
	}
	return nil
}

func measureAll(ctx context.Context, s scale, driftd, only string) ([]result, error) {
	dir, err := os.MkdirTemp("", "driftd-bench-")
	if err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var results []result
	for _, a := range areas() {
		if only != "" && only != a.name {
			continue
		}
		more, err := a.measure(ctx, s, driftd, dir)
		if err != nil {
			return nil, err
		}
		results = append(results, more...)
	}
	return results, nil
}

// An area is a group of measurements.
type area struct {
	name    string
	measure func(ctx context.Context, s scale, driftd, dir string) ([]result, error)
}

func areas() []area {
	return []area{
		{"machine", measureMachine},
		{"kubernetes", measureProcess},
		{"terraform", measureTerraform},
		{"proxmox", measureProxmox},
		{"netbox", measureNetBox},
		{"openstack", measureOpenStack},
		{"aws", measureAWS},
		{"alerts", measureAlerts},
		{"page", measurePage},
		{"lists", measureLists},
		{"core", measureCore},
		{"box", measureBox},
		{"charts", measureCharts},
	}
}

// measureProcess measures the whole program on a cluster of its own.
func measureProcess(ctx context.Context, s scale, driftd, dir string) (results []result, err error) {
	cluster, err := kubetest.Start(ctx, kubetest.Options{Dir: filepath.Join(dir, "cluster")})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	b := &bench{cluster: cluster, driftd: driftd, runner: runner{dir, s.runs}}
	if err := cluster.WriteKubeconfig(b.path("kubeconfig"), "default", cluster.Admin()); err != nil {
		return nil, err
	}
	return b.measure(ctx, s)
}

// A result is one line of the table.
type result struct {
	what, measured, target string
	// met is nil if there is no target.
	met *bool
}

func (r result) verdict() string {
	switch {
	case r.met == nil:
		return ""
	case *r.met:
		return "met"
	}
	return "MISSED"
}

func judged(what, measured, target string, met bool) result {
	return result{what, measured, target, &met}
}

// withoutVerdicts returns the results of a run that is too small to compare with targets.
func withoutVerdicts(results []result) []result {
	plain := slices.Clone(results)
	for i := range plain {
		plain[i].met = nil
	}
	return plain
}

func printResults(w io.Writer, results []result) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tMEASURED\tTARGET\t")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.what, r.measured, r.target, r.verdict())
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print results: %w", err)
	}
	return nil
}
