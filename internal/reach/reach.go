// Package reach says why a server could not be reached, and what to do about it,
// in the words of whoever asks it.
package reach

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// An Error says why nothing of a source could be read, and what to do.
type Error struct {
	// Server is the address that was asked, or what should have told it.
	Server string
	Err    error
	// Hint is the next step.
	Hint string
}

// Error names the server, what is wrong and the next step, on one line.
func (e *Error) Error() string { return fmt.Sprintf("read %s: %v; %s", e.Server, e.Err, e.Hint) }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// A Timeout is a request that was not answered in time.
type Timeout struct {
	After time.Duration
	// Look reports whether the time that the look had left bounded the request, and
	// not a setting for requests.
	Look bool
}

// Error says how long was waited.
func (e *Timeout) Error() string { return fmt.Sprintf("no full answer within %s", e.After) }

// Is reports whether target is context.DeadlineExceeded and the look's own deadline
// bounded the request.
func (e *Timeout) Is(target error) bool { return e.Look && target == context.DeadlineExceeded }

// Words are how hints speak of one kind of server.
type Words struct {
	// Server is what it is called ("the API server").
	Server string
	// Address says which setting holds the address ("url").
	Address string
	// Authority, Expired and Host say what to do when the certificate's
	// authority is not known, when it is out of date, and when it is another
	// host's.
	Authority, Expired, Host string
}

// Hint returns the next step after a failure of the connection or its
// certificate; "" for another failure.
func (w Words) Hint(err error) string {
	if hint := w.certificate(err); hint != "" {
		return hint
	}
	return w.network(err)
}

func (w Words) certificate(err error) string {
	var (
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		host    x509.HostnameError
		record  tls.RecordHeaderError
		alert   tls.AlertError
	)
	switch {
	case errors.As(err, &unknown):
		return w.Authority
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the server's certificate is valid from %s to %s: %s",
			invalid.Cert.NotBefore.UTC().Format(time.RFC3339), invalid.Cert.NotAfter.UTC().Format(time.RFC3339), w.Expired)
	case errors.As(err, &invalid):
		return "the server needs another certificate"
	case errors.As(err, &host):
		return w.Host
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "the server does not speak TLS: use http:// or the right port"
	case errors.As(err, &alert):
		return "the server refuses the TLS handshake: check the client certificate"
	}
	return ""
}

func (w Words) network(err error) string {
	var (
		slow *Timeout
		name *net.DNSError
		dial *net.OpError
	)
	switch {
	case errors.As(err, &slow):
		return "see that the address and the firewalls on the way let driftd through, or raise timeout"
	case errors.As(err, &name):
		return "the name does not resolve: check " + w.Address + " and this machine's DNS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there: see that " + w.Server + " runs and the port is right"
	case errors.As(err, &dial) && dial.Op == "dial":
		return "see that the network has a way to this address"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the connection broke off: see what lies between driftd and " + w.Server
	}
	return ""
}
