package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/driftd/driftd/internal/httpclient"
)

// A problemError is an error that contains no text of a server.
type problemError string

// Error implements error.
func (e problemError) Error() string { return string(e) }

func problem(format string, args ...any) error { return problemError(fmt.Sprintf(format, args...)) }

// statusError returns the error for an unsuccessful answer.
func statusError(code int) error {
	hint := ""
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = ": check chart_username and chart_password_file"
	case http.StatusNotFound:
		hint = ": check the URL and version"
	}
	return problem("the server answers %d %s%s", code, http.StatusText(code), hint)
}

// registryError returns an error of the client of registries without text that a server wrote.
func registryError(err error) error {
	_, isNetwork := errors.AsType[*url.Error](err)
	answer, isAnswer := errors.AsType[*errcode.ErrorResponse](err)
	switch {
	case isAnswer:
		return statusError(answer.StatusCode)
	case errors.Is(err, errdef.ErrNotFound):
		return statusError(http.StatusNotFound)
	case errors.Is(err, content.ErrMismatchedDigest), errors.Is(err, content.ErrTrailingData):
		return problem("the content does not have the digest that the registry names")
	case isNetwork, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	}
	return problem("the answer is not that of an OCI registry")
}

// public returns an error of the connection without its URL, and with the next step.
func public(err error) error {
	switch {
	case errors.Is(err, errPlain):
		return errPlain
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no full answer in time: check the server, or raise timeout")
	}
	words := httpclient.Words{Server: "the server", Address: "oci or repo", Authority: "set chart_ca_file", Expired: "renew the certificate", Host: "the certificate is for another host"}
	err = httpclient.WithoutURL(err)
	if hint := words.Hint(err); hint != "" {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return err
}
