package pvetest

import (
	"net/http"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/faults"
)

// NodeDown answers as for a node that is switched off.
func NodeDown() faults.Fault { return faults.Status(statusNodeDown, "") }

// NodeHangs answers as for a node that took the connection and nothing more.
func NodeHangs() faults.Fault { return faults.Status(statusNodeHangs, "") }

// Unauthorized answers as for a token that is wrong.
func Unauthorized() faults.Fault { return faults.Status(http.StatusUnauthorized, "") }

// Forbidden answers as for an account that lacks a privilege on a path.
func Forbidden(path, privilege string) faults.Fault {
	return Message(http.StatusForbidden, "Permission check failed ("+path+", "+privilege+")")
}

// Message answers with a code and the cluster's words.
func Message(code int, message string) faults.Fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) { refuse(w, code, message) }
}

// requests count what was asked for.
type requests struct {
	mu            sync.Mutex
	count         map[string]int
	running, peak map[string]int
}

// begin notes a request, and returns what notes its end.
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

// nodeOf names the node that a path asks, "cluster" where it asks none.
func nodeOf(at string) string {
	if parts := strings.Split(at, "/"); len(parts) > 3 && parts[1] == "nodes" {
		return parts[2]
	}
	return "cluster"
}

// Count returns how often the paths that begin with prefix and end with suffix
// were asked for.
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

// Peak returns how many requests for a node ran at once at most; for "" all of
// them.
func (s *Server) Peak(node string) int {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	return s.seen.peak[node]
}
