//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/process"
)

// shownEvery is the interval at which the daemon sends open findings, and shownFor the time
// after which an alert ends that is not sent again.
const (
	shownEvery = time.Second
	shownFor   = 3 * shownEvery
)

// TestAlertmanager sends the findings of a daemon to a real Alertmanager.
func TestAlertmanager(t *testing.T) {
	t.Parallel()
	am := startAlertmanager(t)
	i := installDump(t, dumpConfig+`
owners: [{match: {label: {team: shop}}, owner: team-shop}]
notify: {receivers: [{name: alerts, type: alertmanager, settings: {urls: ["`+am.url+`"], every: `+shownEvery.String()+`}}]}
`)
	i.write("deploy/app.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: app, namespace: shop, labels: {app.kubernetes.io/name: app, team: shop}}
`)
	i.lives(strconv.Quote(hostile))
	d := i.serve()
	i.ends(2, "scan")
	app, made := found(t, d, model.Missing), found(t, d, model.Unmanaged)
	wantApp := map[string]string{
		"alertname": "DriftdFinding", "finding": app.ID, "source": "test", "kind": "kubernetes/ConfigMap", "resource": "shop/app",
		"namespace": "shop", "declaration": "shop", "verdict": "missing", "severity": "high", "owner": "team-shop",
		"label_app_kubernetes_io_name": "app", "label_team": "shop",
	}
	wantMade := map[string]string{
		"alertname": "DriftdFinding", "finding": made.ID, "source": "test", "kind": "kubernetes/ConfigMap", "resource": "shop/" + harmless,
		"namespace": "shop", "verdict": "unmanaged", "severity": string(made.Severity),
	}
	am.awaits(wantApp, wantMade)
	am.hasNoMentions()

	i.ends(0, "accept", app.ID, "--reason", "on its way out", "--owner", "shop", "--until", "30d")
	am.awaits(wantMade)
	if am.resolved() == 0 {
		t.Error("the alert of what was accepted was not ended: it was only shown no more")
	}

	am.kill()
	i.awaitsStatus("connection refused", true)
	am.start()
	am.awaits(wantMade)
	i.awaitsStatus("connection refused", false)

	am.outlives(d)
}

// hostile is a deceptive name of a ConfigMap, and harmless its form in a label.
const (
	hostile  = "<!channel> @here {{ .Labels }} \"x\",y=\\z\n\u202eredrum\x1b[2J"
	harmless = `<!channel> @here {{ .Labels }} "x",y=\z\n\u202eredrum\x1b[2J`
)

// found returns the only finding with a verdict.
func found(t *testing.T, d *daemon, v model.Verdict) model.Finding {
	t.Helper()
	r, err := d.report()
	if err != nil {
		t.Fatal(err)
	}
	list := slices.DeleteFunc(r.Findings, func(f model.Finding) bool { return f.Verdict != v })
	if len(list) != 1 {
		t.Fatalf("%d findings are %s, want one", len(list), v)
	}
	return list[0]
}

// awaitsStatus waits until `driftd status` contains a text, or does not.
func (i *installation) awaitsStatus(text string, said bool) {
	i.t.Helper()
	i.eventually(startTimeout, "its status", func() error {
		stdout, stderr, code := i.driftd("status")
		if code != 0 || strings.Contains(stdout, text) != said {
			return fmt.Errorf("it has %q = %t, want %t: exit code %d: %s%s", text, !said, said, code, stdout, stderr)
		}
		return nil
	})
}

// An alertmanager is a running server that can be restarted at the same address.
type alertmanager struct {
	*installation
	url    string
	server *process.Process
}

func startAlertmanager(t *testing.T) *alertmanager {
	t.Helper()
	a := &alertmanager{installation: &installation{t: t, dir: t.TempDir(), address: freeAddress(t)}}
	a.url = "http://" + a.address
	a.write("alertmanager.yaml", "{route: {receiver: nobody}, receivers: [{name: nobody}]}\n")
	a.start()
	return a
}

func (a *alertmanager) start() {
	a.t.Helper()
	a.server = runServer(a.t, process.Options{
		Program: prometheusProgram("alertmanager"), Log: a.path("alertmanager.log"),
		Args: []string{"--config.file=" + a.path("alertmanager.yaml"), "--storage.path=" + a.path("data"),
			"--web.listen-address=" + a.address, "--cluster.listen-address=", "--log.level=warn"},
	})
	a.eventually(startTimeout, "alertmanager", func() error {
		if a.server.Exited() {
			a.t.Fatalf("alertmanager exited: %s", a.server.Log())
		}
		_, err := get(a.url + "/-/ready")
		return err
	})
}

func (a *alertmanager) kill() {
	a.t.Helper()
	if err := a.server.Kill(); err != nil {
		a.t.Fatal(err)
	}
}

// An activeAlert is an alert that has not ended, in the form of Alertmanager's API.
type activeAlert struct {
	Labels, Annotations         map[string]string
	StartsAt, EndsAt, UpdatedAt time.Time
	Status                      struct{ State string }
}

// active lists the active alerts, sorted by verdict.
func (a *alertmanager) active() ([]activeAlert, error) {
	body, err := get(a.url + "/api/v2/alerts")
	if err != nil {
		return nil, err
	}
	var list []activeAlert
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		return nil, fmt.Errorf("decode alerts: %w: %s", err, body)
	}
	slices.SortFunc(list, func(x, y activeAlert) int { return strings.Compare(x.Labels["verdict"], y.Labels["verdict"]) })
	return list, nil
}

// awaits waits until exactly the alerts with these labels are active.
func (a *alertmanager) awaits(want ...map[string]string) {
	a.t.Helper()
	a.eventually(startTimeout, "alerts", func() error {
		list, err := a.active()
		if err != nil {
			return err
		}
		got := make([]map[string]string, 0, len(list))
		for _, alert := range list {
			if alert.Status.State == "active" {
				got = append(got, alert.Labels)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("not the alerts that there should be (-want +got):\n%s", diff)
		}
		return nil
	})
}

// hasNoMentions checks that the annotations, which templates put into chats, mention no user.
func (a *alertmanager) hasNoMentions() {
	a.t.Helper()
	list, err := a.active()
	if err != nil {
		a.t.Fatal(err)
	}
	mention := regexp.MustCompile(`[@<][^\x{2060}]|[\x00-\x1f\x{202e}]`)
	for _, alert := range list {
		alert.Annotations["description"] = strings.ReplaceAll(alert.Annotations["description"], "\n", "; ")
		for _, name := range slices.Sorted(maps.Keys(alert.Annotations)) {
			if text := alert.Annotations[name]; mention.MatchString(text) {
				a.t.Errorf("%s may mention somebody, or move the reader's cursor: %q", name, text)
			}
		}
		if alert.Annotations["summary"] == "" || alert.Annotations["since"] == "" {
			a.t.Errorf("an alert says too little: %q", alert.Annotations)
		}
	}
}

// resolved counts the alerts that were sent as resolved.
func (a *alertmanager) resolved() int {
	a.t.Helper()
	page, err := get(a.url + "/metrics")
	if err != nil {
		a.t.Fatal(err)
	}
	for line := range strings.Lines(page) {
		if count, ok := strings.CutPrefix(line, `alertmanager_alerts_received_total{status="resolved",version="v2"} `); ok {
			n, err := strconv.Atoi(strings.TrimSpace(count))
			if err != nil {
				a.t.Fatalf("count of resolved alerts: %v", err)
			}
			return n
		}
	}
	a.t.Fatal("alertmanager does not count resolved alerts")
	return 0
}

// outlives stops the daemon, and checks that its only alert ends by itself, not before its end
// time.
func (a *alertmanager) outlives(d *daemon) {
	a.t.Helper()
	var end time.Time
	a.eventually(startTimeout, "an alert that lives on", func() error {
		list, err := a.active()
		if err != nil {
			return err
		}
		if len(list) != 1 {
			return fmt.Errorf("%d alerts, want one", len(list))
		}
		end = list[0].EndsAt
		if life := end.Sub(list[0].UpdatedAt); life <= 2*shownEvery || life > shownFor {
			return fmt.Errorf("it lives for %s, want %s", life, shownFor)
		}
		return nil
	})
	if code := d.stop(); code != 0 {
		a.t.Errorf("driftd serve stopped with exit code %d, want 0", code)
	}
	a.eventually(startTimeout, "the end of the alert", func() error {
		list, err := a.active()
		if err == nil && len(list) > 0 {
			err = fmt.Errorf("%d alerts, want none", len(list))
		}
		return err
	})
	if now := time.Now(); now.Before(end) {
		a.t.Errorf("the alert ended %s before its time", end.Sub(now))
	}
	if n := a.resolved(); n > 0 {
		a.t.Errorf("driftd ended %d alerts when it stopped, want none", n)
	}
}
