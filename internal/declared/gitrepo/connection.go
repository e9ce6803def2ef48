package gitrepo

import (
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/driftd/driftd/internal/httpclient"
)

// A connection is a transport to a server. Over https it bounds what the server sends
// before the objects: the list of its refs, and its response to the negotiation.
type connection struct {
	transport.Transport

	web *http.Transport
	// left is the number of bytes that may still be read.
	left int64
}

func (r *Repository) connect(endpoint *transport.Endpoint) (*connection, error) {
	c := &connection{left: maxRefsSize}
	if endpoint.Protocol != "https" && endpoint.Protocol != "http" {
		var err error
		c.Transport, err = client.NewClient(endpoint)
		return c, err
	}
	web, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, fmt.Errorf("http transport is a %T", http.DefaultTransport)
	}
	trust, err := httpclient.Trust(r.settings.CAFile)
	if err != nil {
		return nil, err
	}
	c.web = web.Clone()
	c.web.TLSClientConfig = trust
	c.Transport = githttp.NewClient(&http.Client{Transport: c})
	return c, nil
}

// Close closes connections that are idle.
func (c *connection) Close() {
	if c.web != nil {
		c.web.CloseIdleConnections()
	}
}

// unbound lifts the bound: what is read next is bounded by its reader.
func (c *connection) unbound() { c.left = math.MaxInt64 }

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
