// Package notifytest holds the contract that every receiver keeps that is
// reached over HTTP: what went wrong is said in a way that the deliverer can act
// on, in time, and without showing a secret.
package notifytest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// A Subject opens the receiver under test anew.
type Subject func(*testing.T, Settings) Deliver

// Settings are what a receiver is opened with.
type Settings struct {
	// URL is the server's address; a path may be added.
	URL string
	// Secret is part of every credential, and of the address where that is
	// secret. At least 24 bytes, of letters and digits.
	Secret string
	// Timeout bounds each delivery.
	Timeout time.Duration
}

// Deliver delivers OutboxEntry, or shows its findings.
type Deliver func(context.Context) error

// Notifier delivers through n.
func Notifier(n notify.Notifier) Deliver {
	return func(ctx context.Context) error {
		_, err := n.Notify(ctx, Entry())
		return err
	}
}

// Mirror shows Findings through m.
func Mirror(m notify.Mirror) Deliver {
	return func(ctx context.Context) error { return m.Show(ctx, Findings()) }
}

// Findings are two.
func Findings() []model.Finding {
	first := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	image, hotfix := model.StringOf("web:1.4"), model.StringOf("web:1.5-hotfix")
	return []model.Finding{
		{ID: "f1a2b3c4d5e6", Verdict: model.Changed, Severity: model.High, Key: model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/web"},
			Place: "shop", Name: "web", Declaration: "shop", Address: "deploy/web.yaml:12", Owner: "team-shop", FirstSeen: first, LastSeen: first,
			Changes: []model.Change{{Path: "spec.template.spec.containers[name=web].image", Declared: &image, Recorded: &image, Live: &hotfix}},
			Actor: model.Actor{Name: "kubectl-set", At: first, Via: "managedFields", Evidence: "update", Confidence: model.Likely,
				Request: "5f1c", Message: "hotfix for \"INC-12\""},
			Labels: map[string]string{"app.kubernetes.io/name": "web"}},
		{ID: "0f9e8d7c6b5a", Verdict: model.Missing, Severity: model.Medium, Key: model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "100"},
			Name: "db", Declaration: "infra", FirstSeen: first, LastSeen: first, Actor: model.UnknownActor("the log was not read")},
	}
}

// Entry is an outbox entry with a message about Findings.
func Entry() model.OutboxEntry {
	findings := Findings()
	for i := range findings {
		findings[i] = findings[i].Public()
	}
	items := []model.Item{{News: model.Appeared, Finding: findings[0], Fields: 1}, {News: model.Appeared, Finding: findings[1]}}
	return model.OutboxEntry{Message: model.Message{Key: "7c3f.1", Receiver: "test", Kind: model.NewMessage, At: findings[0].FirstSeen,
		Thread: "7c3f", First: true, Title: "changed: shop/web and 1 more", Severity: model.High,
		News: items, NewsCount: 2, All: items, OpenCount: 2, URL: "https://driftd.example.org"}}
}

const (
	secret = "s3cr3tS3cr3tS3cr3tS3cr3tS3cr3t32"
	// patience is how long anything may take on a machine that is busy.
	patience = time.Minute
	// slack is what the network takes of an answer that nobody reads.
	slack = 32 << 20
)

// Run puts the receiver to the whole contract.
func Run(t *testing.T, open Subject) {
	t.Helper()
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			open.faulty(t, f)
		})
	}
	for name, run := range map[string]func(*testing.T){
		"redirect": open.redirected, "cancelled": open.cancelled, "huge answer": open.flooded,
		"nothing listens": open.refused, "no HTTP": open.garbled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

// deliver delivers once, and holds the receiver to its time and its silence.
func (open Subject) deliver(ctx context.Context, t *testing.T, url string, timeout time.Duration) error {
	t.Helper()
	deliver := open(t, Settings{URL: url, Secret: secret, Timeout: timeout})
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := deliver(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("the delivery hangs: %v", err)
	}
	check(t, err)
	return err
}

// check holds an error to what people may see.
func check(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	text := err.Error()
	if strings.Contains(text, secret) {
		t.Errorf("the error shows a secret: %s", text)
	}
	if len(text) > 1000 || strings.ContainsAny(text, "\r\n\x00\u202e") {
		t.Errorf("the error is no short line: %.1200q", text)
	}
}

// faulty answers so, and then as if nothing had been.
func (open Subject) faulty(t *testing.T, f fault) {
	t.Helper()
	server := httptest.NewServer(f.answer)
	defer server.Close()
	timeout := patience
	if f.slow {
		timeout = 100 * time.Millisecond
	}
	got := kindOf(open.deliver(t.Context(), t, server.URL, timeout))
	if got != f.want && got != f.or {
		t.Errorf("%s: %s, want %s", f.name, got, f.want)
	}
}

// cancelled ends the delivery while the server thinks, and before it begins.
func (open Subject) cancelled(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cancel()
		hangs(w, r)
	}))
	defer server.Close()
	for _, when := range []string{"while it delivers", "before it begins"} {
		if err := open.deliver(ctx, t, server.URL, patience); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled %s: error %v, want %v", when, err, context.Canceled)
		}
	}
}

func (open Subject) redirected(t *testing.T) {
	t.Helper()
	for _, code := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		var followed atomic.Bool
		elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/"+secret, code)
		}))
		if err := open.deliver(t.Context(), t, server.URL, patience); err == nil || errors.Is(err, notify.ErrRefused) {
			t.Errorf("redirected by %d: error %v, want one that keeps the message", code, err)
		}
		server.Close()
		elsewhere.Close()
		if followed.Load() {
			t.Errorf("redirected by %d, and the message went where nobody configured it to go", code)
		}
	}
}

func (open Subject) refused(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if got := kindOf(open.deliver(t.Context(), t, server.URL, patience)); got != again {
		t.Errorf("nothing listens: %s, want %s", got, again)
	}
}
