package kubernetes

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/driftd/driftd/internal/httpclient"
)

const (
	// beatEvery is the pause between two probes of the API server, and beatTimeout
	// bounds one attempt.
	beatEvery   = 5 * time.Second
	beatTimeout = 5 * time.Second
	// lostAfter is how long probes must fail, without a success in between, before
	// the API server counts as lost. A shorter restart is not reported. With the
	// two durations above, a loss is detected within 25 s.
	lostAfter = 15 * time.Second
	// reconnectAfter is how long probes fail before the credentials are read again.
	reconnectAfter = time.Minute
)

// A heartbeat detects the loss of an API server, even if connections hang and no
// stream ends. It probes over its own connection, because the connections of the
// streams may hang while the server works.
type heartbeat struct {
	cluster *cluster
	// lost receives the reason, once for each outage.
	lost chan error

	mu     sync.Mutex
	client *client
	// dialed is when client was created. since is when the first of the failing
	// probes began; zero while none fails. err is the error of the last probe.
	dialed, since time.Time
	err           error
	timer         *time.Timer
	reported      bool
}

func newHeartbeat(c *cluster) *heartbeat { return &heartbeat{cluster: c, lost: make(chan error, 1)} }

// run probes until ctx ends.
func (h *heartbeat) run(ctx context.Context) {
	defer h.alive()
	pause := beatEvery
	for httpclient.Wait(ctx, pause) == nil {
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

// alive records a successful probe.
func (h *heartbeat) alive() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.timer != nil {
		h.timer.Stop()
	}
	h.timer, h.since, h.err, h.reported = nil, time.Time{}, nil, false
}

// fails records a failed probe and the time at which it began.
func (h *heartbeat) fails(began time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
	if h.since.IsZero() {
		h.since = began
		h.timer = time.AfterFunc(lostAfter-h.cluster.now().Sub(began), h.report)
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

// probe requests the version of the server. Every response counts as a success, except one of a
// gateway without a server and one that rejects the credentials.
func (h *heartbeat) probe(ctx context.Context) error {
	client, err := h.connect()
	if err != nil {
		return err
	}
	body, err := client.open(ctx, request{path: "/version"})
	if err == nil {
		return body.Close()
	}
	switch code := httpclient.Code(err); code {
	case http.StatusUnauthorized, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	case 0:
		client.http.Close()
	default:
		return nil
	}
	return client.explain(err, h.cluster.now())
}

// connect returns the client for the probes.
func (h *heartbeat) connect() (*client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.cluster.now()
	outdated := !h.since.IsZero() && now.Sub(h.since) > reconnectAfter && now.Sub(h.dialed) > reconnectAfter
	if h.client != nil && !outdated {
		return h.client, nil
	}
	made, err := h.cluster.connectSeparately()
	if err != nil {
		return nil, err
	}
	made.http = made.http.With(func(l *httpclient.Limits) { l.Timeout = beatTimeout })
	h.client, h.dialed = made, now
	return made, nil
}

// withOwnConnections makes a client open its own connections: client-go shares connections
// between clients with equal settings.
func withOwnConnections(access *rest.Config) {
	access.Dial = (&net.Dialer{Timeout: beatTimeout, KeepAlive: beatTimeout}).DialContext
}
