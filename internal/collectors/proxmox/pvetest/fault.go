package pvetest

import (
	"net/http"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/faults"
)

// NodeDown returns the fault of a node that is switched off.
func NodeDown() faults.Fault { return faults.Status(statusNodeDown, "") }

// NodeHangs returns the fault of a node that accepts the connection and does not answer.
func NodeHangs() faults.Fault { return faults.Status(statusNodeHangs, "") }

// Unauthorized returns the fault of an invalid token.
func Unauthorized() faults.Fault { return faults.Status(http.StatusUnauthorized, "") }

// Forbidden returns the fault of an account without a privilege on a path.
func Forbidden(path, privilege string) faults.Fault {
	return Message(http.StatusForbidden, "Permission check failed ("+path+", "+privilege+")")
}

// Message returns a fault with a status code and a message of the API.
func Message(code int, message string) faults.Fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) { writeError(w, code, message) }
}

// requestStats are counters of the requests, by path and by node.
type requestStats struct {
	mu            sync.Mutex
	count         map[string]int
	running, peak map[string]int
}

// begin counts a request. The returned function must be called at its end.
func (s *Server) begin(at string) (done func()) {
	node := nodeOf(at)
	q := &s.seen
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count[at]++
	for _, key := range []string{"", node} {
		q.running[key]++
		q.peak[key] = max(q.peak[key], q.running[key])
	}
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.running[""]--
		q.running[node]--
	}
}

// nodeOf returns the node of a path, or "cluster".
func nodeOf(at string) string {
	if parts := strings.Split(at, "/"); len(parts) > 3 && parts[1] == "nodes" {
		return parts[2]
	}
	return "cluster"
}

// Count returns the number of requests whose path begins with prefix and ends with suffix.
func (s *Server) Count(prefix, suffix string) int {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	total := 0
	for at, n := range s.seen.count {
		if strings.HasPrefix(at, prefix) && strings.HasSuffix(at, suffix) {
			total += n
		}
	}
	return total
}

// Peak returns the largest number of simultaneous requests for a node; for "", for all nodes.
func (s *Server) Peak(node string) int {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	return s.seen.peak[node]
}
