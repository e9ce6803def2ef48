package netbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/time/rate"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reach"
)

const apiPath = "/api"

// A session is one token's way into one NetBox, for the length of one look. It
// sends GET requests and nothing else.
type session struct {
	config Config
	token  token
	http   *http.Client
	// running holds a place for each request under way.
	running chan struct{}
	rate    *rate.Limiter
	// backoff is the first pause before a request is tried again.
	backoff time.Duration
	copies  reach.Copies
}

// connect opens a session without asking anything. The caller closes it.
func connect(config Config, backoff time.Duration) (*session, error) {
	secret, err := readToken(config.TokenFile)
	if err != nil {
		return nil, &localError{err}
	}
	transport, err := newTransport(config)
	if err != nil {
		return nil, &localError{err}
	}
	s := &session{config: config, token: secret, running: make(chan struct{}, config.Concurrency), backoff: backoff}
	s.http = &http.Client{
		Transport: reach.Guard(transport),
		// The token goes to no address that nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if config.Rate > 0 {
		s.rate = rate.NewLimiter(rate.Limit(config.Rate), max(1, int(config.Rate)))
	}
	return s, nil
}

// close gives the connections back.
func (s *session) close() { s.http.CloseIdleConnections() }

// An answer is a success whose body is being read.
type answer struct {
	header http.Header
	body   io.Reader
}

// tries is how often a request is sent when the server is busy or the
// connection breaks.
const tries = 3

// get asks for a path below /api/ and hands the answer to take, anew for each
// try. A try that take did not finish counts for nothing.
func (s *session) get(ctx context.Context, path string, query url.Values, take func(answer) error) error {
	for try := 1; ; try++ {
		err := s.try(ctx, path, query, take)
		pause, again := s.pause(err, try)
		if !again {
			return reach.Because(ctx, err)
		}
		if err := reach.Wait(ctx, pause); err != nil {
			return reach.Because(ctx, err)
		}
	}
}

// try sends one request when there is room for it.
func (s *session) try(ctx context.Context, path string, query url.Values, take func(answer) error) error {
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := reach.Turn(ctx, s.rate); err != nil {
		return err
	}
	limited, cancel := reach.Within(ctx, s.config.Timeout)
	defer cancel()
	err := s.exchange(limited, path, query, take)
	switch {
	case err == nil, limited.Err() == nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return context.Cause(limited)
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
	if !errors.As(err, &status) {
		return pause, reach.Broken(err)
	}
	switch status.code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return max(pause, status.retryAfter), status.retryAfter <= maxPause
	}
	return 0, false
}

// exchange sends one request and lets take read a success, within bounds.
func (s *session) exchange(ctx context.Context, path string, query url.Values, take func(answer) error) error {
	address := s.config.URL + apiPath + "/" + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", s.token.header())
	req.Header.Set("Cache-Control", reach.NoCache)
	resp, err := s.http.Do(req)
	if err != nil {
		return reach.WithoutURL(err)
	}
	// What is left of the body is nobody's business, nor how closing it went.
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return s.statusError(resp)
	}
	s.copies.Note(resp.Header)
	if isPage(resp.Header) {
		return &answerError{reason: "the answer is an HTML page", page: true}
	}
	bounded := &boundedReader{reader: resp.Body, left: s.config.MaxBody}
	err = take(answer{header: resp.Header, body: bounded})
	switch {
	case bounded.over:
		return &tooLargeError{s.config.MaxBody}
	case bounded.err != nil:
		return reach.WithoutURL(bounded.err)
	}
	return err
}

// A boundedReader ends with an error where a body is larger than it may be, and
// keeps the error that the connection ended with.
type boundedReader struct {
	reader io.Reader
	left   int64
	over   bool
	err    error
}

func (r *boundedReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		var one [1]byte
		if n, err := r.reader.Read(one[:]); n == 0 {
			return 0, err
		}
		r.over = true
		return 0, io.ErrUnexpectedEOF
	}
	n, err := r.reader.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// marked tells an answer of NetBox itself: what stands before it does not give
// the version of its API.
func marked(header http.Header) bool { return header.Get("API-Version") != "" }

// isPage tells a page for people.
func isPage(header http.Header) bool {
	typ, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && typ == "text/html"
}

// maxError is how much of an answer that is no success is read.
const maxError = 64 << 10

// statusError returns the error of an answer that is no success.
func (s *session) statusError(resp *http.Response) error {
	status := &statusError{code: resp.StatusCode, page: isPage(resp.Header), marked: marked(resp.Header), retryAfter: reach.RetryAfter(resp.Header.Get("Retry-After"), time.Now())}
	if to, err := resp.Location(); err == nil {
		status.location = reach.Printable(to.Scheme + "://" + to.Host + to.Path)
	}
	// A body that breaks off says nothing, which is no error of its own.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError))
	if v, err := decode.JSON(body); err == nil {
		status.detail = reach.Printable(s.token.hide(v.At("detail").Str()))
	}
	status.page = status.page || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
	return status
}

// object asks for a path that answers with one object.
func (s *session) object(ctx context.Context, path string, query url.Values) (v model.Value, header http.Header, err error) {
	ctx, settle := budget.Part(ctx)
	defer func() { settle(v.Weight()) }()
	err = s.get(ctx, path, query, func(a answer) error {
		header = a.header
		body, err := io.ReadAll(a.body)
		if err != nil {
			return err
		}
		if v, err = decode.JSON(body); err != nil {
			return noJSON(body, err)
		}
		if v.Kind() != model.Map {
			return &answerError{reason: "the answer is no object"}
		}
		return nil
	})
	return v, header, err
}

// noJSON says what an answer is instead.
func noJSON(body []byte, err error) error {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return &answerError{reason: "the answer is an HTML page", page: true}
	}
	return &answerError{reason: "the answer is no JSON: " + err.Error()}
}
