package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack/slacktest"

	"github.com/driftd/driftd/test/kubetest"
)

const (
	maxToSlack = 2 * time.Second
	maxTell    = 5 * time.Second
	maxPage    = 50 * time.Millisecond
	// tooLate is the timeout of a message.
	tooLate = 30 * time.Second
)

// measureAlerts measures the time from an edit to Slack, and the cost of notifying and showing
// many findings.
func measureAlerts(ctx context.Context, s scale, driftd, dir string) (results []result, err error) {
	took, err := editsToSlack(ctx, s.edits, driftd, filepath.Join(dir, "alerts"))
	if err != nil {
		return nil, err
	}
	slices.Sort(took)
	p99 := took[(len(took)*99+99)/100-1]
	marks, err := benchmarks(ctx, s.runs, "^(BenchmarkNotify5000|BenchmarkPage)$", "./internal/daemon", "./internal/metrics")
	if err != nil {
		return nil, err
	}
	notify, page := marks["BenchmarkNotify5000"], marks["BenchmarkPage"]
	if notify == nil || page == nil {
		return nil, fmt.Errorf("read go benchmarks: one of two is not there, only %v", marks)
	}
	cpu := time.Duration(notify["ns-cpu/op"])
	return []result{
		judged(fmt.Sprintf("from an edit to the Slack server, p99 of %d", len(took)), fmt.Sprintf("%s (median %s)",
			p99.Round(time.Millisecond), took[len(took)/2].Round(time.Millisecond)), "under 2 s", p99 < maxToSlack),
		judged("5,000 new findings: planned, stored and posted", fmt.Sprintf("%s CPU, %.0f messages", cpu.Round(time.Millisecond), notify["messages/op"]),
			"under 5 s of CPU", cpu < maxTell),
		judged("/metrics with 10,000 findings", fmt.Sprintf("%s, %.0f kB", page.duration().Round(time.Millisecond/10), page["bytes/page"]/1024),
			"under 50 ms", page.duration() < maxPage),
	}, nil
}

// editsToSlack edits objects one after the other, and returns for each edit the time from the
// API server's response until it arrived at the Slack server.
func editsToSlack(ctx context.Context, edits int, driftd, dir string) (took []time.Duration, err error) {
	cluster, err := kubetest.Start(ctx, kubetest.Options{Dir: filepath.Join(dir, "cluster")})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	if err := cluster.WriteKubeconfig(filepath.Join(dir, "kubeconfig"), "default", cluster.Admin()); err != nil {
		return nil, err
	}
	objects := estate{configMaps: edits}
	if err := objects.apply(ctx, cluster, filepath.Join(dir, "manifests"), "bench-alerts"); err != nil {
		return nil, err
	}
	posts := make(chan string, 4*edits)
	slack := slackServer(posts)
	defer slack.Stop()
	daemon, err := startDaemon(ctx, driftd, dir, slack.GetAPIURL())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, daemon.stop()) }()
	if err := daemon.ready(ctx); err != nil {
		return nil, err
	}
	a := applier{client: cluster.Client(), url: cluster.URL()}
	defer a.client.CloseIdleConnections()
	for i, o := range objects.objects("bench-alerts") {
		o.manifest = strings.Replace(o.manifest, `feature: "on"`, `feature: "off"`, 1)
		if err := a.applyAs(ctx, o, "kubectl-edit"); err != nil {
			return nil, err
		}
		since := time.Now()
		if err := arrives(ctx, posts, fmt.Sprintf("config-%05d", i)); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, daemon.log.String())
		}
		took = append(took, time.Since(since))
	}
	return took, nil
}

// slackServer is slack-go's own test server, which passes posts on.
func slackServer(posts chan<- string) *slacktest.Server {
	sent := 0
	server := slacktest.NewTestServer(func(c slacktest.Customize) {
		c.Handle("/chat.postMessage", func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, megabyte)
			posts <- r.FormValue("text") + r.FormValue("blocks") + r.FormValue("attachments")
			sent++
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "channel": "C0BENCH", "ts": fmt.Sprintf("1700000000.%06d", sent)})
		})
	})
	server.Start()
	return server
}

// arrives waits for a post that contains a text.
func arrives(ctx context.Context, posts <-chan string, of string) error {
	timer := time.NewTimer(tooLate)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			return fmt.Errorf("nothing about %s arrived within %s", of, tooLate)
		case text := <-posts:
			if strings.Contains(text, of) {
				return nil
			}
		}
	}
}

// A running is a daemon process.
type running struct {
	cmd    *exec.Cmd
	log    *strings.Builder
	dir    string
	driftd string
}

const alertsConfig = `state_dir: state
schedule: {every: 10m}
server: {listen: ""}
sources:
  - {name: bench, type: kubernetes, settings: {kubeconfig: kubeconfig}}
declarations:
  - {name: git, type: manifests, governs: [bench], settings: {dir: manifests}}
notify:
  receivers:
    - {name: slack, type: slack, rate: {messages: 0}, settings: {token_file: token, channel: C0BENCH, api_url: %q}}
  routes:
    - {receivers: [slack], group_by: [resource]}
`

func startDaemon(ctx context.Context, driftd, dir, slackURL string) (*running, error) {
	files := runner{dir: dir}
	if err := files.write(map[string]string{"token": "xoxb-bench", "driftd.yaml": fmt.Sprintf(alertsConfig, slackURL)}); err != nil {
		return nil, err
	}
	d := &running{cmd: exec.CommandContext(ctx, driftd, "serve", "--config", files.path("driftd.yaml")), log: &strings.Builder{}, dir: dir, driftd: driftd}
	d.cmd.Stderr = d.log
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start driftd: %w", err)
	}
	return d, nil
}

// ready waits for the end of the first scan, when all sources were read.
func (d *running) ready(ctx context.Context) error {
	socket := filepath.Join(d.dir, "state", "driftd.sock")
	for range 100 {
		if _, err := os.Stat(socket); err == nil {
			out, err := exec.CommandContext(ctx, d.driftd, "scan", "--config", filepath.Join(d.dir, "driftd.yaml")).CombinedOutput()
			if err != nil {
				return fmt.Errorf("first scan: %w: %s\n%s", err, out, d.log.String())
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return fmt.Errorf("the daemon did not start: %s", d.log.String())
}

func (d *running) stop() error {
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("stop driftd: %w", err)
	}
	if err := d.cmd.Wait(); err != nil {
		return fmt.Errorf("driftd: %w: %s", err, d.log.String())
	}
	return nil
}
