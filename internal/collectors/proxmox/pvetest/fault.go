package pvetest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A Fault answers in the place of the cluster, which it may still ask.
type Fault func(cluster http.Handler, w http.ResponseWriter, r *http.Request)

type fault struct {
	prefix string
	fault  Fault
}

// Break lets every request whose path begins with prefix ("/nodes/pve2/", or
// "" for all) meet a fault, until Heal.
func (s *Server) Break(prefix string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fault{prefix, f})
}

// Heal ends every fault.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// fault returns the last fault that concerns a path, or nil.
func (s *Server) fault(at string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var last Fault
	for _, f := range s.faults {
		if strings.HasPrefix(at, f.prefix) {
			last = f.fault
		}
	}
	return last
}

// Status answers with a code and no body, as pveproxy does when it has nobody
// to ask.
func Status(code int) Fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// NodeDown answers as for a node that is switched off.
func NodeDown() Fault { return Status(statusNodeDown) }

// NodeHangs answers as for a node that took the connection and nothing more.
func NodeHangs() Fault { return Status(statusNodeHangs) }

// Unauthorized answers as for a token that is wrong.
func Unauthorized() Fault { return Status(http.StatusUnauthorized) }

// Forbidden answers as for an account that lacks a privilege on a path.
func Forbidden(path, privilege string) Fault {
	return Message(http.StatusForbidden, "Permission check failed ("+path+", "+privilege+")")
}

// Message answers with a code and the cluster's words.
func Message(code int, message string) Fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) { refuse(w, code, message) }
}

// Hangs answers never.
func Hangs() Fault {
	return func(_ http.Handler, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
}

// pause returns after d, and false when the request ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// HTML answers with success and a page, as what stands in front of a cluster
// may.
func HTML() Fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>Please log in</body></html>")
	}
}

// Truncated answers with the first half of what the cluster says.
func Truncated() Fault {
	return func(cluster http.Handler, w http.ResponseWriter, r *http.Request) {
		whole := &keeper{ResponseWriter: w}
		cluster.ServeHTTP(whole, r)
		_, _ = w.Write(whole.body[:len(whole.body)/2])
	}
}

// A keeper keeps the body of an answer back.
type keeper struct {
	http.ResponseWriter
	body []byte
}

func (k *keeper) Write(p []byte) (int, error) {
	k.body = append(k.body, p...)
	return len(p), nil
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
