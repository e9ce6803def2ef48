package gitrepo

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/driftd/driftd/internal/httpclient"
)

// A connection is a session to fetch objects from a server. Over https, it bounds the response
// before the objects: the list of refs, and the result of the negotiation. A session to push has
// only the bound.
type connection struct {
	transport.UploadPackSession

	web *http.Transport
	// left is the number of bytes that may still be read.
	left int64
}

// connect opens a session. The session may change its endpoint, so it has its own.
func (r *Repository) connect(auth transport.AuthMethod) (*connection, error) {
	c := &connection{left: maxRefsSize}
	endpoint := r.endpoint
	through, err := r.transport(c)
	if err == nil {
		c.UploadPackSession, err = through.NewUploadPackSession(&endpoint, auth)
	}
	if err != nil {
		c.closeIdle()
		return nil, err
	}
	return c, nil
}

// connectPush opens a session to push. The caller calls done.
func (r *Repository) connectPush(auth transport.AuthMethod) (session transport.ReceivePackSession, done func(), err error) {
	c := &connection{left: maxRefsSize}
	endpoint := r.endpoint
	through, err := r.transport(c)
	if err == nil {
		session, err = through.NewReceivePackSession(&endpoint, auth)
	}
	if err != nil {
		c.closeIdle()
		return nil, nil, err
	}
	return session, func() {
		_ = session.Close()
		c.closeIdle()
	}, nil
}

// connectTimeout bounds the time to connect to a server over https.
const connectTimeout = 30 * time.Second

// transport returns the transport to the server. One over https sends its requests by c.
func (r *Repository) transport(c *connection) (transport.Transport, error) {
	if r.endpoint.Protocol != "https" && r.endpoint.Protocol != "http" {
		return client.NewClient(&r.endpoint)
	}
	trust, err := httpclient.Trust(r.settings.CAFile)
	if err != nil {
		return nil, err
	}
	c.web = httpclient.NewBase(trust, httpclient.Limits{Timeout: connectTimeout})
	c.web.ForceAttemptHTTP2 = true
	return githttp.NewClient(&http.Client{Transport: c}), nil
}

// Close ends the session and closes idle connections.
func (c *connection) Close() error {
	defer c.closeIdle()
	return c.UploadPackSession.Close()
}

func (c *connection) closeIdle() {
	if c.web != nil {
		c.web.CloseIdleConnections()
	}
}

// removeLimit removes the bound: the reader of the objects has its own.
func (c *connection) removeLimit() { c.left = math.MaxInt64 }

// RoundTrip implements http.RoundTripper.
func (c *connection) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.web.RoundTrip(request)
	if err == nil {
		response.Body = &boundBody{response.Body, c}
	}
	return response, err
}

type boundBody struct {
	io.ReadCloser
	of *connection
}

// Read implements io.Reader.
func (b *boundBody) Read(p []byte) (int, error) {
	if b.of.left <= 0 {
		return 0, fmt.Errorf("%w: the server's list of refs exceeds %d bytes", errTooLarge, maxRefsSize)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.of.left)])
	b.of.left -= int64(n)
	return n, err
}
