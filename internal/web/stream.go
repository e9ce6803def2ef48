package web

import (
	"fmt"
	"net/http"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/server"
)

// The times of a stream of news: a sign of life every heartbeat, news at most
// once in coalesce, and each of them taken within writeTimeout.
const (
	heartbeat    = 20 * time.Second
	coalesce     = time.Second
	writeTimeout = 10 * time.Second
)

// events tells an open page that it is to look again, until the visitor goes, is
// logged out or driftd stops.
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	if !access.Of(r.Context()).May(access.Viewer) {
		http.Error(w, "not logged in: log in again", http.StatusUnauthorized)
		return
	}
	if r.Method == http.MethodHead {
		return // whoever asks for no body would hold a stream that tells nothing
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
		s.Log.DebugContext(r.Context(), "stream not begun", "err", err)
		return
	}
	if err := s.tell(t, r); err != nil {
		s.Log.DebugContext(r.Context(), "stream ended", "err", err)
	}
}

// tell sends news as they come. The first is what is known now: the page may be
// older.
func (s *site) tell(t *stream, r *http.Request) error {
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
			if err := t.send(": still here\n\n"); err != nil {
				return err
			}
		}
	}
}

// A stream is one open page.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	told    uint64
	begun   bool
}

// begin lifts the limit on reading: nothing more comes from a page, and that must
// not end its stream.
func (t *stream) begin() error {
	if err := server.Supported(t.control.SetReadDeadline(time.Time{})); err != nil {
		return fmt.Errorf("lift the time limit of a stream: %w", err)
	}
	h := t.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would keep news to itself
	return t.send("retry: 3000\n\n")
}

// send writes to a page that has to take it in time: who does not is cut off.
func (t *stream) send(text string) error {
	if err := server.Supported(t.control.SetWriteDeadline(time.Now().Add(writeTimeout))); err != nil {
		return fmt.Errorf("limit the time of news: %w", err)
	}
	if _, err := t.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("send news: %w", err)
	}
	if err := t.control.Flush(); err != nil {
		return fmt.Errorf("send news: %w", err)
	}
	// Over HTTP/2 a deadline that passes ends the stream, also while nothing is
	// being sent.
	if err := server.Supported(t.control.SetWriteDeadline(time.Time{})); err != nil {
		return fmt.Errorf("lift the time limit of news: %w", err)
	}
	return nil
}
