package shoutrrr

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"sync"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/pagerduty"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/driftd/driftd/internal/notify/post"
)

// Verb is the argument of driftd's program for a process that sends one message. With it, the
// program must call Serve.
const Verb = "shoutrrr-send"

// Serve reads a request from in, sends its message, and writes the outcome to out. It replaces
// the default HTTP transport, so it needs a process of its own. It returns an error only if in or
// out fails.
func Serve(in io.Reader, out io.Writer) error {
	var r sendRequest
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	obs := &observer{next: http.DefaultTransport}
	http.DefaultTransport = obs
	if err := json.NewEncoder(out).Encode(r.run(obs)); err != nil {
		return fmt.Errorf("write outcome: %w", err)
	}
	return nil
}

// An outcome is the result of sending a message. The zero outcome is a success.
type outcome struct {
	// Failed reports whether sending failed.
	Failed bool `json:"failed"`
	// Status and RetryAfter are those of an unsuccessful HTTP response.
	Status     int    `json:"status,omitempty"`
	RetryAfter string `json:"retry_after,omitempty"`
	// Mail is the reply code of the SMTP server, or 0.
	Mail int `json:"mail,omitempty"`
	// Cause is the text of the error.
	Cause string `json:"cause,omitempty"`
}

// run sends the message and combines the library's error with the observed HTTP response.
func (r *sendRequest) run(obs *observer) outcome {
	err := r.send(obs)
	if o := obs.outcome(); o.Failed || err == nil {
		return o
	}
	o := outcome{Failed: true, Cause: clean(err, r.Address)}
	var reply *textproto.Error
	if errors.As(err, &reply) {
		o.Mail, o.Cause = reply.Code, ""
	} else if cause := post.Cause(err); !errors.Is(cause, post.ErrGarbled) {
		o.Cause = cause.Error()
	}
	return o
}

// send sends the message through the library. It returns a panic as an error.
func (r *sendRequest) send(obs *observer) (err error) {
	defer func() { err = panicError(recover(), err) }()
	service, err := locate(r.Address)
	if err != nil {
		return err
	}
	obs.prepare(service)
	params := types.Params(r.Params)
	return service.Send(r.Text, &params)
}

// An observer is an HTTP transport that records the outcome of requests. After the first failure it
// sends no more requests, because notify.Dispatcher decides on retries.
type observer struct {
	next http.RoundTripper

	mu     sync.Mutex
	failed outcome
}

// prepare makes a service use the observer, and corrects its configuration.
func (obs *observer) prepare(service types.Service) {
	switch s := service.(type) {
	case interface{ GetHTTPClient() *http.Client }: // it has its own HTTP client
		client := s.GetHTTPClient()
		client.Transport = obs.wrap(client.Transport)
	case *ntfy.Service: // its HTTP client can only be replaced
		if !s.Config.DisableTLSVerification {
			s.SetHTTPClient(&http.Client{Transport: obs})
		}
	case *pagerduty.Service: // its port is 0 if the address has none
		if s.Config.Port == 0 {
			s.Config.Port = 443
		}
	}
}

// wrap returns a transport that sends with next and observes the responses.
func (obs *observer) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) { return obs.roundTrip(next, r) })
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// RoundTrip sends a request. Its error is always errNotSent, so that the library does not retry.
func (obs *observer) RoundTrip(r *http.Request) (*http.Response, error) {
	return obs.roundTrip(obs.next, r)
}

var errNotSent = errors.New("not sent")

// maxAnswer is the maximum size of a response that the library reads, in bytes.
const maxAnswer = 1 << 20

func (obs *observer) roundTrip(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	if obs.outcome().Failed {
		return nil, errNotSent
	}
	answer, err := next.RoundTrip(r)
	if err != nil {
		obs.fail(outcome{Failed: true, Cause: post.Cause(err).Error()})
		return nil, errNotSent
	}
	if answer.StatusCode < 200 || answer.StatusCode >= 300 {
		_ = answer.Body.Close()
		obs.fail(outcome{Failed: true, Status: answer.StatusCode, RetryAfter: answer.Header.Get("Retry-After")})
		return nil, errNotSent
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	return answer, nil
}

func (obs *observer) fail(o outcome) {
	obs.mu.Lock()
	defer obs.mu.Unlock()
	obs.failed = o
}

func (obs *observer) outcome() outcome {
	obs.mu.Lock()
	defer obs.mu.Unlock()
	return obs.failed
}
