package netbox

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"strings"

	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
)

// A localError is the error of a file that the settings name.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }

func (e *localError) Unwrap() error { return e.err }

// A movedError is a list whose pages do not fit together.
type movedError struct{ what string }

func (e *movedError) Error() string { return e.what }

// refused reports whether NetBox rejects the token itself. It answers 403 for that and for a
// missing permission; the message differs.
func refused(err error) bool {
	status := httpclient.StatusOf(err)
	if status == nil || status.Code == http.StatusUnauthorized {
		return status != nil
	}
	words := strings.ToLower(status.Message)
	return status.Code == http.StatusForbidden && words != "" && !strings.Contains(words, "permission")
}

// explain adds the next step to an error that concerns the server as a whole.
func (c Config) explain(err error) error {
	hint := cmp.Or(c.statusHint(err), c.accessHint(err), "see the log of NetBox")
	return &httpclient.Error{Server: c.URL, Err: err, Hint: hint}
}

const noAPI = "this is not NetBox's API: set url to the address of NetBox itself, and let driftd past any login page before it"

func (c Config) statusHint(err error) string {
	code := httpclient.Code(err)
	switch {
	case refused(err):
		return "NetBox does not take the token in token_file: check that it is whole, enabled, not expired, and may be used from here (NetBox: Admin > API Tokens)"
	case code == http.StatusForbidden:
		return "NetBox does not let the token in, or something before it does not let driftd through: check token_file, and what stands before NetBox"
	case code == http.StatusTooManyRequests:
		return "the server asks to slow down: set rate, or concurrency lower"
	case code == http.StatusBadRequest && strings.HasPrefix(c.URL, "http://"):
		return "the port may be one for TLS: try https://"
	case code == http.StatusProxyAuthRequired:
		return "a proxy on the way asks for a password: see HTTP_PROXY, HTTPS_PROXY and NO_PROXY in driftd's environment"
	case code >= 300 && code < 400:
		return "the address redirects, and a token goes to no other: set url to where NetBox itself answers, with https://, and let driftd past any login page"
	case code == http.StatusNotFound:
		return noAPI
	case code == http.StatusBadGateway, code == http.StatusGatewayTimeout, code == http.StatusServiceUnavailable:
		return "the proxy before NetBox answers, and NetBox does not: see that it runs (systemctl status netbox)"
	case code >= 500:
		return "NetBox is in trouble: see its log (journalctl -u netbox)"
	}
	return ""
}

// accessHint returns the next step after an error that is no answer of the API.
func (c Config) accessHint(err error) string {
	var (
		answer *httpclient.Unexpected
		large  *httpclient.TooLarge
		token  *tokenError
	)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return "correct the path, and let driftd read the file"
	case errors.As(err, &token):
		return "write the token alone into it, on one line"
	case errors.As(err, new(*localError)):
		return "docs/netbox.md says what belongs there"
	case errors.As(err, &answer):
		return noAPI
	case errors.As(err, &large):
		return "raise max_body"
	}
	words := httpclient.Words{Server: "NetBox", Address: "url",
		Authority: "set ca_file to the certificate of the authority that signed NetBox's",
		Expired:   "renew the certificate, or set this machine's clock",
		Host:      "use an address that the certificate names",
	}
	return words.Hint(err)
}

// reason returns why a list was not read, and what to do.
func (c Config) reason(k *normalize.Kind, err error) string {
	if httpclient.Code(err) == http.StatusForbidden && !refused(err) {
		return "the token may not read it: " + grant(k.Model)
	}
	return c.because(err)
}

// because returns why something was not read, and what to do. The same cause has the same
// text, so that reports can group them.
func (c Config) because(err error) string {
	var (
		large  *httpclient.TooLarge
		moved  *movedError
		answer *httpclient.Unexpected
	)
	text := httpclient.Printable(err.Error())
	switch code := httpclient.Code(err); {
	case httpclient.Ended(err) != "":
		return httpclient.Ended(err)
	case refused(err):
		return text + ": check the token in token_file"
	case code == http.StatusTooManyRequests:
		return text + ": set rate, or concurrency lower"
	case code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		return text + ": see the proxy before NetBox, or set page_size lower"
	case code >= 300 && code < 400:
		return text + ": let driftd past any login page before NetBox"
	case code == http.StatusNotFound:
		return text + ", and not from NetBox: see the proxy before it"
	case code >= 500:
		return text + ": see the log of NetBox (journalctl -u netbox)"
	case errors.As(err, &large):
		return text + ": raise max_body, or set page_size lower"
	case errors.As(err, &moved):
		return text + ": the next scan may do better"
	case errors.As(err, &answer) && answer.Page:
		return text + ": let driftd past any login page before NetBox"
	case errors.As(err, &answer):
		return text + ": see what lies between driftd and NetBox"
	}
	if hint := c.accessHint(err); hint != "" {
		return text + ": " + hint
	}
	return text
}

// grant returns how to let the token read a model.
func grant(models string) string {
	return "grant view on " + models + " without constraints (NetBox: Admin > Permissions)"
}
