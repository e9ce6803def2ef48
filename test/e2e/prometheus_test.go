//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/test/process"
)

// delivered is the folder of the files that are delivered with the program.
const delivered = "../../deploy"

// prometheusProgram returns the path of prometheus, promtool or alertmanager: in
// PROMETHEUS_BIN, or by PATH.
func prometheusProgram(name string) string {
	return filepath.Join(os.Getenv("PROMETHEUS_BIN"), name)
}

// TestRules checks the alerting rules with promtool, and tests each.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "rules_test.yaml"}} {
		cmd := exec.Command(prometheusProgram("promtool"), args...)
		cmd.Dir = filepath.Join(delivered, "prometheus")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v: %s", args, err, out)
		}
	}
}

// TestPrometheus scrapes a real daemon with a real Prometheus, with the delivered alerting
// rules; only their waiting times are shorter.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	hook := gone(t)
	config := dumpConfig + "notify: {receivers: [{name: hook, type: webhook, settings: {url: \"" + hook.URL + "\"}}]}\n"
	d := installDump(t, config).serve()
	p := startPrometheus(t, d.address)
	p.awaitAlerts() // those before the first scrape are resolved

	drift := "DriftdCriticalDrift drift_severity=high severity=warning source=test: 1 open high findings in test"
	d.lives("other")
	d.ends(2, "scan")
	p.awaitAlerts(drift, "DriftdNotificationFailing receiver=hook severity=critical: hook is not told of drift")
	p.tryDashboard()
	hook.back.Store(true)
	d.signal(syscall.SIGHUP)
	p.awaitAlerts(drift)
	d.lives("app", "other")
	d.ends(0, "scan")
	p.awaitAlerts()

	d.configure(config + "shedule: {every: 1m}\n")
	d.signal(syscall.SIGHUP)
	p.awaitAlerts("DriftdConfigReloadFailed severity=warning: driftd " + d.address + " runs with an old configuration")
	d.configure(config)
	d.signal(syscall.SIGHUP)
	p.awaitAlerts()

	d.stop()
	p.awaitAlerts("DriftdDown severity=critical: driftd at " + d.address + " does not answer")
	d.serve()
	p.awaitAlerts()
}

// A webhook is a server that is down until it is started.
type webhook struct {
	*httptest.Server
	back atomic.Bool
}

func gone(t *testing.T) *webhook {
	t.Helper()
	h := &webhook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !h.back.Load() {
			w.WriteHeader(http.StatusGone)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// dumpConfig configures a dump as the source.
const dumpConfig = `
state_dir: state
schedule: {every: 1h}
server: {listen: "$ADDRESS"}
sources:
  - {name: test, type: kubernetes, settings: {dump: cluster.yaml, dump_complete: true}}
declarations:
  - {name: shop, type: manifests, governs: [test], settings: {dir: deploy}}
`

// installDump makes an installation without a cluster: it declares two ConfigMaps, and both are
// live.
func installDump(t *testing.T, config string) *installation {
	t.Helper()
	i := &installation{t: t, dir: t.TempDir(), address: freeAddress(t)}
	i.configure(config)
	if err := os.Mkdir(i.path("deploy"), 0o700); err != nil {
		t.Fatal(err)
	}
	i.write("deploy/app.yaml", configMaps("app", "other"))
	i.lives("app", "other")
	return i
}

func (i *installation) configure(config string) {
	i.t.Helper()
	i.write("driftd.yaml", strings.ReplaceAll(config, "$ADDRESS", i.address))
}

// lives writes a dump of exactly these ConfigMaps. The file is replaced in one step.
func (i *installation) lives(names ...string) {
	i.t.Helper()
	i.write("cluster.yaml.new", configMaps(names...))
	if err := os.Rename(i.path("cluster.yaml.new"), i.path("cluster.yaml")); err != nil {
		i.t.Fatal(err)
	}
}

func configMaps(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop}\ndata: {color: blue}\n", name)
	}
	return b.String()
}

// ends runs a command, and checks its exit code.
func (i *installation) ends(want int, args ...string) {
	i.t.Helper()
	if stdout, stderr, code := i.driftd(args...); code != want {
		i.t.Fatalf("driftd %v: exit code %d, want %d: %s%s", args, code, want, stdout, stderr)
	}
}

// A prometheus is a running server that scrapes one daemon every second.
type prometheus struct {
	*installation
	url string
}

func startPrometheus(t *testing.T, target string) *prometheus {
	t.Helper()
	p := &prometheus{installation: &installation{t: t, dir: t.TempDir()}}
	p.write("rules.yaml", impatient(t, filepath.Join(delivered, "prometheus", "rules.yaml")))
	p.write("prometheus.yaml", fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yaml]
scrape_configs:
  - job_name: driftd
    static_configs: [{targets: ["%s"]}]
`, target))
	address := freeAddress(t)
	p.url = "http://" + address
	server := runServer(t, process.Options{
		Program: prometheusProgram("prometheus"), Log: p.path("prometheus.log"),
		Args: []string{"--config.file=" + p.path("prometheus.yaml"), "--storage.tsdb.path=" + p.path("data"),
			"--web.listen-address=" + address, "--log.level=warn"},
	})
	p.eventually(startTimeout, "prometheus", func() error {
		if server.Exited() {
			t.Fatalf("prometheus exited: %s", server.Log())
		}
		return p.ask("/api/v1/rules", nil, p.healthy)
	})
	return p
}

// impatient returns a file of rules whose alerts wait a second only.
func impatient(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string           `yaml:"name"`
			Rules []map[string]any `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			rule["for"] = "1s"
		}
	}
	text, err = yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ask requests Prometheus' API and returns the data of its response.
func (p *prometheus) ask(path string, query url.Values, use func(json.RawMessage) error) error {
	client := http.Client{Timeout: 10 * time.Second}
	resp, err := client.Get(p.url + path + "?" + query.Encode())
	if err != nil {
		return fmt.Errorf("ask prometheus: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read answer of prometheus: %w", err)
	}
	var answer struct {
		Status string          `json:"status"`
		Error  string          `json:"error"`
		Data   json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("decode answer of prometheus: %w: %s", err, body)
	}
	if answer.Status != "success" {
		return fmt.Errorf("prometheus refuses %s: %s", query, answer.Error)
	}
	return use(answer.Data)
}

// healthy checks that every rule was evaluated without an error.
func (p *prometheus) healthy(data json.RawMessage) error {
	var list struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("decode rules: %w", err)
	}
	if len(list.Groups) == 0 {
		return errors.New("prometheus has no rules")
	}
	for _, group := range list.Groups {
		for _, rule := range group.Rules {
			if rule.Health != "ok" {
				return fmt.Errorf("rule %s is %s: %s", rule.Name, rule.Health, rule.LastError)
			}
		}
	}
	return nil
}

// awaitAlerts waits until exactly these alerts fire, and none is pending.
func (p *prometheus) awaitAlerts(want ...string) {
	p.t.Helper()
	p.eventually(startTimeout, "alerts", func() error {
		return p.ask("/api/v1/alerts", nil, func(data json.RawMessage) error {
			got, err := alerts(data)
			if err == nil && !slices.Equal(got, want) {
				err = fmt.Errorf("there are %q, want %q", got, want)
			}
			return err
		})
	})
}

// alerts returns a line for each alert: its name, its labels without those of the target, and
// its summary.
func alerts(data json.RawMessage) ([]string, error) {
	var list struct {
		Alerts []struct {
			State               string
			Labels, Annotations map[string]string
		}
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("decode alerts: %w", err)
	}
	lines := make([]string, 0, len(list.Alerts))
	for _, a := range list.Alerts {
		var labels []string
		for name, value := range a.Labels {
			if name != "alertname" && name != "instance" && name != "job" {
				labels = append(labels, " "+name+"="+value)
			}
		}
		slices.Sort(labels)
		line := a.Labels["alertname"] + strings.Join(labels, "") + ": " + a.Annotations["summary"]
		if a.State != "firing" {
			line += " (" + a.State + ")"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines, nil
}

// tryDashboard runs every query of the dashboard with Prometheus, in Grafana's form, until each
// has a result: some metrics are updated every few seconds.
func (p *prometheus) tryDashboard() {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(delivered, "grafana", "driftd.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		p.t.Fatal(err)
	}
	variables := strings.NewReplacer("$source", "test|other", "$__rate_interval", "1m")
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			query := url.Values{"query": {variables.Replace(target.Expr)}}
			p.eventually(startTimeout, "panel "+panel.Title+": "+target.Expr, func() error {
				return p.ask("/api/v1/query", query, answered)
			})
		}
	}
}

// answered checks that a result is not empty.
func answered(data json.RawMessage) error {
	var answer struct{ Result []json.RawMessage }
	if err := json.Unmarshal(data, &answer); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	if len(answer.Result) == 0 {
		return errors.New("nothing answers")
	}
	return nil
}
