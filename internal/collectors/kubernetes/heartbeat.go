package kubernetes

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

const (
	// beatEvery is the pause between two probes of the API server, and beatTimeout
	// bounds one attempt.
	beatEvery   = 5 * time.Second
	beatTimeout = 5 * time.Second
	// lostAfter is how long probes must have failed, without a sign of life in
	// between, before the API server counts as lost: a restart that is shorter
	// is not reported. With the two times above, a loss is found within 25 s.
	lostAfter = 15 * time.Second
	// reconnectAfter is how long probes fail before the credentials are read again.
	reconnectAfter = time.Minute
)

// A heartbeat finds out that an API server is lost, also where connections hang
// and no stream breaks. It probes over a connection of its own, since those of
// the streams may hang while the server is well.
type heartbeat struct {
	cluster *cluster
	// lost receives the reason, once for each outage.
	lost chan error

	mu     sync.Mutex
	client *client
	// dialed is when client was made, since when the first of the failing probes
	// began (zero while none fails), err how the last one failed.
	dialed, since time.Time
	err           error
	late          *time.Timer
	reported      bool
}

func newHeartbeat(c *cluster) *heartbeat { return &heartbeat{cluster: c, lost: make(chan error, 1)} }

// run probes until ctx ends.
func (h *heartbeat) run(ctx context.Context) {
	defer h.alive()
	pause := beatEvery
	for sleep(ctx, pause) == nil {
		began := h.cluster.now()
		err := h.probe(ctx)
		if err != nil {
			err = h.probe(ctx) // over a new connection
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			h.alive()
			pause = beatEvery
		default:
			h.fails(began, err)
			pause = time.Second
		}
	}
}

// alive notes a sign of life.
func (h *heartbeat) alive() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.late != nil {
		h.late.Stop()
	}
	h.late, h.since, h.err, h.reported = nil, time.Time{}, nil, false
}

// fails notes a probe that failed and the time at which it began.
func (h *heartbeat) fails(began time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
	if h.since.IsZero() {
		h.since = began
		h.late = time.AfterFunc(lostAfter-h.cluster.now().Sub(began), h.report)
	}
}

func (h *heartbeat) report() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.since.IsZero() || h.reported {
		return
	}
	h.reported = true
	select {
	case h.lost <- h.err:
	default:
	}
}

// probe asks for the server's version. Any answer is a sign of life, but those
// of a gateway whose server is away, and a refusal of the credentials.
func (h *heartbeat) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	client, err := h.connect()
	if err != nil {
		return err
	}
	body, err := client.send(ctx, request{path: "/version"})
	if err == nil {
		return body.Close()
	}
	switch code := codeOf(err); code {
	case http.StatusUnauthorized, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	case 0:
		client.http.CloseIdleConnections()
		if ctx.Err() != nil {
			err = client.late(err)
		}
	default:
		return nil
	}
	return client.explain(err, h.cluster.now())
}

// connect returns the client of the probes.
func (h *heartbeat) connect() (*client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.cluster.now()
	outdated := !h.since.IsZero() && now.Sub(h.since) > reconnectAfter && now.Sub(h.dialed) > reconnectAfter
	if h.client != nil && !outdated {
		return h.client, nil
	}
	made, err := h.cluster.connectApart()
	if err != nil {
		return nil, err
	}
	made.timeout = beatTimeout
	h.client, h.dialed = made, now
	return made, nil
}

// apart gives a client connections of its own: client-go shares those of equal
// settings.
func apart(access *rest.Config) {
	access.Dial = (&net.Dialer{Timeout: beatTimeout, KeepAlive: beatTimeout}).DialContext
}
