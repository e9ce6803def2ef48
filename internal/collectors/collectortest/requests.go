package collectortest

import (
	"net/http"
	"slices"
	"sync"
)

// A requestLog records the requests to a server.
type requestLog struct {
	mu   sync.Mutex
	seen []request
	// largest is the size of the largest answer, in bytes.
	largest int
}

type request struct{ method, path string }

func (l *requestLog) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.seen = append(l.seen, request{r.Method, r.URL.Path})
		l.mu.Unlock()
		answer := &measuredWriter{ResponseWriter: w}
		defer func() { l.measure(answer.size) }()
		next.ServeHTTP(answer, r)
	})
}

func (l *requestLog) measure(size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.largest = max(l.largest, size)
}

// A measuredWriter counts the bytes that a client reads.
type measuredWriter struct {
	http.ResponseWriter
	size int
}

func (w *measuredWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.size += n
	return n, err
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (w *measuredWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// requests returns "METHOD /path" of each request.
func (l *requestLog) requests() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]string, len(l.seen))
	for i, r := range l.seen {
		all[i] = r.method + " " + r.path
	}
	return all
}

// paths returns each path once, sorted.
func (l *requestLog) paths() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, r := range l.seen {
		all = append(all, r.path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
