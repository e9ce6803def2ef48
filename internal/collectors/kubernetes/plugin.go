package kubernetes

import (
	"fmt"
	"net/http"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/driftd/driftd/internal/httpclient"
)

const (
	// maxRoundTrips bounds the requests that wait for a credential plugin, including those
	// whose caller has returned.
	maxRoundTrips = 256
	// pluginGrace is how long a request may continue after the end of its context. A
	// request that does not wait for a plugin ends at once.
	pluginGrace = time.Second
)

// A pluginError is the timeout of a credential plugin. It wraps a *httpclient.Timeout.
type pluginError struct{ command string }

func (e *pluginError) Error() string {
	return fmt.Sprintf("getting credentials: the plugin %s timed out", e.command)
}

// Unwrap returns a *httpclient.Timeout.
func (e *pluginError) Unwrap() error { return &httpclient.Timeout{} }

// A pluginTransport returns when a request's context ends. client-go runs the credential
// plugin within the request and waits for it without a timeout. Such a request continues in
// the background until the plugin ends.
type pluginTransport struct {
	command string
	next    http.RoundTripper
	// running bounds the running requests.
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
		//nolint:bodyclose // the receiver of the answer closes it
		if panicked := panics.Try(func() { answer.resp, answer.err = t.next.RoundTrip(r) }); panicked != nil {
			answer.err = panicked.AsError()
		}
		t.deliver(answer, answers, left)
	}()
	select {
	case answer := <-answers:
		return answer.resp, answer.err
	case <-r.Context().Done():
	}
	grace := time.NewTimer(pluginGrace)
	defer grace.Stop()
	select {
	case answer := <-answers:
		return answer.resp, answer.err
	case <-grace.C:
		return nil, &pluginError{t.command}
	}
}

// deliver sends the answer to the caller, or closes it if the caller has returned.
func (t *pluginTransport) deliver(answer roundTrip, answers chan<- roundTrip, left <-chan struct{}) {
	defer func() { <-t.running }()
	select {
	case answers <- answer:
	case <-left:
		if answer.err == nil {
			_ = answer.resp.Body.Close()
		}
	}
}
