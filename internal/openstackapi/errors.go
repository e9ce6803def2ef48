package openstackapi

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
)

// A RenewError reports that the token expired and could not be renewed.
type RenewError struct{ err error }

// Error returns the reason why the token could not be renewed.
func (e *RenewError) Error() string {
	return fmt.Sprintf("the token expired and could not be renewed: %v", e.err)
}

// Unwrap returns the error of the renewal.
func (e *RenewError) Unwrap() error { return e.err }

// A CatalogueError reports that the token or its catalogue is not usable, or that the catalogue does not contain a usable
// endpoint.
type CatalogueError struct {
	// Reason describes the error.
	Reason string
	// Hint is the next step.
	Hint string
	// Absent reports whether the region does not have the service.
	Absent bool
}

// Error returns Reason.
func (e *CatalogueError) Error() string { return e.Reason }

// A localError is an error of a file that the settings name, or of its content.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

// Explain returns err as an *httpclient.Error with the address of the server and the next step. It
// is for errors that concern the cloud as a whole.
func (a Access) Explain(server string, err error) error {
	var at *CatalogueError
	hint := ""
	if errors.As(err, &at) {
		hint = at.Hint
	}
	hint = cmp.Or(hint, a.statusHint(err), a.accessHint(err), "see the log of Keystone")
	return &httpclient.Error{Server: server, Err: err, Hint: hint}
}

const noAPI = "this is not Keystone's API: set auth_url in clouds_file to the identity service, such as https://openstack.example.org:5000/v3"

func (a Access) statusHint(err error) string {
	code := httpclient.Code(err)
	switch {
	case code == http.StatusUnauthorized, code == http.StatusNotFound && strings.Contains(err.Error(), "Application Credential"):
		// Keystone answers 404 for an application credential that was deleted.
		return fmt.Sprintf("Keystone rejects the credentials of cloud %s of clouds_file: check the password or the application credential, its expiry, and the names of the user, the project and their domains", a.Cloud)
	case code == http.StatusForbidden:
		return fmt.Sprintf("Keystone denies the user access to the project: give it a role there, such as reader, or correct cloud %s of clouds_file", a.Cloud)
	case code == http.StatusTooManyRequests, code == http.StatusRequestEntityTooLarge:
		return "the server limits the request rate: set rate, or lower concurrency"
	case code == http.StatusProxyAuthRequired:
		return "a proxy requires a password: check HTTP_PROXY, HTTPS_PROXY and NO_PROXY in driftd's environment"
	case code >= 300 && code < 400:
		return "the address redirects, and the password is sent to no other address: set auth_url to the final https:// address of Keystone"
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		return noAPI
	case code == http.StatusBadRequest && strings.Contains(err.Error(), "HTTPS"):
		return "the port requires TLS: set auth_url to an address with https://"
	case code == http.StatusBadGateway, code == http.StatusGatewayTimeout, code == http.StatusServiceUnavailable:
		return "the proxy in front of Keystone gets no answer from it: check that Keystone runs"
	case code >= 500:
		return "Keystone has an internal error: see its log"
	}
	return ""
}

// accessHint returns the next step after an error that is not a response of the API.
func (a Access) accessHint(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return "correct the path, or let driftd read the file"
	case errors.As(err, new(*entryError)), errors.As(err, new(*localError)):
		return "see docs/openstack.md"
	case errors.As(err, new(*httpclient.Unexpected)):
		return noAPI
	case errors.As(err, new(*httpclient.TooLarge)):
		return "raise max_body"
	}
	words := httpclient.Words{Server: "Keystone", Address: "auth_url in clouds_file",
		Authority: "set cacert in clouds_file to the certificate of the authority that signed the server's",
		Expired:   "renew the certificate, or set this machine's clock",
		Host:      "use an address that the certificate names",
	}
	return words.Hint(err)
}
