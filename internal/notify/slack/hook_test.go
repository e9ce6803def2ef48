package slack_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/notify"
)

// A hook is an incoming webhook.
type hook struct {
	t      *testing.T
	server *httptest.Server
	status int
	body   string

	mu   sync.Mutex
	seen []string
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{t: t, status: http.StatusOK, body: "ok"}
	h.server = httptest.NewServer(h)
	t.Cleanup(h.server.Close)
	return h
}

func (h *hook) open(t *testing.T) notify.Receiver {
	t.Helper()
	return mustOpen(t, settings{"webhook_url_file": file(t, h.server.URL+"/services/s3cr3t"), "pace": time.Duration(0)})
}

// ServeHTTP takes a message.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		h.t.Errorf("marks are looked for in %+v", m)
	}
	checkBlocks(h.t, m.Text, m.Blocks)
	h.mu.Lock()
	h.seen = append(h.seen, read(h.t, string(m.Blocks)))
	h.mu.Unlock()
	w.WriteHeader(h.status)
	if _, err := w.Write([]byte(h.body)); err != nil {
		h.t.Error(err)
	}
}

func (h *hook) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.seen)
}
