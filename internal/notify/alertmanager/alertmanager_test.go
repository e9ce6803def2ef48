package alertmanager_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/alertmanager"
	"github.com/driftd/driftd/internal/notify/notifytest"
)

// A clock is set by hand.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)} }

func (c *clock) pass(d time.Duration) { c.now = c.now.Add(d) }

func open(c *clock, change func(*alertmanager.Config)) (notify.Receiver, error) {
	env := notify.Env{URL: "https://driftd.example.org", Now: func() time.Time { return c.now }, Log: slog.New(slog.DiscardHandler)}
	return alertmanager.Definition().Open(env, func(into any) error {
		change(into.(*alertmanager.Config))
		return nil
	})
}

func mirror(t *testing.T, c *clock, urls ...string) notify.Mirror {
	t.Helper()
	r, err := open(c, func(c *alertmanager.Config) { c.URLs = urls })
	if err != nil {
		t.Fatal(err)
	}
	return r.Mirror
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestContract(t *testing.T) {
	t.Parallel()
	notifytest.Run(t, func(t *testing.T, s notifytest.Settings) notifytest.Deliver {
		r, err := open(newClock(), func(c *alertmanager.Config) {
			c.URLs, c.TokenFile, c.Timeout = []string{s.URL + "/" + s.Secret}, file(t, s.Secret), s.Timeout
		})
		if err != nil {
			t.Fatal(err)
		}
		return notifytest.Mirror(r.Mirror)
	})
}

func TestAlert(t *testing.T) {
	t.Parallel()
	am, c := newFake(t), newClock()
	if err := mirror(t, c, am.url).Show(t.Context(), notifytest.Findings()[:1]); err != nil {
		t.Fatal(err)
	}
	want := alert{
		Labels: map[string]string{
			"alertname": "DriftdFinding", "finding": "f1a2b3c4d5e6", "source": "prod", "kind": "kubernetes/Deployment.apps",
			"resource": "shop/web", "namespace": "shop", "declaration": "shop", "verdict": "changed", "severity": "high",
			"owner": "team-shop", "label_app_kubernetes_io_name": "web",
		},
		Annotations: map[string]string{
			"summary":     "changed: Deployment shop/web, in prod, declared by shop at deploy/web.yaml:12",
			"description": "spec.template.spec.containers[name=web].image: web:1.4 → web:1.5-hotfix",
			"who":         `Changed by kubectl-set 2026-11-20T10:00:00Z via managedFields, update (likely): "hotfix for \"INC-12\""`,
			"since":       "First seen 2026-11-20T10:00:00Z",
			"next":        "https://driftd.example.org/findings/f1a2b3c4d5e6",
		},
		StartsAt: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), EndsAt: c.now.Add(3 * time.Minute),
		GeneratorURL: "https://driftd.example.org/findings/f1a2b3c4d5e6",
	}
	if diff := cmp.Diff(want, am.one()); diff != "" {
		t.Errorf("alert (-want +got):\n%s", diff)
	}
}

// TestForeignNames checks that labels are valid and mentions are escaped.
func TestForeignNames(t *testing.T) {
	t.Parallel()
	am, c := newFake(t), newClock()
	secret := model.DigestOf("d1ge57")
	f := model.Finding{
		ID: "abc", Verdict: model.Changed, Key: model.Key{Source: "s", Kind: "k", ID: "<!channel>\n@all\u202e\xff" + strings.Repeat("é", 10000)},
		FirstSeen: c.now.Add(time.Hour),
		Labels:    map[string]string{"": "empty", "a.b": "first", "a/b": "second", "9": "nine", "é": "", strings.Repeat("x", 999): "long"},
		Changes:   []model.Change{{Path: "p", Secret: true, Live: &secret}, {Path: "q", Live: &secret}},
	}
	for i := range 1000 {
		f.Labels[fmt.Sprintf("z%04d", i)] = strings.Repeat("v", 5000)
	}
	if err := mirror(t, c, am.url).Show(t.Context(), []model.Finding{f}); err != nil {
		t.Fatal(err)
	}
	a := am.one()
	if a.Labels["label_a_b"] != "first" || a.Labels["label_"] != "empty" || a.Labels["label_9"] != "nine" || len(a.Labels) > 40 {
		t.Errorf("labels %v", a.Labels)
	}
	if got := a.Labels["resource"]; !strings.HasPrefix(got, `<!channel>\n@all\u202e\xff`) {
		t.Errorf("resource %q", got)
	}
	if !a.StartsAt.Equal(c.now) {
		t.Errorf("it begins at %s, after now", a.StartsAt)
	}
	text := fmt.Sprint(a.Annotations)
	for _, bad := range []string{"<!channel>", "@all", "d1ge57"} {
		if strings.Contains(text, bad) {
			t.Errorf("the annotations hold %q: %.300s", bad, text)
		}
	}
	if !strings.Contains(text, "(secret)") {
		t.Errorf("the annotations do not say that there is a secret: %.300s", text)
	}
}

func TestFiresAndResolves(t *testing.T) {
	t.Parallel()
	am, c := newFake(t), newClock()
	m := mirror(t, c, am.url)
	findings := notifytest.Findings()
	a, b := findings[0], findings[1]
	show := func(reason string, want []string, list ...model.Finding) {
		t.Helper()
		c.pass(m.Every())
		if err := m.Show(t.Context(), list); err != nil {
			t.Fatalf("%s: %v", reason, err)
		}
		if diff := cmp.Diff(want, am.firing(c.now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	show("nothing is open", nil)
	show("both are", []string{b.ID, a.ID}, a, b)
	show("one is over", []string{a.ID}, a)
	if ends := am.alerts; len(ends) != 2 {
		t.Errorf("%d alerts, want two", len(ends))
	}
	graver := a
	graver.Severity = model.Critical
	show("it is worse: the milder alert goes", []string{a.ID}, graver)
	accepted, hidden, seen := a, b, b
	accepted.Decision, hidden.Hidden, seen.Resolved = &model.Decision{Kind: model.Accept}, "a rule", c.now
	show("nobody wants to hear of it", nil, accepted, hidden, seen)
	show("somebody does again", []string{a.ID}, a)

	am.failing(http.StatusInternalServerError)
	c.pass(m.Every())
	if err := m.Show(t.Context(), nil); err == nil {
		t.Error("nothing arrived, and there is no error")
	}
	am.failing(0)
	show("what is over is said when it can be", nil)
	sent := len(am.sizes)
	show("and once", nil)
	if got := am.sizes[sent:]; !slices.Equal(got, []int{0}) {
		t.Errorf("it was said again: %v", got)
	}
}

// Driftd's end resolves everything, and a short stop nothing; what an
// Alertmanager has forgotten by itself need not be ended.
func TestSilence(t *testing.T) {
	t.Parallel()
	am, c := newFake(t), newClock()
	m := mirror(t, c, am.url)
	if err := m.Show(t.Context(), notifytest.Findings()); err != nil {
		t.Fatal(err)
	}
	c.pass(2 * m.Every())
	if got := am.firing(c.now); len(got) != 2 {
		t.Errorf("after two turns without driftd %v fire", got)
	}
	c.pass(m.Every())
	if got := am.firing(c.now); len(got) != 0 {
		t.Errorf("after three turns without driftd %v fire", got)
	}
	sent := len(am.sizes)
	if err := m.Show(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := am.sizes[sent:]; !slices.Equal(got, []int{0}) {
		t.Errorf("what had ended was ended again: %v", got)
	}
}

func TestClockSetBack(t *testing.T) {
	t.Parallel()
	am, c := newFake(t), newClock()
	m := mirror(t, c, am.url)
	a := notifytest.Findings()[0]
	a.FirstSeen = c.now
	if err := m.Show(t.Context(), []model.Finding{a}); err != nil {
		t.Fatal(err)
	}
	c.pass(-24 * time.Hour)
	if err := m.Show(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := am.firing(c.now); len(got) != 0 {
		t.Errorf("%v fire", got)
	}
}

func TestMany(t *testing.T) {
	t.Parallel()
	am, c := newFake(t), newClock()
	findings := make([]model.Finding, 1201)
	for i := range findings {
		findings[i] = notifytest.Findings()[0]
		findings[i].ID = fmt.Sprintf("%04d", i)
	}
	if err := mirror(t, c, am.url).Show(t.Context(), findings); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(am.sizes, []int{500, 500, 201}) || len(am.firing(c.now)) != len(findings) {
		t.Errorf("requests of %v alerts", am.sizes)
	}
}

// TestFilter checks that what a filter refuses for its contents or its size does not stop other alerts.
func TestFilter(t *testing.T) {
	t.Parallel()
	for name, filter := range map[string]func(string) int{
		"contents": func(body string) int {
			if strings.Contains(body, "/etc/passwd") {
				return http.StatusForbidden
			}
			return 0
		},
		"size": func(body string) int {
			if len(body) > 100_000 {
				return http.StatusRequestEntityTooLarge
			}
			return 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			am, c := newFake(t), newClock()
			am.filter = filter
			findings := make([]model.Finding, 700)
			for i := range findings {
				findings[i] = notifytest.Findings()[0]
				findings[i].ID = fmt.Sprintf("%04d", i)
			}
			findings[123].Key.ID, findings[123].Labels = "shop/../../etc/passwd", map[string]string{"team": "../../etc/passwd"}
			m := mirror(t, c, am.url)
			for range 2 {
				if err := m.Show(t.Context(), findings); err != nil {
					t.Fatal(err)
				}
				if got := am.firing(c.now); len(got) != len(findings) {
					t.Fatalf("%d alerts fire, want %d", len(got), len(findings))
				}
			}
			for _, a := range am.alerts {
				if short := strings.Contains(a.Annotations["summary"], "contents left out"); short != (name == "contents" && a.Labels["finding"] == "0123") {
					t.Errorf("the alert %v is without contents: %t", a.Labels, short)
				}
			}
			if err := m.Show(t.Context(), nil); err != nil || len(am.firing(c.now)) != 0 {
				t.Errorf("after the end of all findings %v fire: %v", am.firing(c.now), err)
			}
		})
	}
}

func TestSeveral(t *testing.T) {
	t.Parallel()
	well, ill, c := newFake(t), newFake(t), newClock()
	m := mirror(t, c, well.url, ill.url+"/")
	ill.failing(http.StatusUnauthorized)
	err := m.Show(t.Context(), notifytest.Findings())
	if err == nil || !strings.Contains(err.Error(), ill.url) || strings.Contains(err.Error(), well.url) || errors.Is(err, notify.ErrPermanent) || !errors.Is(err, notify.ErrPartial) {
		t.Errorf("error %v, want one that names the one that failed, and goes on with the other", err)
	}
	if got := well.firing(c.now); len(got) != 2 {
		t.Errorf("one Alertmanager fails, and the other has %v", got)
	}
	well.failing(http.StatusForbidden)
	if err := m.Show(t.Context(), nil); !errors.Is(err, notify.ErrPermanent) || errors.Is(err, notify.ErrPartial) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want a permanent one", err)
	}
	well.failing(0)
	ill.failing(0)
	if err := m.Show(t.Context(), nil); err != nil || len(well.firing(c.now))+len(ill.firing(c.now)) > 0 {
		t.Errorf("error %v, %v and %v fire", err, well.firing(c.now), ill.firing(c.now))
	}
}

func TestSignsIn(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*alertmanager.Config){
		"":               func(*alertmanager.Config) {},
		"Bearer t0ken":   func(c *alertmanager.Config) { c.TokenFile = file(t, "t0ken\n") },
		"Basic bWU6cHc=": func(c *alertmanager.Config) { c.Username, c.PasswordFile = "me", file(t, "pw\n") },
	} {
		am := newFake(t)
		r, err := open(newClock(), func(c *alertmanager.Config) {
			c.URLs = []string{am.url}
			change(c)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Mirror.Show(t.Context(), nil); err != nil || am.auth != want {
			t.Errorf("it signs in with %q, want %q; error %v", am.auth, want, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*alertmanager.Config)
		want   string
	}{
		"none":       {func(*alertmanager.Config) {}, "urls: set the address of at least one"},
		"no url":     {func(c *alertmanager.Config) { c.URLs = []string{"https://a", "b"} }, "urls[1]: the address must begin"},
		"password":   {func(c *alertmanager.Config) { c.URLs = []string{"https://a:hunter2@b"} }, "urls[0]: the address must not contain"},
		"two ways":   {func(c *alertmanager.Config) { c.TokenFile, c.Username = "t", "u" }, "either token_file"},
		"half":       {func(c *alertmanager.Config) { c.PasswordFile = "p" }, "go together"},
		"no file":    {func(c *alertmanager.Config) { c.TokenFile = "/nowhere/t" }, "token_file: "},
		"no file 2":  {func(c *alertmanager.Config) { c.Username, c.PasswordFile = "u", "/nowhere/p" }, "password_file: "},
		"two lines":  {func(c *alertmanager.Config) { c.TokenFile = file(t, "hunter2\nx") }, "several lines"},
		"never":      {func(c *alertmanager.Config) { c.Every = 0 }, "every: must be over 0s"},
		"no time":    {func(c *alertmanager.Config) { c.Timeout = -1 }, "timeout: must be over 0s"},
		"no CA file": {func(c *alertmanager.Config) { c.CAFile = "/nowhere" }, "read ca_file: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(newClock(), test.change)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}
