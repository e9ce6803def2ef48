package openstack

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/printable"
)

// A renewError is returned if the token expired and could not be renewed.
type renewError struct{ err error }

func (e *renewError) Error() string {
	return fmt.Sprintf("the token expired and could not be renewed: %v", e.err)
}

func (e *renewError) Unwrap() error { return e.err }

// A catalogueError is returned if the catalogue does not have a usable endpoint.
type catalogueError struct {
	what, hint string
	// absent reports whether the region does not have the service.
	absent bool
}

func (e *catalogueError) Error() string { return e.what }

// explain adds the next step to an error that concerns the whole cloud.
func (c Config) explain(server string, err error) error {
	var at *catalogueError
	hint := ""
	if errors.As(err, &at) {
		hint = at.hint
	}
	hint = cmp.Or(hint, c.statusHint(err), c.accessHint(err), "see the log of Keystone")
	return &httpclient.Error{Server: server, Err: err, Hint: hint}
}

const noAPI = "this is not Keystone's API: set auth_url in clouds_file to the identity service, such as https://openstack.example.org:5000/v3"

func (c Config) statusHint(err error) string {
	code := httpclient.Code(err)
	switch {
	case code == http.StatusUnauthorized, code == http.StatusNotFound && strings.Contains(err.Error(), "Application Credential"):
		// Keystone answers 404 for an application credential that was deleted.
		return fmt.Sprintf("Keystone rejects the credentials of cloud %s of clouds_file: check the password or the application credential, its expiry, and the names of the user, the project and their domains", c.Cloud)
	case code == http.StatusForbidden:
		return fmt.Sprintf("Keystone denies the user access to the project: give it a role there, such as reader, or correct cloud %s of clouds_file", c.Cloud)
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

// accessHint returns the next step after an error that is not an answer of the API.
func (c Config) accessHint(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return "correct the path, or let driftd read the file"
	case errors.As(err, new(*entryError)), errors.As(err, new(*collectors.LocalError)):
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

// errorReason returns why something was not read, and the next step. The same cause has the
// same text, so that reports can group them.
func (c Config) errorReason(service string, err error) string {
	var (
		at     *catalogueError
		answer *httpclient.Unexpected
	)
	text := printable.Text(err.Error())
	switch {
	case collectors.Ended(err) != "":
		return collectors.Ended(err)
	case errors.As(err, &at):
		return text + ": " + at.hint
	case errors.As(err, new(*renewError)):
		return text + ": " + fmt.Sprintf("check that the credentials of cloud %s of clouds_file have not expired", c.Cloud)
	case errors.As(err, new(*httpclient.TooLarge)):
		return text + ": lower page_size, or raise max_body"
	case errors.As(err, new(*collectors.InconsistentError)):
		return text + ": the next scan reads the list again"
	case errors.As(err, &answer) && answer.Page:
		return text + ": exempt driftd from any login page in front of the " + service + " service"
	case errors.As(err, &answer), errors.Is(err, io.ErrUnexpectedEOF):
		return text + ": check the proxies between driftd and the " + service + " service"
	}
	return text + c.statusReason(service, httpclient.Code(err), err)
}

func (c Config) statusReason(service string, code int, err error) string {
	switch {
	case code == http.StatusUnauthorized:
		return ", with a new token too: the " + service + " service rejects it, or the access rules of the application credential exclude the service"
	case code == http.StatusForbidden:
		return ": give the user the role reader in the project, or another role that the policy of the " + service + " service allows to read"
	case code == http.StatusTooManyRequests, code == http.StatusRequestEntityTooLarge:
		return ": set rate, or lower concurrency"
	case code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		return ": check the proxy in front of the " + service + " service, or lower page_size"
	case code >= 300 && code < 400:
		return ": check the endpoint of the " + service + " service in the catalogue"
	case code == http.StatusNotFound:
		return ": check that the endpoint of the " + service + " service in the catalogue is right, and that the service has this list"
	case code != 0:
		return ": see the log of the " + service + " service"
	}
	words := httpclient.Words{Server: "the " + service + " service", Address: "its endpoint in the catalogue",
		Authority: "set cacert in clouds_file to the authority of every service",
		Expired:   "renew the certificate, or set this machine's clock",
		Host:      "use an endpoint in the catalogue that the certificate names",
	}
	if hint := words.Hint(err); hint != "" {
		return ": " + hint
	}
	return ""
}
