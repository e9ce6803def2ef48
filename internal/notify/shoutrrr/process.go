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
// the default HTTP transport, so it needs a process of its own. The error is that of in or out.
func Serve(in io.Reader, out io.Writer) error {
	var e errand
	if err := json.NewDecoder(in).Decode(&e); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	w := &watch{next: http.DefaultTransport}
	http.DefaultTransport = w
	if err := json.NewEncoder(out).Encode(e.run(w)); err != nil {
		return fmt.Errorf("write outcome: %w", err)
	}
	return nil
}

// An outcome is the result of sending a message; zero for success.
type outcome struct {
	// Failed reports whether sending failed.
	Failed bool `json:"failed"`
	// Status and RetryAfter are those of an unsuccessful HTTP response.
	Status     int    `json:"status,omitempty"`
	RetryAfter string `json:"retry_after,omitempty"`
	// Mail is the reply code of the SMTP server.
	Mail int `json:"mail,omitempty"`
	// Cause is the text of the error.
	Cause string `json:"cause,omitempty"`
}

// run sends the message and combines the library's error with the observed HTTP response.
func (e *errand) run(w *watch) outcome {
	err := e.send(w)
	if o := w.outcome(); o.Failed || err == nil {
		return o
	}
	o := outcome{Failed: true, Cause: clean(err, e.Address)}
	var reply *textproto.Error
	if errors.As(err, &reply) {
		o.Mail, o.Cause = reply.Code, ""
	} else if cause := post.Cause(err); !errors.Is(cause, post.ErrGarbled) {
		o.Cause = cause.Error()
	}
	return o
}

func (e *errand) send(w *watch) (err error) {
	defer func() { err = orPanic(recover(), err) }()
	service, err := locate(e.Address)
	if err != nil {
		return err
	}
	w.prepare(service)
	params := types.Params(e.Params)
	return service.Send(e.Text, &params)
}

// A watch observes the responses to requests. After the first failure it sends no more requests,
// because the worker decides on retries.
type watch struct {
	next http.RoundTripper

	mu     sync.Mutex
	failed outcome
}

// prepare handles the differences of some services.
func (w *watch) prepare(service types.Service) {
	switch s := service.(type) {
	case interface{ GetHTTPClient() *http.Client }: // it has its own HTTP client
		client := s.GetHTTPClient()
		client.Transport = w.around(client.Transport)
	case *ntfy.Service: // likewise
		if !s.Config.DisableTLSVerification {
			s.SetHTTPClient(&http.Client{Transport: w})
		}
	case *pagerduty.Service: // its port is 0 if the address has none
		if s.Config.Port == 0 {
			s.Config.Port = 443
		}
	}
}

// around returns a transport that sends with next and observes the responses.
func (w *watch) around(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) { return w.through(next, r) })
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// RoundTrip sends a request. Its error is always errNotSent, so that the library does not retry.
func (w *watch) RoundTrip(r *http.Request) (*http.Response, error) { return w.through(w.next, r) }

var errNotSent = errors.New("not sent")

// maxAnswer is the maximum size of a response that the library reads, in bytes.
const maxAnswer = 1 << 20

func (w *watch) through(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	if w.outcome().Failed {
		return nil, errNotSent
	}
	answer, err := next.RoundTrip(r)
	if err != nil {
		w.fail(outcome{Failed: true, Cause: post.Cause(err).Error()})
		return nil, errNotSent
	}
	if answer.StatusCode < 200 || answer.StatusCode >= 300 {
		_ = answer.Body.Close()
		w.fail(outcome{Failed: true, Status: answer.StatusCode, RetryAfter: answer.Header.Get("Retry-After")})
		return nil, errNotSent
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	return answer, nil
}

func (w *watch) fail(o outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = o
}

func (w *watch) outcome() outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}
