package httpclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Broken reports whether err means that a connection ended prematurely, as when the server
// restarts, so that another attempt may succeed. It returns false if the server could not be
// reached or was too slow.
func Broken(err error) bool {
	if err == nil {
		return false
	}
	for _, broken := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, broken) {
			return true
		}
	}
	// net/http does not export its errors of HTTP/2.
	text := err.Error()
	return strings.Contains(text, "http2: ") || strings.Contains(text, "stream error: ")
}

// WithoutURL returns the error of an HTTP client without the URL, which may contain credentials,
// and without the local port.
func WithoutURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return WithoutPort(err)
}

// WithoutPort returns the error of a connection without the local port, so that the same failure
// always has the same text.
func WithoutPort(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Source != nil {
		same := *op
		same.Source = nil
		return &same
	}
	// An error of the resolver holds one of its connection as a text.
	var name *net.DNSError
	if errors.As(err, &name) && strings.Contains(name.Err, "->") {
		same := *name
		same.Err = strings.TrimSpace(name.Err[strings.LastIndex(name.Err, ":")+1:])
		return &same
	}
	return err
}

// Loopback reports whether host is "localhost" or a loopback address.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// RetryAfter parses the value of a Retry-After header, in seconds or as a date (RFC 9110), and
// returns the time to wait. It returns 0 if the value is not valid or in the past.
func RetryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), 1<<20)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// Wait waits for the duration d. It returns the error of the context if that ends first.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
