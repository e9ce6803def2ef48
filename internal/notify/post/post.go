// Package post sends HTTP requests to receivers. Its errors contain no secrets: only the host of
// an address, and no text of the server.
package post

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/notify"
)

// Options are the settings of a Client.
type Options struct {
	// Server is the name of the receiver in hints, such as "the webhook".
	Server string
	// Timeout is the maximum duration of a request, including the response.
	Timeout time.Duration
	// CAFile is the path of a file with the trusted CA certificates in PEM format. "" means those of the
	// system.
	CAFile string
	Now    func() time.Time
}

// A Client sends requests to one kind of receiver.
type Client struct {
	o    Options
	http *http.Client
}

// New returns a Client. It reads CAFile once, and returns an error if the file is invalid.
func New(o Options) (*Client, error) {
	if o.Timeout <= 0 {
		return nil, errors.New("timeout: must be over 0s")
	}
	trust, err := httpclient.Trust(o.CAFile)
	if err != nil {
		return nil, err
	}
	return &Client{o: o, http: &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			TLSClientConfig:        trust,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: 64 << 10,
			IdleConnTimeout:        time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Send posts a body to an address. It does not read the body of the response, and does not follow
// redirects. It returns the result of Judge for the response.
func (c *Client) Send(ctx context.Context, to *url.URL, header http.Header, body []byte) error {
	if err := c.send(ctx, to, header, body); err != nil {
		return fmt.Errorf("post to %s://%s: %w", to.Scheme, to.Host, err)
	}
	return nil
}

func (c *Client) send(ctx context.Context, to *url.URL, header http.Header, body []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Timeout, &httpclient.Timeout{After: c.o.Timeout})
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return notify.Permanent(errors.New("the address is not a valid URL"))
	}
	request.Header = header
	answer, err := c.http.Do(request)
	var slow *httpclient.Timeout
	switch {
	case err == nil:
		// The body is not read.
		_ = answer.Body.Close()
		return Judge(answer.StatusCode, answer.Header, c.o.Now())
	case errors.As(context.Cause(ctx), &slow):
		err = slow
	default:
		err = Cause(err)
	}
	return c.explain(err)
}

func (c *Client) explain(err error) error {
	words := httpclient.Words{
		Server:    c.o.Server,
		Address:   "the address",
		Authority: "set ca_file to the authority that signed its certificate",
		Expired:   "renew it",
		Host:      "use the name that the server's certificate is for",
	}
	if hint := words.Hint(err); hint != "" {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return err
}

// Address parses an HTTP or HTTPS URL. Its errors do not contain text, which may be secret.
func Address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("is not a valid URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("must begin with https:// or http:// and a host")
	case u.User != nil:
		return nil, errors.New("must not contain a user or a password: use the settings for them")
	}
	return u, nil
}
