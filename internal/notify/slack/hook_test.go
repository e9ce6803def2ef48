package slack_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/notifytest"
)

// A fakeWebhook is an incoming webhook that records messages.
type fakeWebhook struct {
	t      *testing.T
	server *httptest.Server
	status int
	body   string
	// refusesBlocks is set to refuse messages with blocks.
	refusesBlocks bool

	mu       sync.Mutex
	received []string
}

func newFakeWebhook(t *testing.T) *fakeWebhook {
	t.Helper()
	h := &fakeWebhook{t: t, status: http.StatusOK, body: "ok"}
	h.server = httptest.NewServer(h)
	t.Cleanup(h.server.Close)
	return h
}

func (h *fakeWebhook) open(t *testing.T) notify.Receiver {
	t.Helper()
	return mustOpen(t, settings{"webhook_url_file": file(t, h.server.URL+"/services/s3cr3t"), "pace": time.Duration(0)})
}

// ServeHTTP checks and records a message.
func (h *fakeWebhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		Text     string          `json:"text"`
		Blocks   json.RawMessage `json:"blocks"`
		Markdown *bool           `json:"mrkdwn"`
		Parse    string          `json:"parse"`
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		h.t.Error(err)
	}
	if m.Markdown == nil || *m.Markdown || m.Parse != "none" {
		h.t.Errorf("Slack interprets marks in %+v", m)
	}
	shown := m.Text
	if m.Blocks == nil {
		checkText(h.t, m.Text)
	} else {
		checkBlocks(h.t, m.Text, m.Blocks)
		shown = render(h.t, string(m.Blocks))
		if h.refusesBlocks {
			http.Error(w, "invalid_blocks", http.StatusBadRequest)
			return
		}
	}
	h.mu.Lock()
	h.received = append(h.received, shown)
	h.mu.Unlock()
	w.WriteHeader(h.status)
	if _, err := w.Write([]byte(h.body)); err != nil {
		h.t.Error(err)
	}
}

func (h *fakeWebhook) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.received)
}

// TestWebhook tests the contract of receivers that use HTTP.
func TestWebhook(t *testing.T) {
	t.Parallel()
	notifytest.Run(t, func(t *testing.T, s notifytest.Settings) notifytest.Deliver {
		to := mustOpen(t, settings{"webhook_url_file": file(t, s.URL+"/services/"+s.Secret), "timeout": s.Timeout, "pace": time.Duration(0)})
		return notifytest.Notifier(to.Notifier)
	})
}

func TestWebhookMessages(t *testing.T) {
	t.Parallel()
	w := newFakeWebhook(t)
	to := w.open(t)
	if receipt := deliver(t, to, firstMessage(), ""); receipt != "" {
		t.Errorf("receipt %q", receipt)
	}
	deliver(t, to, nextMessage(), "")
	list := w.all()
	if len(list) != 2 || !strings.Contains(list[0], "2 open") || !strings.Contains(list[1], "✅ *RESOLVED*  *pve: qemu pve/101 resolved*") || strings.Contains(list[0], "(Ack") {
		t.Errorf("messages:\n%s", strings.Join(list, "\n---\n"))
	}
}

func TestWebhookWithoutBlocks(t *testing.T) {
	t.Parallel()
	w := newFakeWebhook(t)
	w.refusesBlocks = true
	deliver(t, w.open(t), firstMessage(), "")
	want := []string{"[high] pve: qemu pve/101 changed by root＠pam\nchanged: web-101\nchanged: web-102\nMore: driftd findings list"}
	if diff := cmp.Diff(want, w.all()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestWebhookFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status    int
		body      string
		permanent bool
		want      string
	}{
		"gone":      {404, "no_service", true, "create a new one"},
		"team":      {404, "no_team", true, "create a new one"},
		"archived":  {410, "channel_is_archived", true, "unarchive"},
		"forbidden": {403, "action_prohibited", true, "administrators"},
		"token":     {403, "invalid_token", true, "create a new one"},
		"payload":   {400, "invalid_payload", false, "invalid_payload"},
		"blocks":    {400, "invalid_blocks", false, "invalid_blocks"},
		"user":      {400, "user_not_found", true, "create a new one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFakeWebhook(t)
			w.status, w.body = test.status, test.body
			_, err := w.open(t).Notifier.Notify(t.Context(), model.OutboxEntry{Message: firstMessage()})
			if err == nil || errors.Is(err, notify.ErrPermanent) != test.permanent || errors.Is(err, notify.ErrRefused) == test.permanent ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v", err)
			}
			checkNoSecrets(t, fmt.Sprint(err))
		})
	}
}

// TestWebhookDropsQuietMessages checks that a quiet message is not posted: an incoming
// webhook cannot edit messages.
func TestWebhookDropsQuietMessages(t *testing.T) {
	t.Parallel()
	h := newFakeWebhook(t)
	m := message(model.ChangedMessage, item(model.Standing, changed("101")))
	m.First, m.Quiet = false, true
	deliver(t, h.open(t), m, "")
	if len(h.received) != 0 {
		t.Errorf("got messages %q, want none", h.received)
	}
}
