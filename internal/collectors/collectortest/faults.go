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

// A fault is one kind of faulty answer.
type fault struct {
	name string
	// number is its place in allFaults.
	number int
	// answer replaces the estate's answer.
	answer faults.Fault
	// slow reports that only the collector's own timeout ends the request.
	slow bool
	// everywhere reports that the fault is tested at all paths only, because at a single
	// path it has another meaning.
	everywhere bool
}

func allFaults() []fault {
	all := []fault{
		{name: "401", answer: faults.Status(http.StatusUnauthorized, "")},
		{name: "403", answer: faults.Status(http.StatusForbidden, "")},
		{name: "404", answer: faults.Status(http.StatusNotFound, ""), everywhere: true},
		{name: "429 for an hour", answer: faults.Busy(http.StatusTooManyRequests, "3600")},
		{name: "500", answer: faults.Status(http.StatusInternalServerError, "")},
		{name: "redirect", answer: faults.Redirect("/elsewhere")},
		{name: "empty body", answer: text("")},
		{name: "empty object", answer: text("{}")},
		{name: "empty list", answer: text("[]")},
		{name: "null", answer: text("null")},
		{name: "login page", answer: text("<html><body>Log in</body></html>")},
		{name: "truncated", answer: truncated(true)},
		{name: "truncated without Content-Length", answer: truncated(false)},
		{name: "no answer", answer: faults.Hangs(), slow: true},
		{name: "endless body", answer: endless, slow: true},
		{name: "oversized", answer: oversized},
	}
	for i := range all {
		all[i].number = i
	}
	return all
}

// text answers with success, a body and the content type of JSON.
func text(body string) faults.Fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// The client may have closed the connection.
		_, _ = io.WriteString(w, body)
	}
}

// truncated sends the first half of the estate's answer. With announced, the client can
// detect it by the Content-Length.
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

// endless sends the first byte of the body at once and never ends the body.
func endless(_ http.Handler, w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, "{")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// oversized sends blanks until the client closes the connection.
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

// places returns where the fault is tested: "" for all paths at once, and single ones of these paths. A short run tests a fault at
// every fourth path, so that each path is tested with some of the faults.
func (f fault) places(paths []string) []string {
	all := []string{""}
	for i, path := range paths {
		if !f.everywhere && (!testing.Short() || (i+f.number)%4 == 0) {
			all = append(all, path)
		}
	}
	return all
}

// faulty tests the fault at all paths, and then at each path alone.
func (s Subject) faulty(t *testing.T, whole healthyRun, f fault) {
	t.Helper()
	for _, at := range f.places(whole.paths) {
		estate := s.Estate(rand.New(rand.NewPCG(1, 1)))
		broken := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if at == "" || r.URL.Path == at {
				f.answer(estate, w, r)
				return
			}
			estate.ServeHTTP(w, r)
		})
		timeout := testTimeout
		if f.slow {
			// On a busy machine more requests time out, which is no error.
			timeout = 50 * time.Millisecond
		}
		got, err := s.collect(t, broken, timeout)
		if at == "" && err == nil && len(got.Resources) > 0 {
			t.Errorf("%d resources were found without an answer", len(got.Resources))
		}
		checkCoverage(t, whole.snapshot, got, err)
		if t.Failed() {
			t.Fatalf("with the fault at path %q", at)
		}
	}
}

// retryAfter tests a server that responds to the first request of each path with status 429 and a
// Retry-After header. The collector must not repeat the request earlier.
func (s Subject) retryAfter(t *testing.T, whole model.Snapshot) {
	t.Helper()
	const pause = time.Second
	estate := s.Estate(rand.New(rand.NewPCG(1, 1)))
	var mu sync.Mutex
	requested := map[string]time.Time{}
	got, err := s.collect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		before, again := requested[r.URL.Path]
		early := again && time.Since(before) < pause
		if !again {
			requested[r.URL.Path] = time.Now()
		}
		mu.Unlock()
		if early {
			t.Errorf("%s was requested again after %s, want after %s", r.URL.Path, time.Since(before), pause)
		}
		if !again {
			faults.Busy(http.StatusTooManyRequests, strconv.Itoa(int(pause.Seconds())))(estate, w, r)
			return
		}
		estate.ServeHTTP(w, r)
	}), testTimeout)
	checkCoverage(t, whole, got, err)
}
