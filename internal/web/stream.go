package web

import (
	"fmt"
	"net/http"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/server"
)

// The times of an event stream: a heartbeat is sent every heartbeat, news at most once per
// coalesce, and the client must receive each within writeTimeout.
const (
	heartbeat    = 20 * time.Second
	coalesce     = time.Second
	writeTimeout = 10 * time.Second
)

// events serves the event stream of an open page, until the client disconnects, the visitor is
// logged out or driftd stops.
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	if !access.Of(r.Context()).May(access.Viewer) {
		http.Error(w, "not logged in: log in again", http.StatusUnauthorized)
		return
	}
	if r.Method == http.MethodHead {
		return // a HEAD request would hold a stream without events
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many pages are open: this one is not updated", http.StatusServiceUnavailable)
		return
	}
	t := &stream{w: w, control: http.NewResponseController(w)}
	if err := t.begin(); err != nil {
		s.Log.DebugContext(r.Context(), "start event stream", "err", err)
		return
	}
	if err := s.sendNews(t, r); err != nil {
		s.Log.DebugContext(r.Context(), "event stream ended", "err", err)
	}
}

// sendNews sends the revision at the start, because the page may be older, and after each change.
func (s *site) sendNews(t *stream, r *http.Request) error {
	ctx := r.Context()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		if !s.guard.Still(ctx) {
			return t.send("event: logout\ndata: log in again\n\n")
		}
		revision, changed := s.News.Now()
		if revision != t.told || !t.begun {
			if err := t.send(fmt.Sprintf("event: changed\nid: %d\ndata: %d\n\n", revision, revision)); err != nil {
				return err
			}
			t.told, t.begun = revision, true
			if err := sleep(coalesce)(ctx); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-beat.C:
			if err := t.send(": heartbeat\n\n"); err != nil {
				return err
			}
		}
	}
}

// A stream is the event stream of one open page.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	told    uint64
	begun   bool
}

// begin removes the read deadline: the client sends nothing more, and that must not end the stream.
func (t *stream) begin() error {
	if err := server.Supported(t.control.SetReadDeadline(time.Time{})); err != nil {
		return fmt.Errorf("remove the time limit of a stream: %w", err)
	}
	h := t.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would buffer the events
	return t.send("retry: 3000\n\n")
}

// send writes to the client within writeTimeout, and ends the stream if that fails.
func (t *stream) send(text string) error {
	if err := server.Supported(t.control.SetWriteDeadline(time.Now().Add(writeTimeout))); err != nil {
		return fmt.Errorf("limit the time of an event: %w", err)
	}
	if _, err := t.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("send event: %w", err)
	}
	if err := t.control.Flush(); err != nil {
		return fmt.Errorf("send event: %w", err)
	}
	// Over HTTP/2 an expired deadline ends the stream even if nothing is being sent.
	if err := server.Supported(t.control.SetWriteDeadline(time.Time{})); err != nil {
		return fmt.Errorf("remove the time limit of a stream: %w", err)
	}
	return nil
}
