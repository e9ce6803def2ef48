package reach

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
	"unicode"
)

// Broken reports whether a connection ended in the middle, as when the server restarts.
// A second try may succeed. A server that cannot be reached or is too slow is not broken.
func Broken(err error) bool {
	if err == nil {
		return false
	}
	for _, broken := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, broken) {
			return true
		}
	}
	// net/http keeps the errors of HTTP/2 to itself.
	text := err.Error()
	return strings.Contains(text, "http2: ") || strings.Contains(text, "stream error: ")
}

// WithoutURL takes the address off an error of an HTTP client, where that is
// said once already, and its own port, which is another one each time.
func WithoutURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return WithoutPort(err)
}

// WithoutPort takes the port of this machine off an error of the network, so that
// the same failure is told in the same words.
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

// Loopback tells a host that never leaves the machine.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// RetryAfter reads the pause that a server asks for in a Retry-After header, in
// seconds or as a time (RFC 9110); 0 where it asks for none.
func RetryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), 1<<20)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// Wait returns after d, or with the context's error when that ends first.
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

// maxPrinted bounds what Printable returns, in characters.
const maxPrinted = 300

// Printable makes foreign text fit for one line of a report.
func Printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > maxPrinted {
		return string(runes[:maxPrinted]) + "…"
	}
	return s
}
