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

// usualLater is how long a receiver is left alone that is busy and does not say
// how long.
const usualLater = time.Minute

// Judge says what a status code means for a message: nil when it arrived,
// an error that is marked permanent or refused, a *notify.Later, or an error
// that another try may mend.
func Judge(code int, header http.Header, now time.Time) error {
	if code >= 200 && code < 300 {
		return nil
	}
	err := fmt.Errorf("answers %d %s", code, http.StatusText(code))
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return notify.Permanent(fmt.Errorf("%w: check the credentials", err))
	case http.StatusGone:
		return notify.Permanent(fmt.Errorf("%w: nothing takes messages there any more, check the address", err))
	case http.StatusMovedPermanently, http.StatusPermanentRedirect:
		return notify.Permanent(fmt.Errorf("%w: redirects are not followed, set the address that it leads to", err))
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
		http.StatusRequestHeaderFieldsTooLarge:
		return notify.Refused(err)
	case http.StatusNotFound, http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusLocked, http.StatusTooEarly:
		return err // a proxy says 404 too while what stands behind it is being replaced
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

// later reads Retry-After (RFC 9110, 10.2.3): seconds, which some services send
// with a fraction, or a date.
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

// ErrGarbled stands for an error that may quote the other side.
var ErrGarbled = errors.New("the answer is not HTTP that can be read")

// Cause returns why a connection failed, in this machine's own words: without
// the address that was asked, but for the host, and without anything that the
// other side said. Where there are no such words it is ErrGarbled.
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
