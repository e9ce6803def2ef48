package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// read reads the answer to a request through Read, and counts the attempts.
func read(ctx context.Context, t *testing.T, c *httpclient.Client) (text string, begun int, err error) {
	t.Helper()
	err = c.Read(request(ctx, t, ""), func(answer *http.Response) error {
		begun++
		body, err := io.ReadAll(answer.Body)
		text = string(body)
		return err
	})
	return text, begun, err
}

func TestRead(t *testing.T) {
	t.Parallel()
	ok := answer{code: 200}
	for name, tc := range map[string]struct {
		reason  string
		answers []answer
		begun   int
		want    string
	}{
		"at once":        {"a success is read once", []answer{ok}, 1, ""},
		"breaks off":     {"the reading begins again", []answer{{code: 200, body: broken{}}, ok}, 2, ""},
		"always breaks":  {"the attempts are bounded", []answer{{code: 200, body: broken{}}}, 4, "unexpected EOF"},
		"busy":           {"an unsuccessful answer is not read", []answer{{code: 503}, ok}, 1, ""},
		"500":            {"the data of the API adds a status", []answer{{code: 500}, ok}, 1, ""},
		"404":            {"any other status is an error", []answer{{code: 404, body: strings.NewReader(`{"why":"no such\nthing"}`)}}, 0, "404 Not Found: no such thing"},
		"a page":         {"a login page is no answer", []answer{{code: 200, body: strings.NewReader(" \n<p>")}}, 0, "the answer is an HTML page"},
		"a firewall":     {"what stands before answers with a page", []answer{{code: 403, body: strings.NewReader("<html>")}}, 0, "403 Forbidden, with an HTML page"},
		"a redirect":     {"the query may hold a secret", []answer{{code: 302, location: "https://u:p@sso.example.org/login?next=x#y"}}, 0, "302 Found, to https://sso.example.org/login"},
		"a relative one": {"it is of the server", []answer{{code: 302, location: "/login"}}, 0, "302 Found, to http://example.org/login"},
		"too large":      {"the bound holds for a stream", []answer{{code: 200, body: strings.NewReader("longer")}}, 1, "the answer is larger than 5 bytes"},
		"unknown status": {"its meaning is not known", []answer{{code: 595, body: strings.NewReader(`{"why":"no route"}`)}}, 0, "595 no route"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				api := httpclient.API{Retry: []int{500}, Describe: func(s *httpclient.Status, _ http.Header, body model.Value) {
					s.Message = printable.Text(body.At("why").Str())
				}}
				text, begun, err := read(t.Context(), t, httpclient.New(&server{answers: tc.answers}, limits(), api))
				got := ""
				if err != nil {
					got = err.Error()
				}
				if got != tc.want || begun != tc.begun || tc.want == "" && text != "whole" {
					t.Errorf("%q after %d readings, error %q, want %d and %q: %s", text, begun, got, tc.begun, tc.want, tc.reason)
				}
			})
		})
	}
}

// TestReadTakesTheErrorOfTheBody holds that what a decoder makes of a broken connection
// does not hide it.
func TestReadTakesTheErrorOfTheBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, made := range []error{nil, errors.New("no JSON")} {
			begun := 0
			err := client(&server{answers: []answer{{code: 200, body: broken{}}}}).Read(request(t.Context(), t, ""), func(answer *http.Response) error {
				begun++
				_, _ = io.ReadAll(answer.Body)
				return made
			})
			if !errors.Is(err, io.ErrUnexpectedEOF) || begun != 4 {
				t.Errorf("%v after %d readings, want that the body broke off", err, begun)
			}
		}
	})
}

// TestReadEndsWithItsContext holds which of several ends is the error.
func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	plugin := fmt.Errorf("the plugin does not end: %w", &httpclient.Timeout{})
	for name, tc := range map[string]struct {
		reason string
		base   http.RoundTripper
		scan   time.Duration
		want   string
	}{
		"half of the scan":       {"others need the rest", &server{answers: []answer{{code: 200, body: endless{}}}}, time.Minute, "no full answer within 30s"},
		"the request":            {"its setting is to be raised", &server{answers: []answer{{code: 200, body: endless{}}}}, time.Hour, "no full answer within 1m0s"},
		"a pause":                {"the scan ends in it", &server{answers: []answer{{code: 503, wait: "30"}}}, 10 * time.Second, errScan.Error()},
		"a transport knows more": {"it returns its own", roundTripper(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, plugin }), time.Hour, plugin.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), tc.scan, errScan)
				defer cancel()
				if _, _, err := read(ctx, t, client(tc.base)); err == nil || err.Error() != tc.want {
					t.Errorf("%v, want %s: %s", err, tc.want, tc.reason)
				}
			})
		})
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{answers: []answer{{code: 503}}}
		whole := client(s)
		once := whole.With(func(l *httpclient.Limits) { l.Attempts, l.MaxBody = 1, 1 })
		if _, _, err := read(t.Context(), t, once); httpclient.Code(err) != 503 || s.asked.Load() != 1 {
			t.Errorf("%v after %d attempts, want one", err, s.asked.Load())
		}
		if _, _, err := read(t.Context(), t, whole); httpclient.Code(err) != 503 || s.asked.Load() != 5 {
			t.Errorf("%v after %d attempts, want four more", err, s.asked.Load())
		}
		s.answers = []answer{{code: 200, body: strings.NewReader("ab")}}
		if _, _, err := read(t.Context(), t, once); !errors.As(err, new(*httpclient.TooLarge)) {
			t.Errorf("%v, want that the answer is too large", err)
		}
	})
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1}`:     "",
		`[1,`:         "the answer is no JSON: ",
		``:            "the answer is no JSON: ",
		`<!DOCTYPE >`: "the answer is an HTML page",
	} {
		c := client(&server{answers: []answer{{code: 200, body: strings.NewReader(text)}}}).With(func(l *httpclient.Limits) { l.MaxBody = 100 })
		v, _, err := c.JSON(request(t.Context(), t, ""))
		if unexpected, ok := errors.AsType[*httpclient.Unexpected](err); ok != (want != "") || ok && !strings.HasPrefix(unexpected.Reason, want) || !ok && v.At("a").Text() != "1" {
			t.Errorf("%s: %v, error %v", text, v, err)
		}
	}
}

// TestJSONSettles holds that answers count while they are read, and that their values count
// afterwards.
func TestJSONSettles(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limit int64
		fails bool
	}{"one after another": {1 << 20, false}, "none": {100 << 10, true}} {
		s := &server{}
		for range 10 {
			s.answers = append(s.answers, answer{code: 200, body: strings.NewReader("[" + strings.Repeat("[],", 500) + "[]]")})
		}
		c := client(s).With(func(l *httpclient.Limits) { l.MaxBody = 1 << 20 })
		ctx := budget.NewTotal(1<<30).Scope(t.Context(), tc.limit)
		_, err := budget.Run(ctx, func(ctx context.Context) (int, error) {
			for range 10 {
				if _, _, err := c.JSON(request(ctx, t, "")); err != nil {
					return 0, err
				}
			}
			return 0, nil
		})
		if exceeded := errors.As(err, new(*budget.Exceeded)); exceeded != tc.fails || err != nil && !exceeded {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{answers: []answer{{code: 200, body: strings.NewReader("more than five bytes")}, {code: 503}}}
		answer, err := client(s).Open(request(t.Context(), t, ""))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err = errors.Join(err, answer.Body.Close()); err != nil || len(body) != 20 {
			t.Errorf("%q, %v", body, err)
		}
		if answer, err = client(s).Open(request(t.Context(), t, "")); httpclient.Code(err) != 503 || s.asked.Load() != 2 {
			_ = answer.Body.Close()
			t.Errorf("%v after %d attempts, want one", err, s.asked.Load()-1)
		}
	})
}

func TestCachedAnswers(t *testing.T) {
	t.Parallel()
	mark := ""
	c := client(roundTripper(func(r *http.Request) (*http.Response, error) {
		if got := r.Header.Get("Cache-Control"); got != "no-cache" {
			t.Errorf("Cache-Control is %q", got)
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Age": {mark}}, Body: http.NoBody}, nil
	}))
	for _, tc := range []struct{ age, want string }{
		{"0", ""},
		{"7", "a cache before NetBox answered from its own copy (Age: 7): let driftd's requests pass it"},
		{"9", "a cache before NetBox answered from its own copy (Age: 7): let driftd's requests pass it"},
	} {
		mark = tc.age
		if _, _, err := read(t.Context(), t, c); err != nil || c.Cached("NetBox") != tc.want {
			t.Errorf("Age %s: %q, error %v", tc.age, c.Cached("NetBox"), err)
		}
	}
}

// TestOpenEndsWithItsContext holds what bounds a stream, before it begins and afterwards.
func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hangs := client(roundTripper(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }))
		_, err := hangs.Open(request(t.Context(), t, "")) //nolint:bodyclose // there is none
		if slow, ok := errors.AsType[*httpclient.Timeout](err); !ok || slow.After != time.Minute {
			t.Errorf("%v, want that the answer did not begin within a minute", err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, errScan)
		defer cancel()
		start := time.Now()
		answer, err := client(&server{answers: []answer{{code: 200, body: endless{}}}}).Open(request(ctx, t, ""))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(answer.Body)
		if err == nil || time.Since(start) != time.Hour {
			t.Errorf("%v after %s, want the end of the context", err, time.Since(start))
		}
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestErrorsKeepNoAnswer holds that an error does not keep its answer in memory: the memory
// of the scan counts that no more.
func TestErrorsKeepNoAnswer(t *testing.T) {
	t.Parallel()
	_, _, err := read(t.Context(), t, client(&server{answers: []answer{{code: 403, body: strings.NewReader(strings.Repeat("x", 1<<20))}}}))
	if text := fmt.Sprintf("%#v", httpclient.StatusOf(err)); !strings.Contains(text, "answer:(*http.Response)(nil)") || len(text) > 1000 {
		t.Errorf("the error keeps its answer: %.1000s", text)
	}
}
