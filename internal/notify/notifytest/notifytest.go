// Package notifytest tests the contract of receivers that use HTTP: they return errors of the right kind,
// within their timeout, and without secrets.
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

// A Subject opens a new receiver with the settings for a test.
type Subject func(*testing.T, Settings) Deliver

// Settings are the settings of a receiver.
type Settings struct {
	// URL is the server's address. A Subject may append a path.
	URL string
	// Secret must be part of every credential, and of the address if that is a secret. It
	// consists of at least 24 letters and digits.
	Secret string
	// Timeout is the timeout of each delivery.
	Timeout time.Duration
}

// A Deliver delivers Entry to a Notifier, or shows Findings on a Mirror.
type Deliver func(context.Context) error

// Notifier returns a Deliver for n.
func Notifier(n notify.Notifier) Deliver {
	return func(ctx context.Context) error {
		_, err := n.Notify(ctx, Entry())
		return err
	}
}

// Mirror returns a Deliver for m.
func Mirror(m notify.Mirror) Deliver {
	return func(ctx context.Context) error { return m.Show(ctx, Findings()) }
}

// Findings returns two open findings.
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

// Entry returns an outbox entry with a message about Findings.
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
	// testTimeout is the time limit of a delivery on a busy machine.
	testTimeout = time.Minute
	// networkBuffer is the number of bytes that the network buffers of an unread response.
	networkBuffer = 32 << 20
)

// Run tests the whole contract.
func Run(t *testing.T, open Subject) {
	t.Helper()
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			open.fault(t, f)
		})
	}
	for name, run := range map[string]func(*testing.T){
		"redirect": open.redirect, "cancelled": open.cancelDelivery, "huge body": open.hugeResponse,
		"no server": open.noServer, "not HTTP": open.invalidResponse,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

// deliver delivers once. It checks the time that the delivery takes, and its error.
func (open Subject) deliver(ctx context.Context, t *testing.T, url string, timeout time.Duration) error {
	t.Helper()
	deliver := open(t, Settings{URL: url, Secret: secret, Timeout: timeout})
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	err := deliver(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("the delivery exceeds %s: %v", testTimeout, err)
	}
	check(t, err)
	return err
}

// check checks that the text of err is one short line without the secret.
func check(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	text := err.Error()
	if strings.Contains(text, secret) {
		t.Errorf("the error contains a secret: %s", text)
	}
	if len(text) > 1000 || strings.ContainsAny(text, "\r\n\x00\u202e") {
		t.Errorf("the error is not one short line: %.1200q", text)
	}
}

// fault checks the result of a delivery to a server with fault f.
func (open Subject) fault(t *testing.T, f fault) {
	t.Helper()
	server := httptest.NewServer(f.answer)
	defer server.Close()
	timeout := testTimeout
	if f.useTimeout {
		timeout = 100 * time.Millisecond
	}
	got := kindOf(open.deliver(t.Context(), t, server.URL, timeout))
	if got != f.want && got != f.alt {
		t.Errorf("%s: %s, want %s", f.name, got, f.want)
	}
}

// cancelDelivery checks that a delivery ends when its context is cancelled before or during it.
func (open Subject) cancelDelivery(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cancel()
		hang(w, r)
	}))
	defer server.Close()
	for _, when := range []string{"during the delivery", "before the delivery"} {
		if err := open.deliver(ctx, t, server.URL, testTimeout); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled %s: error %v, want %v", when, err, context.Canceled)
		}
	}
}

// redirect checks that the receiver does not follow redirects, and keeps the message.
func (open Subject) redirect(t *testing.T) {
	t.Helper()
	for _, code := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		var followed atomic.Bool
		elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/"+secret, code)
		}))
		if err := open.deliver(t.Context(), t, server.URL, testTimeout); err == nil || errors.Is(err, notify.ErrRefused) {
			t.Errorf("redirect %d: error %v, want one that is not ErrRefused", code, err)
		}
		server.Close()
		elsewhere.Close()
		if followed.Load() {
			t.Errorf("redirect %d was followed", code)
		}
	}
}

// noServer checks that a refused connection is retried.
func (open Subject) noServer(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if got := kindOf(open.deliver(t.Context(), t, server.URL, testTimeout)); got != retry {
		t.Errorf("refused connection: %s, want %s", got, retry)
	}
}
