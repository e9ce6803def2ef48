package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	maxPageTime   = 200 * time.Millisecond
	maxPageWeight = 300 * 1000
	maxIdle       = 80 * megabyte
	maxIdleShare  = 0.01
	maxDemo       = 10 * time.Second
	maxNotified   = 5 * time.Second
	// asked is the number of requests for a page; the median counts.
	asked = 20
	// idleFor is the time for which an idle daemon is measured.
	idleFor = 30 * time.Second
)

// measurePage measures the pages, and the cost of an idle daemon: driftd serve with files in
// the form of kubectl's output.
func measurePage(ctx context.Context, s scale, driftd, dir string) ([]result, error) {
	var results []result
	for _, part := range []func(context.Context, scale, string, string) ([]result, error){measureViews, measureIdle, measureDemo} {
		more, err := part(ctx, s, driftd, dir)
		if err != nil {
			return nil, err
		}
		results = append(results, more...)
	}
	return results, nil
}

// measureViews measures the page of a daemon with many findings, for one client and for many.
func measureViews(ctx context.Context, s scale, driftd, dir string) (results []result, err error) {
	dir = filepath.Join(dir, "page")
	drifted := func(o map[string]any) { o["data"].(map[string]any)["feature"] = "off" }
	if err := writeEstate(dir, estate{configMaps: s.findings}, drifted); err != nil {
		return nil, err
	}
	d, err := startPages(ctx, driftd, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.settled(ctx, s.findings); err != nil {
		return nil, err
	}
	results, err = d.measureAnswers(ctx, s.findings)
	if err != nil {
		return nil, err
	}
	crowd, err := d.measureViewers(ctx, s.viewers)
	return append(results, crowd...), err
}

// measureAnswers measures the time and size of the page and of API responses.
func (d *pages) measureAnswers(ctx context.Context, findings int) ([]result, error) {
	page, err := d.answers(ctx, "/")
	if err != nil {
		return nil, err
	}
	list, err := d.answers(ctx, "/api/v1/findings")
	if err != nil {
		return nil, err
	}
	report, err := d.answers(ctx, "/api/v1/report")
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("the page with %d findings, median of %d", findings, asked)
	return []result{
		judged(what, fmt.Sprintf("%s (first %s), %s", ms(page.median), ms(page.first), ofTarget(page.median.Seconds(), maxPageTime.Seconds())),
			"under 200 ms", page.median < maxPageTime),
		judged("  its weight", fmt.Sprintf("%.0f kB, %s (%.0f kB gzipped)", kB(page.weight), ofTarget(float64(page.weight), maxPageWeight), kB(page.gzipped)),
			"under 300 kB", page.weight < maxPageWeight),
		{what: "  all of /api/v1/findings", measured: fmt.Sprintf("%s, %.1f MB", ms(list.median), kB(list.weight)/1000)},
		{what: "  all of /api/v1/report", measured: fmt.Sprintf("%s, %.1f MB", ms(report.median), kB(report.weight)/1000)},
	}, nil
}

// measureIdle measures a daemon that waits after its first scan.
func measureIdle(ctx context.Context, s scale, driftd, dir string) (results []result, err error) {
	dir = filepath.Join(dir, "idle")
	e := estate{s.resources / 3, s.resources - s.resources/3}
	if err := writeEstate(dir, e, func(map[string]any) {}); err != nil {
		return nil, err
	}
	d, err := startPages(ctx, driftd, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.settled(ctx, 0); err != nil {
		return nil, err
	}
	pid := d.cmd.Process.Pid
	before, began := processorTime(pid), time.Now()
	if err := pause(ctx, idleFor); err != nil {
		return nil, err
	}
	share := (processorTime(pid) - before).Seconds() / time.Since(began).Seconds()
	memory, own := residentMemory(pid), statusLine(pid, "RssAnon:")
	return []result{
		judged(fmt.Sprintf("an idle daemon with %d resources: memory after %s", s.resources, idleFor), fmt.Sprintf("%d MB, %s (%d MB at most)",
			memory/megabyte, ofTarget(float64(memory), maxIdle), highWater(pid)/megabyte), "under 80 MB", memory < maxIdle),
		{what: "  of it", measured: fmt.Sprintf("%d MB of its own, %d MB of the program's and the store's files", own/megabyte, (memory-own)/megabyte)},
		judged("  its share of a core", fmt.Sprintf("%.2f %%, %s", 100*share, ofTarget(share, maxIdleShare)), "under 1 %", share < maxIdleShare),
	}, nil
}

// measureDemo measures the time from the command to a finding on the page.
func measureDemo(ctx context.Context, s scale, driftd, _ string) ([]result, error) {
	took := make([]time.Duration, 0, s.runs)
	for range s.runs {
		t, err := demoTime(ctx, driftd)
		if err != nil {
			return nil, err
		}
		took = append(took, t)
	}
	slices.Sort(took)
	median := took[len(took)/2]
	return []result{judged("driftd demo: from the command to a drift on the page", fmt.Sprintf("%s (at most %s), %s", ms(median), ms(took[len(took)-1]),
		ofTarget(median.Seconds(), maxDemo.Seconds())), "under 10 s", took[len(took)-1] < maxDemo)}, nil
}

func demoTime(ctx context.Context, driftd string) (took time.Duration, err error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	d := newPages(ctx, address, driftd, "demo", "--listen", address)
	if err := d.cmd.Start(); err != nil {
		return 0, fmt.Errorf("start driftd demo: %w", err)
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	err = d.until(ctx, func() (bool, error) {
		body, err := d.body(ctx, "/", "")
		return strings.Contains(string(body), `href="/findings/`), err
	})
	return time.Since(began), err
}

func ms(d time.Duration) string { return d.Round(time.Millisecond / 10).String() }

func kB(bytes int) float64 { return float64(bytes) / 1000 }

// ofTarget returns how much of a target was used up.
func ofTarget(measured, target float64) string {
	return fmt.Sprintf("%.2f of the target", measured/target)
}

// writeEstate writes manifests, and kubectl's output for a cluster in which each was applied
// and then edited by hand.
func writeEstate(dir string, e estate, edit func(map[string]any)) (err error) {
	objects := e.objects("bench")
	if err := writeManifests(filepath.Join(dir, "manifests"), objects); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, "cluster.json"))
	if err != nil {
		return fmt.Errorf("write the cluster: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	items := make([]map[string]any, 0, len(objects)+1)
	items = append(items, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "bench"}})
	for n, o := range objects {
		live := map[string]any{}
		if err := yaml.Unmarshal([]byte(o.manifest), &live); err != nil {
			return fmt.Errorf("read a manifest: %w", err)
		}
		edit(live)
		meta := live["metadata"].(map[string]any)
		meta["uid"], meta["resourceVersion"], meta["creationTimestamp"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", n), strconv.Itoa(n+1), "2026-03-01T10:00:00Z"
		meta["managedFields"] = []any{map[string]any{"manager": "kubectl-edit", "operation": "Update", "apiVersion": live["apiVersion"], "time": "2026-03-01T11:00:00Z",
			"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:data": map[string]any{"f:feature": map[string]any{}}}}}
		items = append(items, live)
	}
	if err := json.NewEncoder(file).Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}); err != nil {
		return fmt.Errorf("write the cluster: %w", err)
	}
	return nil
}

// An answered has the times of the first response for a path and the median one.
type answered struct {
	first, median   time.Duration
	weight, gzipped int
}

// answers requests a path many times.
func (d *pages) answers(ctx context.Context, path string) (answered, error) {
	var a answered
	took := make([]time.Duration, 0, asked)
	for range asked {
		began := time.Now()
		body, err := d.body(ctx, path, "identity")
		if err != nil {
			return a, err
		}
		took = append(took, time.Since(began))
		a.weight = len(body)
	}
	a.first = took[0]
	slices.Sort(took)
	a.median = took[len(took)/2]
	packed, err := d.body(ctx, path, "gzip")
	a.gzipped = len(packed)
	return a, err
}

// body requests a path; with an encoding the body stays encoded.
func (d *pages) body(ctx context.Context, path, encoding string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	if encoding != "" {
		r.Header.Set("Accept-Encoding", encoding)
	}
	answer, err := d.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	body, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask for %s: %s: %.500s", path, answer.Status, body)
	}
	return body, nil
}
