package httpclient

import (
	"io"
	"net/http"

	"github.com/driftd/driftd/internal/budget"
)

// Guard returns a transport for requests to a server that is not trusted. It counts the memory for
// decoding a response against the budget of the scan to which the request belongs, as budget.Reader
// does. It replaces the credentials of the request in responses, as Discreet does.
func Guard(next http.RoundTripper) http.RoundTripper { return Discreet(&counted{next}) }

// counted counts the bodies of answers.
type counted struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.next.RoundTrip(r)
	if err != nil || answer.StatusCode == http.StatusSwitchingProtocols {
		return answer, err
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{budget.Reader(r.Context(), answer.Body), answer.Body}
	return answer, nil
}

// CloseIdleConnections closes the idle connections of the wrapped transport.
func (c *counted) CloseIdleConnections() {
	(&http.Client{Transport: c.next}).CloseIdleConnections()
}
