package openstack

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
)

// A renewError is a token that ended and could not be had anew.
type renewError struct{ err error }

func (e *renewError) Error() string {
	return fmt.Sprintf("the token ended, and there is no new one: %v", e.err)
}

func (e *renewError) Unwrap() error { return e.err }

// A movedError is a list whose pages do not fit together.
type movedError struct{ what string }

func (e *movedError) Error() string { return e.what }

// A catalogueError is a catalogue that does not lead to what was asked for.
type catalogueError struct {
	what, hint string
	// absent tells a service that the region does not have.
	absent bool
}

func (e *catalogueError) Error() string { return e.what }

// A localError is the error of a file that the settings name.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }

func (e *localError) Unwrap() error { return e.err }

// explain adds the next step to an error that concerns the cloud as a whole.
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
		// Keystone answers 404 where an application credential is no more.
		return fmt.Sprintf("Keystone does not take what cloud %s of clouds_file logs in with: check the password or the application credential, that it has not expired, and the names of the user, the project and their domains", c.Cloud)
	case code == http.StatusForbidden:
		return fmt.Sprintf("Keystone does not let the user into the project: give it a role there, such as reader, or correct cloud %s of clouds_file", c.Cloud)
	case code == http.StatusTooManyRequests, code == http.StatusRequestEntityTooLarge:
		return "the server asks to slow down: set rate, or concurrency lower"
	case code == http.StatusProxyAuthRequired:
		return "a proxy on the way asks for a password: see HTTP_PROXY, HTTPS_PROXY and NO_PROXY in driftd's environment"
	case code >= 300 && code < 400:
		return "the address redirects, and a password goes to no other: set auth_url to where Keystone itself answers, with https://"
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		return noAPI
	case code == http.StatusBadRequest && strings.Contains(err.Error(), "HTTPS"):
		return "the port is one for TLS: set auth_url to an address with https://"
	case code == http.StatusBadGateway, code == http.StatusGatewayTimeout, code == http.StatusServiceUnavailable:
		return "the proxy before Keystone answers, and Keystone does not: see that it runs"
	case code >= 500:
		return "Keystone is in trouble: see its log"
	}
	return ""
}

// accessHint returns the next step after an error that is no answer of the API.
func (c Config) accessHint(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return "correct the path, and let driftd read the file"
	case errors.As(err, new(*entryError)), errors.As(err, new(*localError)):
		return "docs/openstack.md says what belongs there"
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

// because returns why something was not read, and what to do. The same cause has the same
// text, so that reports can group them.
func (c Config) because(service string, err error) string {
	var (
		at     *catalogueError
		answer *httpclient.Unexpected
	)
	text := httpclient.Printable(err.Error())
	switch {
	case httpclient.Ended(err) != "":
		return httpclient.Ended(err)
	case errors.As(err, &at):
		return text + ": " + at.hint
	case errors.As(err, new(*renewError)):
		return text + ": " + fmt.Sprintf("see that what cloud %s of clouds_file logs in with has not expired", c.Cloud)
	case errors.As(err, new(*httpclient.TooLarge)):
		return text + ": set page_size lower, or raise max_body"
	case errors.As(err, new(*movedError)):
		return text + ": the next scan may do better"
	case errors.As(err, &answer) && answer.Page:
		return text + ": let driftd past any login page before the " + service + " service"
	case errors.As(err, &answer), errors.Is(err, io.ErrUnexpectedEOF):
		return text + ": see what lies between driftd and the " + service + " service"
	}
	return text + c.statusReason(service, httpclient.Code(err), err)
}

func (c Config) statusReason(service string, code int, err error) string {
	switch {
	case code == http.StatusUnauthorized:
		return ", with a new token too: the " + service + " service does not take it, or the access rules of the application credential leave it out"
	case code == http.StatusForbidden:
		return ": give the user the role reader in the project, or one that the policy of the " + service + " service lets read"
	case code == http.StatusTooManyRequests, code == http.StatusRequestEntityTooLarge:
		return ": set rate, or concurrency lower"
	case code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		return ": see the proxy before the " + service + " service, or set page_size lower"
	case code >= 300 && code < 400:
		return ": see the endpoint of the " + service + " service in the catalogue"
	case code == http.StatusNotFound:
		return ": see that the endpoint of the " + service + " service in the catalogue is right, and that it has this list"
	case code != 0:
		return ": see the log of the " + service + " service"
	}
	words := httpclient.Words{Server: "the " + service + " service", Address: "its endpoint in the catalogue",
		Authority: "set cacert in clouds_file to the authority of every service",
		Expired:   "renew the certificate, or set this machine's clock",
		Host:      "see that the endpoint in the catalogue is one that the certificate names",
	}
	if hint := words.Hint(err); hint != "" {
		return ": " + hint
	}
	return ""
}
