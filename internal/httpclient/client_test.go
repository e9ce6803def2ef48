package httpclient_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
)

// A server answers the tries of a request, one after the other; the last answer
// stands for all that follow.
type server struct {
	answers []answer
	asked   atomic.Int64
	bodies  []string
}

type answer struct {
	code           int
	wait, location string
	body           io.Reader
	err            error
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	n := int(s.asked.Add(1))
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
		s.bodies = append(s.bodies, string(body))
	}
	a := s.answers[min(n, len(s.answers))-1]
	if a.err != nil {
		return nil, a.err
	}
	header := http.Header{}
	if a.wait != "" {
		header.Set("Retry-After", a.wait)
	}
	if a.location != "" {
		header.Set("Location", a.location)
	}
	body := a.body
	if body == nil {
		body = strings.NewReader("whole")
	}
	return &http.Response{StatusCode: a.code, Request: r, Header: header, Body: hanging{r.Context(), body}}, nil
}

// A hanging body ends when the context does, where nothing else ends it.
type hanging struct {
	ctx context.Context
	io.Reader
}

func (h hanging) Read(p []byte) (int, error) {
	if h.Reader == io.Reader(endless{}) {
		<-h.ctx.Done()
		return 0, h.ctx.Err()
	}
	return h.Reader.Read(p)
}

func (hanging) Close() error { return nil }

type endless struct{}

func (endless) Read([]byte) (int, error) { return 0, nil }

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func client(base http.RoundTripper) *httpclient.Client {
	return httpclient.New(base, limits(), httpclient.API{})
}

func limits() httpclient.Limits {
	return httpclient.Limits{Concurrency: 1, Timeout: time.Minute, MaxBody: 5, Backoff: time.Second}
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	ok := answer{code: 200}
	for name, tc := range map[string]struct {
		reason  string
		answers []answer
		method  string
		asked   int64
		code    int
		least   time.Duration
		fails   func(error) bool
	}{
		"at once":          {reason: "a success needs one try", answers: []answer{ok}, asked: 1, code: 200},
		"broken":           {reason: "another connection may do better", answers: []answer{{err: io.EOF}, {err: io.EOF}, ok}, asked: 3, code: 200, least: 3 * time.Second},
		"broken for good":  {reason: "four attempts and no more", answers: []answer{{err: io.EOF}}, asked: 4, fails: httpclient.Broken},
		"cut off":          {reason: "a body that breaks off is no answer", answers: []answer{{code: 200, body: broken{}}, ok}, asked: 2, code: 200},
		"error cut off":    {reason: "of an error the code is enough", answers: []answer{{code: 404, body: broken{}}}, asked: 1, code: 404},
		"refused":          {reason: "what does not pass is not tried again", answers: []answer{{err: http.ErrSchemeMismatch}}, asked: 1, fails: func(err error) bool { return errors.Is(err, http.ErrSchemeMismatch) }},
		"busy":             {reason: "the pause that the server asks for is kept", answers: []answer{{code: 429, wait: "7"}, ok}, asked: 2, code: 200, least: 7 * time.Second},
		"busy for an hour": {reason: "a long pause is the next look's business", answers: []answer{{code: 503, wait: "3600"}}, asked: 1, code: 503},
		"over the limit":   {reason: "old services say 413 for too many requests", answers: []answer{{code: 413, wait: "2"}, ok}, asked: 2, code: 200, least: 2 * time.Second},
		"too much asked":   {reason: "any other 413 stays one", answers: []answer{{code: 413}}, asked: 1, code: 413},
		"in trouble":       {reason: "an error of the server is its answer", answers: []answer{{code: 500}}, asked: 1, code: 500},
		"a pause by date":  {reason: "Retry-After has two forms", answers: []answer{{code: 503, wait: "Sat, 01 Jan 2000 00:00:20 GMT"}, ok}, asked: 2, code: 200, least: 20 * time.Second},
		"as much as fits":  {reason: "the bound itself is allowed", answers: []answer{{code: 200, body: strings.NewReader("whole")}}, asked: 1, code: 200},
		"redirect":         {reason: "credentials go to no other address", answers: []answer{{code: 302, location: "https://elsewhere.example.org/"}}, asked: 1, code: 302},
		"gateway":          {reason: "what stands before it may find it again", answers: []answer{{code: 502}, {code: 504}, ok}, asked: 3, code: 200},
		"too large":        {reason: "a body beyond the bound is an error", answers: []answer{{code: 200, body: strings.NewReader("longer")}}, asked: 1, fails: func(err error) bool { return errors.As(err, new(*httpclient.TooLarge)) }},
		"drips":            {reason: "the timeout holds for the body too", answers: []answer{{code: 200, body: endless{}}}, asked: 1, fails: func(err error) bool { return errors.As(err, new(*httpclient.Timeout)) }, least: time.Minute},
		"sent again":       {reason: "a body that can be had again is sent again", method: http.MethodPost, answers: []answer{{code: 503}, ok}, asked: 2, code: 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &server{answers: tc.answers}
				start := time.Now()
				response, err := client(s).HTTP().Do(request(t.Context(), t, tc.method))
				if s.asked.Load() != tc.asked || time.Since(start) < tc.least {
					t.Errorf("%d tries in %s, want %d in %s or more: %s", s.asked.Load(), time.Since(start), tc.asked, tc.least, tc.reason)
				}
				if tc.fails != nil {
					if err == nil || !tc.fails(err) {
						t.Errorf("error %v: %s", err, tc.reason)
					}
					return
				}
				if err != nil {
					t.Fatalf("Do() = %v: %s", err, tc.reason)
				}
				body, err := io.ReadAll(response.Body)
				if err = errors.Join(err, response.Body.Close()); err != nil || response.StatusCode != tc.code || tc.code == 200 && string(body) != "whole" {
					t.Errorf("%d %q, %v: %s", response.StatusCode, body, err, tc.reason)
				}
				for _, sent := range s.bodies {
					if sent != "sent" {
						t.Errorf("a try sent %q: %s", sent, tc.reason)
					}
				}
			})
		})
	}
}

func request(ctx context.Context, t *testing.T, method string) *http.Request {
	t.Helper()
	var body io.Reader
	if method != "" {
		body = strings.NewReader("sent")
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://example.org", body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestHTTPSendsOnceWhatCannotBeHadAgain(t *testing.T) {
	t.Parallel()
	s := &server{answers: []answer{{code: 503}}}
	r := request(t.Context(), t, http.MethodPost)
	r.GetBody = nil
	response, err := client(s).HTTP().Do(r)
	if err != nil || response.StatusCode != http.StatusServiceUnavailable || s.asked.Load() != 1 {
		t.Errorf("%d tries, %v", s.asked.Load(), err)
	}
	if err == nil {
		_ = response.Body.Close()
	}
}

func TestHTTPIsCancelled(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*server{
		"while it reads":  {answers: []answer{{code: 200, body: endless{}}}},
		"while it pauses": {answers: []answer{{code: 429, wait: "9"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				response, err := client(s).HTTP().Do(request(ctx, t, ""))
				if err == nil {
					_ = response.Body.Close()
				}
				if !errors.Is(err, context.DeadlineExceeded) || s.asked.Load() != 1 {
					t.Errorf("%d tries, error %v", s.asked.Load(), err)
				}
			})
		})
	}
}

func TestHTTPKeepsConcurrencyAndRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		base := roundTripper(func(*http.Request) (*http.Response, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(100 * time.Millisecond)
			now.Add(-1)
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		})
		l := limits()
		l.Concurrency, l.Rate = 2, 4
		through := httpclient.New(base, l, httpclient.API{}).HTTP()
		start, done := time.Now(), make(chan error)
		for range 12 {
			go func() {
				response, err := through.Do(request(t.Context(), t, ""))
				if err == nil {
					err = response.Body.Close()
				}
				done <- err
			}()
		}
		for range 12 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		// Four at once, then eight at four a second.
		if most.Load() != 2 || time.Since(start) < 2*time.Second {
			t.Errorf("%d requests at once, all in %s", most.Load(), time.Since(start))
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
