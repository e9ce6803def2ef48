package collectortest

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

// A fault is one way in which an answer goes wrong.
type fault struct {
	name string
	// answer replaces the estate's.
	answer faults.Fault
	// slow tells that the collector's own timeout must end it.
	slow bool
	// everywhere tells that it says something else at one path alone.
	everywhere bool
}

func allFaults() []fault {
	return []fault{
		{name: "401", answer: faults.Status(http.StatusUnauthorized, "")},
		{name: "403", answer: faults.Status(http.StatusForbidden, "")},
		{name: "404", answer: faults.Status(http.StatusNotFound, ""), everywhere: true},
		{name: "429 for an hour", answer: faults.Busy(http.StatusTooManyRequests, "3600")},
		{name: "500", answer: faults.Status(http.StatusInternalServerError, "")},
		{name: "redirect", answer: faults.Redirect("/elsewhere")},
		{name: "nothing", answer: text("")},
		{name: "empty object", answer: text("{}")},
		{name: "empty list", answer: text("[]")},
		{name: "null", answer: text("null")},
		{name: "login page", answer: text("<html><body>Log in</body></html>")},
		{name: "truncated", answer: truncated(true)},
		{name: "truncated without a trace", answer: truncated(false)},
		{name: "hangs", answer: faults.Hangs(), slow: true},
		{name: "drips", answer: drips, slow: true},
		{name: "oversized", answer: oversized},
	}
}

// text answers with success and a body that is said to be JSON, whatever it is.
func text(body string) faults.Fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// A client that is gone takes no answer.
		_, _ = io.WriteString(w, body)
	}
}

// truncated sends the first half of what the estate answers; announced tells
// whether the client can see that there should be more.
func truncated(announced bool) faults.Fault {
	return func(estate http.Handler, w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		estate.ServeHTTP(whole, r)
		body := whole.Body.Bytes()
		w.Header().Set("Content-Type", whole.Header().Get("Content-Type"))
		if announced {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		w.WriteHeader(whole.Code)
		_, _ = w.Write(body[:len(body)/2])
	}
}

// drips answers at once, and then never comes to an end.
func drips(_ http.Handler, w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, "{")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// oversized sends blanks until the client has had enough.
func oversized(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
	blanks := make([]byte, 64<<10)
	for i := range blanks {
		blanks[i] = ' '
	}
	_, _ = io.WriteString(w, "{")
	for {
		if _, err := w.Write(blanks); err != nil {
			return
		}
	}
}

// faulty lets the fault happen everywhere, and then to one path at a time.
func (s Subject) faulty(t *testing.T, whole healthyRun, f fault) {
	t.Helper()
	places := []string{""}
	if !f.everywhere {
		places = append(places, whole.paths...)
	}
	for _, at := range places {
		estate := s.Estate(rand.New(rand.NewPCG(1, 1)))
		broken := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if at == "" || r.URL.Path == at {
				f.answer(estate, w, r)
				return
			}
			estate.ServeHTTP(w, r)
		})
		timeout := patience
		if f.slow {
			// Too short a time for a busy machine only makes more of it slow.
			timeout = 50 * time.Millisecond
		}
		got, err := s.collect(t, broken, timeout)
		if at == "" && err == nil && len(got.Resources) > 0 {
			t.Errorf("nothing was answered, and %d resources were found", len(got.Resources))
		}
		honest(t, whole.snapshot, got, err)
		if t.Failed() {
			t.Fatalf("the fault was at %q", at)
		}
	}
}

// retryAfter is busy once for each path: nobody may come back before the time
// that the server asked for has passed.
func (s Subject) retryAfter(t *testing.T, whole model.Snapshot) {
	t.Helper()
	const pause = time.Second
	estate := s.Estate(rand.New(rand.NewPCG(1, 1)))
	var mu sync.Mutex
	asked := map[string]time.Time{}
	got, err := s.collect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		before, again := asked[r.URL.Path]
		early := again && time.Since(before) < pause
		if !again {
			asked[r.URL.Path] = time.Now()
		}
		mu.Unlock()
		if early {
			t.Errorf("%s was asked for again after %s: the server asked for %s", r.URL.Path, time.Since(before), pause)
		}
		if !again {
			faults.Busy(http.StatusTooManyRequests, strconv.Itoa(int(pause.Seconds())))(estate, w, r)
			return
		}
		estate.ServeHTTP(w, r)
	}), patience)
	honest(t, whole, got, err)
}
