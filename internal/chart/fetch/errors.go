package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/driftd/driftd/internal/httpclient"
)

// A problemError is an error that contains no text of a server.
type problemError string

// Error implements error.
func (e problemError) Error() string { return string(e) }

func problem(format string, args ...any) error { return problemError(fmt.Sprintf(format, args...)) }

// nextSteps are the next steps when a server refuses the request, when the address is wrong, and when the
// authority of the certificate is not known, and the name of the setting of a host for tokens.
type nextSteps struct{ password, address, authority, tokenHost string }

// steps returns the next steps for the settings, or for a chart that an object in git names.
func (s *Settings) steps() nextSteps {
	switch {
	case s.Within == nil:
		return nextSteps{"check chart_username and chart_password_file", "oci or repo", "set chart_ca_file", "chart_token_host"}
	case s.Username == "":
		return nextSteps{"if a password is needed, set username and password_file of the entry in the setting charts", "the URL in git",
			"set ca_file of the entry in the setting charts", "token_host of the entry in the setting charts"}
	}
	return nextSteps{"check username and password_file of the entry in the setting charts", "the URL in git",
		"set ca_file of the entry in the setting charts", "token_host of the entry in the setting charts"}
}

// statusError returns the error for an unsuccessful answer.
func (s *Settings) statusError(code int) error {
	hint := ""
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = ": " + s.steps().password
	case http.StatusNotFound:
		hint = ": check the URL and version"
	}
	return problem("the server answers %d %s%s", code, http.StatusText(code), hint)
}

// registryError returns an error of the client of registries without text that a server wrote.
func (s *Settings) registryError(err error) error {
	_, isSent := errors.AsType[*url.Error](err)
	_, isRead := errors.AsType[*net.OpError](err)
	answer, isAnswer := errors.AsType[*errcode.ErrorResponse](err)
	switch {
	case isAnswer:
		return s.statusError(answer.StatusCode)
	case errors.Is(err, errdef.ErrNotFound):
		return s.statusError(http.StatusNotFound)
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return s.statusError(http.StatusUnauthorized)
	case errors.Is(err, content.ErrMismatchedDigest), errors.Is(err, content.ErrTrailingData):
		return problem("the content does not have the digest that the registry names")
	case isSent, isRead, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return s.unanswered(err)
	}
	return problem("the answer is not that of an OCI registry")
}

// A connectionError is an error of the connection: the server has not answered, or not completely.
type connectionError struct{ error }

// Unwrap returns the cause.
func (e connectionError) Unwrap() error { return e.error }

// IsUnanswered reports whether Fetch failed because a server did not respond.
func IsUnanswered(err error) bool {
	_, is := errors.AsType[connectionError](err)
	return is
}

// unanswered returns an error of the connection without its URL and text that a server wrote,
// and with the next step.
func (s *Settings) unanswered(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return connectionError{problem("no full answer in time: check the server, or raise timeout")}
	}
	next := s.steps()
	words := httpclient.Words{Server: "the server", Address: next.address, Authority: next.authority, Expired: "renew the certificate", Host: "check " + next.address}
	hint := words.Hint(err)
	if err = known(httpclient.WithoutURL(err)); hint != "" {
		err = fmt.Errorf("%w; %s", err, hint)
	}
	return connectionError{err}
}

// known returns the part of an error of the connection that has no text of a server. Most errors of
// net/http quote what they cannot parse, and those of certificates quote the certificate.
func known(err error) error {
	if own, ok := errors.AsType[problemError](err); ok {
		return own
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return problem("the server's certificate is for another host")
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return problem("the authority of the server's certificate is not known")
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return problem("the server's certificate is not valid")
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return problem("the name of %s cannot be looked up", shown(name.Name))
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return httpclient.WithoutPort(op)
	}
	if slow, ok := errors.AsType[net.Error](err); ok && slow.Timeout() {
		return slow
	}
	for _, fixed := range []error{context.Canceled, io.ErrUnexpectedEOF, io.EOF, http.ErrSchemeMismatch} {
		if errors.Is(err, fixed) {
			return fixed
		}
	}
	return problem("the server does not answer in HTTP as it should: see what listens at the URL")
}
