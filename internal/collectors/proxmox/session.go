package proxmox

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	pve "github.com/Telmate/proxmox-api-go/proxmox"
	"golang.org/x/time/rate"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reach"
)

// An api reads a Proxmox VE API.
type api interface {
	// Get returns the data of the answer to a path below /api2/json, which may
	// have a query. It may be called at any time from any goroutine.
	Get(ctx context.Context, path string) (model.Value, error)
	// Ask is Get for what a guest has to answer itself: it tries once, waits no
	// longer than limit once the request has its turn, and takes no long answer.
	Ask(ctx context.Context, path string, limit time.Duration) (model.Value, error)
}

// maxAsked bounds what is taken of a guest's own words, in bytes.
const maxAsked = 4 << 20

const apiPath = "/api2/json"

// maxRequests bounds the requests that run at once, whatever the number of
// nodes: all of them go through one node's pveproxy.
const maxRequests = 32

// A session is one account's way into one cluster, for the length of one look.
//
// The library's own session writes the requests; they are sent, bounded and
// read here, because the library's reads give whole numbers back as floats, try
// three times without regard for the context, and panic on data of another
// form than they expect.
type session struct {
	config Config
	lib    *pve.Session
	http   *http.Client
	// running holds a token for each request under way.
	running chan struct{}
	rate    *rate.Limiter
	// backoff is the first pause before a request is tried again.
	backoff time.Duration
}

// connect opens a session. The caller closes it.
func connect(ctx context.Context, config Config, backoff time.Duration) (*session, error) {
	transport, err := newTransport(config)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport: reach.Guard(transport),
		// Credentials go to no address that nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	lib, err := pve.NewSession(config.URL+apiPath, client, "", nil)
	if err != nil {
		return nil, err
	}
	s := &session{config: config, lib: lib, http: client, running: make(chan struct{}, maxRequests), backoff: backoff}
	if config.Rate > 0 {
		s.rate = rate.NewLimiter(rate.Limit(config.Rate), max(1, int(config.Rate)))
	}
	if err := s.authenticate(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close gives the connections back.
func (s *session) close() { s.http.CloseIdleConnections() }

// authenticate takes up the token, or logs in. Secrets are read each time, so
// that renewed ones count.
func (s *session) authenticate(ctx context.Context) error {
	if s.config.TokenID != "" {
		secret, err := credential.Read(s.config.TokenFile)
		if err == nil {
			s.lib.AuthToken = s.config.TokenID + "=" + strings.TrimSpace(secret)
		}
		return err
	}
	password, err := credential.Read(s.config.PasswordFile)
	if err != nil {
		return err
	}
	form := url.Values{"username": {s.config.Username}, "password": {password}}
	data, err := s.exchange(ctx, s.bounds(), http.MethodPost, "/access/ticket", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	s.lib.AuthTicket = data.At("ticket").Str()
	switch {
	case !data.At("NeedTFA").IsEmpty():
		return &answerError{"the user logs in with a second factor: use an API token (token_id)"}
	case s.lib.AuthTicket == "":
		return &answerError{"the answer to the login holds no ticket"}
	}
	return nil
}

// tries is how often a request is sent when the server is busy or the
// connection breaks.
const tries = 3

// Get implements api.
func (s *session) Get(ctx context.Context, path string) (model.Value, error) {
	for try := 1; ; try++ {
		data, err := s.get(ctx, path, s.bounds())
		pause, again := s.pause(err, try)
		if !again {
			return data, reach.Because(ctx, err)
		}
		if err := reach.Wait(ctx, pause); err != nil {
			return model.Value{}, reach.Because(ctx, err)
		}
	}
}

// Ask implements api.
func (s *session) Ask(ctx context.Context, path string, limit time.Duration) (model.Value, error) {
	data, err := s.get(ctx, path, bounds{min(limit, s.config.Timeout), min(maxAsked, s.config.MaxBody)})
	return data, reach.Because(ctx, err)
}

// get sends one request when there is room for it.
func (s *session) get(ctx context.Context, path string, within bounds) (model.Value, error) {
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	case <-ctx.Done():
		return model.Value{}, ctx.Err()
	}
	if err := reach.Turn(ctx, s.rate); err != nil {
		return model.Value{}, err
	}
	return s.exchange(ctx, within, http.MethodGet, path, nil)
}

// maxPause is the longest pause that is granted to a server that asks for one.
const maxPause = 10 * time.Second

// pause tells whether to try again after err, and how long to wait first.
func (s *session) pause(err error, try int) (time.Duration, bool) {
	if err == nil || try == tries {
		return 0, false
	}
	pause := s.backoff << (try - 1)
	pause += time.Duration(rand.Int64N(int64(pause) + 1))
	var status *statusError
	switch {
	case errors.As(err, &status):
		busy := status.code == http.StatusTooManyRequests || status.code == http.StatusServiceUnavailable
		return max(pause, status.retryAfter), busy && status.retryAfter <= maxPause
	default:
		return pause, reach.Broken(err)
	}
}

// Bounds are what one request may take: the time until its answer has been
// read, and the answer's length in bytes.
type bounds struct {
	time time.Duration
	body int64
}

func (s *session) bounds() bounds { return bounds{s.config.Timeout, s.config.MaxBody} }

// exchange sends one request and returns the data of its answer.
func (s *session) exchange(ctx context.Context, within bounds, method, path string, form io.Reader) (data model.Value, err error) {
	ctx, settle := budget.Part(ctx)
	defer func() { settle(data.Weight()) }()
	limited, cancel := reach.Within(ctx, within.time)
	defer cancel()
	headers := &http.Header{"Accept": {"application/json"}}
	if form != nil {
		headers.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req, err := s.lib.NewRequest(limited, method, s.config.URL+apiPath+path, headers, form)
	if err != nil {
		return model.Value{}, err
	}
	data, err = s.read(req, within.body)
	switch {
	case err == nil, limited.Err() == nil:
		return data, err
	case ctx.Err() != nil:
		return model.Value{}, ctx.Err()
	}
	return model.Value{}, context.Cause(limited)
}

// read sends the request and reads no more than limit bytes of its answer.
func (s *session) read(req *http.Request, limit int64) (model.Value, error) {
	resp, err := s.http.Do(req)
	if err != nil {
		return model.Value{}, reach.WithoutURL(err)
	}
	// What is left of the body is nobody's business, nor how closing it went.
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if resp.StatusCode != http.StatusOK {
		return model.Value{}, newStatusError(resp, body)
	}
	if err != nil {
		return model.Value{}, reach.WithoutURL(err)
	}
	if int64(len(body)) > limit {
		return model.Value{}, &tooLargeError{limit}
	}
	return dataOf(body)
}

// dataOf returns what an answer holds: {"data": …}, beside which there may be
// totals and changes.
func dataOf(body []byte) (model.Value, error) {
	answer, err := decode.JSON(body)
	if err != nil {
		return model.Value{}, &answerError{"the answer is no JSON: " + err.Error()}
	}
	data, ok := answer.Get("data")
	if !ok {
		return model.Value{}, &answerError{"the answer holds no data"}
	}
	return data, nil
}

// newStatusError returns the error of an answer that is no success.
func newStatusError(resp *http.Response, body []byte) error {
	answer := &statusError{code: resp.StatusCode}
	if v, err := decode.JSON(body); err == nil {
		answer.message = reach.Printable(v.At("message").Str())
	}
	if answer.message == "" {
		_, line, _ := strings.Cut(resp.Status, " ")
		answer.message = reach.Printable(line)
	}
	answer.retryAfter = reach.RetryAfter(resp.Header.Get("Retry-After"), time.Now())
	return answer
}
