package kubeapi

import (
	"fmt"
	"net/http"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/driftd/driftd/internal/httpclient"
)

const (
	// MaxRoundTrips bounds the requests that wait for a credential plugin, including those
	// whose caller has returned.
	MaxRoundTrips = 256
	// PluginGrace is how long a request may continue after the end of its context. A
	// request that does not wait for a plugin ends at once.
	PluginGrace = time.Second
)

// A PluginError is the timeout of a credential plugin. It wraps a *httpclient.Timeout.
type PluginError struct{ Command string }

// Error returns the plugin.
func (e *PluginError) Error() string {
	return fmt.Sprintf("getting credentials: the plugin %s timed out", e.Command)
}

// Unwrap returns a *httpclient.Timeout.
func (e *PluginError) Unwrap() error { return &httpclient.Timeout{} }

// A PluginTransport returns when a request's context ends. client-go runs the credential
// plugin within the request and waits for it without a timeout. Such a request continues in
// the background until the plugin ends.
type PluginTransport struct {
	// Command is the plugin.
	Command string
	Next    http.RoundTripper
	// Running bounds the running requests.
	Running chan struct{}
}

type roundTrip struct {
	resp *http.Response
	err  error
}

// RoundTrip returns within PluginGrace after the request's context ended.
func (t *PluginTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case t.Running <- struct{}{}:
	case <-r.Context().Done():
		return nil, &PluginError{t.Command}
	}
	answers, left := make(chan roundTrip), make(chan struct{})
	defer close(left)
	go func() {
		var answer roundTrip
		//nolint:bodyclose // the receiver of the answer closes it
		if panicked := panics.Try(func() { answer.resp, answer.err = t.Next.RoundTrip(r) }); panicked != nil {
			answer.err = panicked.AsError()
		}
		t.deliver(answer, answers, left)
	}()
	select {
	case answer := <-answers:
		return answer.resp, answer.err
	case <-r.Context().Done():
	}
	grace := time.NewTimer(PluginGrace)
	defer grace.Stop()
	select {
	case answer := <-answers:
		return answer.resp, answer.err
	case <-grace.C:
		return nil, &PluginError{t.Command}
	}
}

// deliver sends the answer to the caller, or closes it if the caller has returned.
func (t *PluginTransport) deliver(answer roundTrip, answers chan<- roundTrip, left <-chan struct{}) {
	defer func() { <-t.Running }()
	select {
	case answers <- answer:
	case <-left:
		if answer.err == nil {
			_ = answer.resp.Body.Close()
		}
	}
}
