package kubernetes

import (
	"fmt"
	"net/http"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/driftd/driftd/internal/httpclient"
)

const (
	// maxRoundTrips is how many requests may wait for a credential plugin at
	// once, those included that nobody waits for any more.
	maxRoundTrips = 256
	// pluginGrace is how long a request may take to end after its context: one
	// that is on the network ends at once.
	pluginGrace = time.Second
)

// A pluginError is a credential plugin that did not end in time. It is a *httpclient.Timeout
// that explains itself.
type pluginError struct{ command string }

func (e *pluginError) Error() string {
	return fmt.Sprintf("getting credentials: the plugin %s does not end", e.command)
}

// Unwrap returns a *httpclient.Timeout.
func (e *pluginError) Unwrap() error { return &httpclient.Timeout{} }

// A pluginTransport ends each request with its context. client-go runs the
// credential plugin inside of the request and waits for it without a bound:
// such a request is left to itself until the plugin ends.
type pluginTransport struct {
	command string
	next    http.RoundTripper
	// running bounds the requests that are under way.
	running chan struct{}
}

type roundTrip struct {
	resp *http.Response
	err  error
}

// RoundTrip returns within pluginGrace after the request's context ended.
func (t *pluginTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case t.running <- struct{}{}:
	case <-r.Context().Done():
		return nil, &pluginError{t.command}
	}
	answers, left := make(chan roundTrip), make(chan struct{})
	defer close(left)
	go func() {
		var answer roundTrip
		//nolint:bodyclose // who gets the answer closes it
		if panicked := panics.Try(func() { answer.resp, answer.err = t.next.RoundTrip(r) }); panicked != nil {
			answer.err = panicked.AsError()
		}
		t.hand(answer, answers, left)
	}()
	select {
	case answer := <-answers:
		return answer.resp, answer.err
	case <-r.Context().Done():
	}
	late := time.NewTimer(pluginGrace)
	defer late.Stop()
	select {
	case answer := <-answers:
		return answer.resp, answer.err
	case <-late.C:
		return nil, &pluginError{t.command}
	}
}

// hand hands over the answer, or drops it once the caller has left.
func (t *pluginTransport) hand(answer roundTrip, answers chan<- roundTrip, left <-chan struct{}) {
	defer func() { <-t.running }()
	select {
	case answers <- answer:
	case <-left:
		if answer.err == nil {
			_ = answer.resp.Body.Close()
		}
	}
}
