package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
)

func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := httpclient.Wait(t.Context(), time.Minute); err != nil || time.Since(start) != time.Minute {
			t.Errorf("Wait() = %v after %s", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := httpclient.Wait(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait() = %v, want the end of its context", err)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-3": 0, "soon": 0, now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Hour).Format(http.TimeFormat): 0,
	} {
		if got := httpclient.RetryAfter(text, now); got != want {
			t.Errorf("Retry-After: %s is %s, want %s", text, got, want)
		}
	}
}

func TestBrokenAndBare(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err    error
		broken bool
		text   string
	}{
		{&url.Error{Op: "Get", URL: "https://user:secret@x", Err: io.EOF}, true, "EOF"},
		{fmt.Errorf("read: %w", syscall.ECONNRESET), true, "read: connection reset by peer"},
		{fmt.Errorf("send: %w", &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: 40001}, Addr: &net.TCPAddr{Port: 443}, Err: syscall.ECONNRESET}), true, "read tcp :443: connection reset by peer"},
		{&net.DNSError{Name: "pve", Server: "192.0.2.1:53", Err: "read udp 192.0.2.9:40001->192.0.2.1:53: i/o timeout", IsTimeout: true}, false, "lookup pve on 192.0.2.1:53: i/o timeout"},
		{syscall.ECONNREFUSED, false, "connection refused"},
	} {
		if got := httpclient.WithoutURL(tc.err); httpclient.Broken(tc.err) != tc.broken || got.Error() != tc.text {
			t.Errorf("%v: broken %t, without its address %q", tc.err, httpclient.Broken(tc.err), got)
		}
	}
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true, "10.0.0.1": false, "pve.example.org": false} {
		if httpclient.Loopback(host) != want {
			t.Errorf("%s is loopback: %t", host, !want)
		}
	}
}
