package httpclient

import (
	"io"
	"net/http"

	"github.com/driftd/driftd/internal/budget"
)

// Guard returns a transport for requests to a foreign server. It counts what decoding an
// answer takes against the memory of the scan that the request belongs to, as
// budget.Reader does, and replaces the credentials of the request in an answer, as
// Discreet does.
func Guard(next http.RoundTripper) http.RoundTripper { return Discreet(&counted{next}) }

// counted counts the bodies of answers.
type counted struct{ next http.RoundTripper }

// RoundTrip sends a request.
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

// CloseIdleConnections closes the idle connections of the next transport.
func (c *counted) CloseIdleConnections() {
	(&http.Client{Transport: c.next}).CloseIdleConnections()
}
