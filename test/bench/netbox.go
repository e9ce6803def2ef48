package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/test/netboxlab"
)

// netboxBench measures driftd with the fake NetBox of package netboxlab.
type netboxBench struct {
	runner
	driftd string
}

const (
	// netboxDelay is the response time of NetBox.
	netboxDelay = 5 * time.Millisecond
	// netboxRow is the time that NetBox 4.6 takes for each row of a list with references.
	netboxRow = time.Millisecond
	// slowAnswer is the response time of servers if only the time matters.
	slowAnswer = 100 * time.Millisecond
	// netboxPage is the number of objects in a page of NetBox.
	netboxPage = 1000

	maxNetBox       = 15 * time.Second
	maxNetBoxMemory = 300 * megabyte
	// maxTogether bounds a scan of several sources, relative to the slowest one.
	maxTogether = 1.1
)

const netboxConfig = `
sources:
  - {name: netbox, type: netbox, settings: {url: %q, token_file: token}}
declarations:
  - {name: bench, type: terraform, governs: [netbox], settings: {state: [empty.tfstate], unmanaged: []}}
`

const togetherConfig = `
sources:
%s
declarations:
  - {name: bench, type: terraform, governs: [%s], settings: {state: [empty.tfstate], unmanaged: []}}
`

const emptyState = `{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "bench", "outputs": {}, "resources": []}`

// measureNetBox measures reading a large NetBox, and several sources at once.
func measureNetBox(ctx context.Context, s scale, driftd, dir string) ([]result, error) {
	b := &netboxBench{runner{filepath.Join(dir, "netbox"), s.runs}, driftd}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	if err := b.write(map[string]string{"token": netboxlab.Token("driftd") + "\n", "pve-token": "0123\n", "empty.tfstate": emptyState}); err != nil {
		return nil, err
	}
	large, err := b.measureMachines(ctx, s.machines)
	if err != nil {
		return nil, err
	}
	hooks, err := b.measureHooks(ctx, s.machines/4)
	if err != nil {
		return nil, err
	}
	together, err := b.measureTogether(ctx)
	return slices.Concat(large, hooks, together), err
}

func (b *netboxBench) measureMachines(ctx context.Context, machines int) ([]result, error) {
	lab, err := newNetBox(machines)
	if err != nil {
		return nil, err
	}
	replay := &replay{server: lab, delay: netboxDelay, answers: map[string]*httptest.ResponseRecorder{}}
	server := serve(replay)
	defer server.Close()
	if err := b.write(map[string]string{"driftd.yaml": fmt.Sprintf(netboxConfig, server.URL)}); err != nil {
		return nil, err
	}
	// The fake computes each response once; NetBox's own work is not measured.
	if _, err := b.scan(ctx, "warm", 1); err != nil {
		return nil, err
	}
	replay.pages = 0
	cost, err := b.scan(ctx, "machines", b.runs)
	if err != nil {
		return nil, err
	}
	needed := 4 * ((machines + netboxPage - 1) / netboxPage) * b.runs
	what := fmt.Sprintf("driftd scan, %d NetBox VMs with interfaces and addresses, 5 ms an answer", machines)
	return []result{
		judged(what, cost.String(), "under 15 s", cost.wall < maxNetBox),
		judged("  its memory", fmt.Sprintf("%d MB", cost.memory/megabyte), "under 300 MB", cost.memory < maxNetBoxMemory),
		judged("  requests for machines, interfaces, MACs and addresses", fmt.Sprintf("%.2f of the pages", float64(replay.pages)/float64(needed)),
			"as many as pages", replay.pages == needed),
	}, nil
}

// measureTogether measures three sources, each alone and all in one scan.
func (b *netboxBench) measureTogether(ctx context.Context) ([]result, error) {
	lab, err := newNetBox(10)
	if err != nil {
		return nil, err
	}
	netbox := serve(&replay{server: lab, delay: slowAnswer, answers: map[string]*httptest.ResponseRecorder{}})
	defer netbox.Close()
	cluster := pvetest.New(manyGuests(60), rand.New(rand.NewPCG(1, 2)))
	cluster.Delay = slowAnswer
	pve := serve(cluster)
	defer pve.Close()
	sources := map[string]string{
		"netbox":  fmt.Sprintf(`  - {name: netbox, type: netbox, settings: {url: %q, token_file: token}}`, netbox.URL),
		"netbox2": fmt.Sprintf(`  - {name: netbox2, type: netbox, settings: {url: %q, token_file: token}}`, netbox.URL),
		"pve":     fmt.Sprintf(`  - {name: pve, type: proxmox, settings: {url: %q, token_id: "driftd@pve!ro", token_file: pve-token}}`, pve.URL),
	}
	var slowest time.Duration
	names := []string{"netbox", "netbox2", "pve"}
	var all []string
	for _, name := range names {
		all = append(all, sources[name])
		if err := b.write(map[string]string{"driftd.yaml": fmt.Sprintf(togetherConfig, sources[name], name)}); err != nil {
			return nil, err
		}
		alone, err := b.scan(ctx, name, b.runs)
		if err != nil {
			return nil, err
		}
		slowest = max(slowest, alone.wall)
	}
	if err := b.write(map[string]string{"driftd.yaml": fmt.Sprintf(togetherConfig, strings.Join(all, "\n"), strings.Join(names, ", "))}); err != nil {
		return nil, err
	}
	together, err := b.scan(ctx, "together", b.runs)
	if err != nil {
		return nil, err
	}
	ratio := float64(together.wall) / float64(slowest)
	return []result{judged("driftd scan of three sources, by the slowest of them alone",
		fmt.Sprintf("%.2f (%s by %s)", ratio, together.wall.Round(time.Millisecond), slowest.Round(time.Millisecond)), "at most 1.10", ratio <= maxTogether)}, nil
}

// newNetBox returns a NetBox whose user for driftd may read everything.
func newNetBox(machines int) (*netboxlab.Lab, error) {
	lab, err := netboxlab.New(netboxlab.Options{Version: "4.6.8", Now: time.Now})
	if err != nil {
		return nil, err
	}
	lab.Grant("driftd", netboxlab.Permission{Actions: []string{"view"}, Models: lab.Models()})
	if err := lab.Fill(machines); err != nil {
		return nil, fmt.Errorf("fill NetBox: %w", err)
	}
	return lab, nil
}

// A replay returns the earlier responses of a server, after a delay.
type replay struct {
	server http.Handler
	delay  time.Duration
	// perRow is the response time in addition to delay, for each row of a list.
	perRow  time.Duration
	mu      sync.Mutex
	answers map[string]*httptest.ResponseRecorder
	// header is that of the requests.
	header http.Header
	// pages counts the requests for the lists that Lab.Fill fills.
	pages int
}

func (r *replay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	answer := r.answer(request)
	time.Sleep(r.delay + r.perRow*time.Duration(rowsOf(answer)))
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	if _, err := w.Write(answer.Body.Bytes()); err != nil {
		return // The client went away.
	}
}

// rowsOf returns the number of rows of a list.
func rowsOf(answer *httptest.ResponseRecorder) int {
	var list struct{ Results []struct{} }
	if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil {
		return 0 // no list
	}
	return len(list.Results)
}

// answer returns the server's first response to such a request. Responses that depend on the
// time are requested anew.
func (r *replay) answer(request *http.Request) *httptest.ResponseRecorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, list := range []string{"/virtualization/virtual-machines/", "/virtualization/interfaces/", "/dcim/mac-addresses/", "/ipam/ip-addresses/"} {
		if strings.HasSuffix(request.URL.Path, list) {
			r.pages++
		}
	}
	key := request.URL.RequestURI()
	r.header = request.Header
	if known := r.answers[key]; known != nil {
		return known
	}
	answer := httptest.NewRecorder()
	r.server.ServeHTTP(answer, request)
	if !strings.Contains(key, "time_after") {
		r.answers[key] = answer
	}
	return answer
}

// renew requests the known responses of some paths again.
func (r *replay) renew(ctx context.Context, paths ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.answers {
		if !slices.ContainsFunc(paths, func(path string) bool { return strings.Contains(key, path) }) {
			continue
		}
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, key, http.NoBody)
		request.Header = r.header
		r.answers[key] = httptest.NewRecorder()
		r.server.ServeHTTP(r.answers[key], request)
	}
}

// scan measures scans with an empty state folder each.
func (b *netboxBench) scan(ctx context.Context, what string, runs int) (cost, error) {
	return b.median(runs, func(n int) (cost, error) {
		return b.process(ctx, []int{0}, b.driftd, "scan", "--config", b.path("driftd.yaml"),
			"--state-dir", b.path(fmt.Sprintf("%s-%d", what, n)))
	})
}
