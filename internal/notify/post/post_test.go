package post_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/post"
)

func now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func TestJudge(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		code   int
		header string
		mark   error
		later  time.Duration
	}{
		"moved":        {"a permanent redirect", 308, "", notify.ErrPermanent, 0},
		"found":        {"a temporary redirect, such as to a maintenance page", 302, "", nil, 0},
		"bad":          {"the message is invalid", 422, "", notify.ErrRefused, 0},
		"conflict":     {"the message exists already", 409, "", notify.ErrRefused, 0},
		"slow":         {"the server timed out", 408, "5", nil, 0},
		"teapot":       {"another 4xx status", 418, "", notify.ErrPermanent, 0},
		"seconds":      {"Retry-After in seconds", 429, "120", nil, 2 * time.Minute},
		"fraction":     {"Retry-After with a fraction", 429, "1.5", nil, 1500 * time.Millisecond},
		"date":         {"Retry-After with a date", 429, "Fri, 20 Nov 2026 12:00:42 GMT", nil, 42 * time.Second},
		"past":         {"a date in the past", 429, "Fri, 20 Nov 2026 11:00:00 GMT", nil, time.Second},
		"zero":         {"Retry-After of 0", 429, "0", nil, time.Second},
		"long":         {"Retry-After of a day", 429, "86400", nil, time.Hour},
		"far":          {"a date far in the future", 429, "Fri, 20 Nov 2096 12:00:00 GMT", nil, time.Hour},
		"nothing":      {"no Retry-After", 429, "", nil, time.Minute},
		"nonsense":     {"an invalid Retry-After", 429, "NaN", nil, time.Minute},
		"unavailable":  {"503 with Retry-After", 503, "5", nil, 5 * time.Second},
		"down":         {"503 without Retry-After: the worker chooses the pause", 503, "", nil, 0},
		"error":        {"Retry-After is ignored for 500", 500, "5", nil, 0},
		"no such code": {"an unknown status", 600, "", nil, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := post.Judge(test.code, http.Header{"Retry-After": {test.header}}, now())
			var later *notify.Later
			errors.As(err, &later)
			if later == nil {
				later = &notify.Later{}
			}
			if err == nil || later.After != test.later {
				t.Errorf("%s: error %v, after %s, want %s", test.reason, err, later.After, test.later)
			}
			for _, mark := range []error{notify.ErrPermanent, notify.ErrRefused} {
				if errors.Is(err, mark) != errors.Is(test.mark, mark) {
					t.Errorf("%s: error %v: is it %v?", test.reason, err, mark)
				}
			}
		})
	}
	for _, code := range []int{200, 202, 204} {
		if err := post.Judge(code, nil, now()); err != nil {
			t.Errorf("%d: %v", code, err)
		}
	}
}

func FuzzJudge(f *testing.F) {
	f.Add(429, "7")
	f.Add(503, "Fri, 20 Nov 2026 12:00:42 GMT")
	f.Fuzz(func(t *testing.T, code int, header string) {
		err := post.Judge(code, http.Header{"Retry-After": {header}}, now())
		var later *notify.Later
		if errors.As(err, &later) && (later.After < time.Second || later.After > time.Hour) {
			t.Errorf("%q means %s", header, later.After)
		}
		if (err == nil) != (code >= 200 && code < 300) {
			t.Errorf("%d means %v", code, err)
		}
	})
}

func TestCause(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t"
	for name, test := range map[string]struct{ err, want error }{
		"cancelled": {context.Canceled, context.Canceled},
		"dial":      {&net.OpError{Op: "dial", Err: io.EOF}, nil},
		"name":      {&net.DNSError{Err: "no such host", Name: "x"}, nil},
		"broken":    {io.EOF, io.ErrUnexpectedEOF},
		"quoted":    {errors.New("malformed HTTP response " + secret), post.ErrGarbled},
	} {
		err := &url.Error{Op: "Post", URL: "https://x/" + secret, Err: fmt.Errorf("%s: %w", secret, test.err)}
		got := post.Cause(err)
		if test.want == nil {
			test.want = test.err
		}
		if !errors.Is(got, test.want) || strings.Contains(got.Error(), secret) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestAuthorities(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := *to
	plain.Scheme = "http"
	for name, test := range map[string]struct {
		to   *url.URL
		file string
		want string
	}{
		"known":   {to, file, ""},
		"unknown": {to, "", "set ca_file"},
		"no TLS":  {&plain, "", "responds with 400"},
	} {
		c, err := post.New(post.Options{Server: "the server", Timeout: time.Minute, CAFile: test.file, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		err = c.Send(t.Context(), test.to, http.Header{}, nil)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, test.want)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	if u, err := post.Address("https://example.org/a?b=c"); err != nil || u.String() != "https://example.org/a?b=c" {
		t.Errorf("address %v, error %v", u, err)
	}
	for _, text := range []string{"", "x", "https://", "ftp://s3cr3t", "https://me:s3cr3t@x", "http://[s3cr3t", "https://s3cr3t\x7f"} {
		if u, err := post.Address(text); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%q is %v, error %v", text, u, err)
		}
	}
}
