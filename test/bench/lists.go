package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxListed bounds listing, filtering and sorting 50,000 findings.
const maxListed = 100 * time.Millisecond

// measureLists measures the lists of a state folder with many findings, without a daemon.
func measureLists(ctx context.Context, s scale, driftd, dir string) ([]result, error) {
	r := runner{filepath.Join(dir, "lists"), s.runs}
	if err := os.MkdirAll(r.path("deploy"), 0o700); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	var manifests strings.Builder
	for i := range s.listed {
		fmt.Fprintf(&manifests, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d, namespace: n%d}\ndata: {a: \"%d\"}\n---\n", i, i%50, i)
	}
	err := r.write(map[string]string{"deploy/all.yaml": manifests.String(), "live.yaml": "apiVersion: v1\nkind: List\nitems: []\n"})
	if err != nil {
		return nil, err
	}
	const drifted = 2
	if _, err := r.process(ctx, []int{drifted}, driftd, "scan", r.path("deploy"), "--live", r.path("live.yaml"), "--live-complete", "--state-dir", r.path("state")); err != nil {
		return nil, err
	}
	results := []result{{what: fmt.Sprintf("lists of %d findings", s.listed)}}
	for _, list := range [][]string{{}, {"--severity", "high", "--kind", "cm", "-n", "n7"}, {"-o", "csv", "--columns", "id,severity,who"}} {
		took, err := r.median(s.runs, func(int) (cost, error) {
			return r.process(ctx, []int{0}, driftd, append([]string{"findings", "list", "--state-dir", r.path("state")}, list...)...)
		})
		if err != nil {
			return nil, err
		}
		results = append(results, judged("  "+strings.TrimSpace("findings list "+strings.Join(list, " ")), took.String(), "under 100 ms", took.wall < maxListed))
	}
	return results, nil
}
