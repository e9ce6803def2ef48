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

// Verb is the argument with which driftd's own program is started to send one
// message: it must call Serve then.
const Verb = "shoutrrr-send"

// Serve does one errand, which it reads from in, and writes to out what came of
// it. It is for a process of its own: it watches all HTTP of the process. The
// error is of in and out.
func Serve(in io.Reader, out io.Writer) error {
	var e errand
	if err := json.NewDecoder(in).Decode(&e); err != nil {
		return fmt.Errorf("read errand: %w", err)
	}
	w := &watch{next: http.DefaultTransport}
	http.DefaultTransport = w
	if err := json.NewEncoder(out).Encode(e.run(w)); err != nil {
		return fmt.Errorf("write outcome: %w", err)
	}
	return nil
}

// An outcome is what came of an errand; zero when the message was taken.
type outcome struct {
	// Failed tells that it was not, whatever else is known.
	Failed bool `json:"failed"`
	// Status is that of the answer which was no success, RetryAfter its header.
	Status     int    `json:"status,omitempty"`
	RetryAfter string `json:"retry_after,omitempty"`
	// Mail is the SMTP server's code.
	Mail int `json:"mail,omitempty"`
	// Cause says it in words.
	Cause string `json:"cause,omitempty"`
}

// run sends, and puts together what the library says and what was seen of it.
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

// A watch sees what becomes of requests. After the first that is no success it
// lets no more through: the deliverer decides when to try again.
type watch struct {
	next http.RoundTripper

	mu     sync.Mutex
	failed outcome
}

// prepare sees to what the library does not do as the others.
func (w *watch) prepare(service types.Service) {
	switch s := service.(type) {
	case interface{ GetHTTPClient() *http.Client }: // a way of its own to the network
		client := s.GetHTTPClient()
		client.Transport = w.around(client.Transport)
	case *ntfy.Service: // likewise
		if !s.Config.DisableTLSVerification {
			s.SetHTTPClient(&http.Client{Transport: w})
		}
	case *pagerduty.Service: // port 0 where the address names none
		if s.Config.Port == 0 {
			s.Config.Port = 443
		}
	}
}

// around watches another way to the network, for the same outcome.
func (w *watch) around(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) { return w.through(next, r) })
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// RoundTrip sends a request. Its error tells the library nothing that it could
// act on.
func (w *watch) RoundTrip(r *http.Request) (*http.Response, error) { return w.through(w.next, r) }

var errNotSent = errors.New("not sent")

// maxAnswer bounds what the library reads of an answer.
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
