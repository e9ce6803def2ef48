package post

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/driftd/driftd/internal/notify"
)

// usualLater is the pause after a response that asks to wait without a valid Retry-After.
const usualLater = time.Minute

// Judge converts a status code to the result of a delivery: nil for success, an error marked
// permanent or refused, a *notify.Later, or an error for which a retry may succeed.
func Judge(code int, header http.Header, now time.Time) error {
	if code >= 200 && code < 300 {
		return nil
	}
	err := fmt.Errorf("responds with %d %s", code, http.StatusText(code))
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return notify.Permanent(fmt.Errorf("%w: check the credentials", err))
	case http.StatusGone:
		return notify.Permanent(fmt.Errorf("%w: the address no longer accepts messages, check it", err))
	case http.StatusMovedPermanently, http.StatusPermanentRedirect:
		return notify.Permanent(fmt.Errorf("%w: redirects are not followed, set the address to the target", err))
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
		http.StatusRequestHeaderFieldsTooLarge:
		return notify.Refused(err)
	case http.StatusNotFound, http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusLocked, http.StatusTooEarly:
		return err // a proxy returns 404 too while its backend restarts
	}
	busy := code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable && header.Get("Retry-After") != ""
	switch {
	case busy:
		return &notify.Later{After: later(header, now), Err: err}
	case code >= 300 && code < 400:
		return fmt.Errorf("%w: redirects are not followed", err)
	case code >= 400 && code < 500:
		return notify.Permanent(fmt.Errorf("%w: check the address", err))
	}
	return err
}

// later returns the pause in Retry-After (RFC 9110, 10.2.3): seconds, which some services send
// with a fraction, or a date. It is at least a second and at most notify.MaxLater.
func later(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	after := usualLater
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 {
		after = time.Duration(min(seconds, notify.MaxLater.Seconds()) * float64(time.Second))
	} else if date, err := http.ParseTime(text); err == nil {
		after = date.Sub(now)
	}
	return min(max(after, time.Second), notify.MaxLater)
}

// ErrGarbled replaces an error that may contain text from the server.
var ErrGarbled = errors.New("the response is not valid HTTP")

// Cause returns the cause of a failed request without secrets: it contains only the host of the address,
// and no text from the server. If there is no such cause, it returns ErrGarbled.
func Cause(err error) error {
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded, http.ErrSchemeMismatch} {
		if errors.Is(err, cause) {
			return cause
		}
	}
	var (
		network *net.OpError
		name    *net.DNSError
		trust   *tls.CertificateVerificationError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &network):
		return network
	case errors.As(err, &name):
		return name
	case errors.As(err, &trust):
		return trust
	case errors.As(err, &record):
		return record
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	}
	return ErrGarbled
}
