package gitrepo

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
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
	c.web = web.Clone()
	if len(endpoint.CaBundle) > 0 {
		trusted, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("read the system's certificates: %w", err)
		}
		trusted.AppendCertsFromPEM(endpoint.CaBundle)
		c.web.TLSClientConfig = &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
		// With a CA bundle go-git wants to set up the http.Transport itself.
		endpoint.CaBundle = nil
	}
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
