package netbox

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"strings"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/printable"
)

// tokenRejected reports whether NetBox rejects the token itself. It answers 403 for that and
// for a missing permission; the message differs.
func tokenRejected(err error) bool {
	status := httpclient.StatusOf(err)
	if status == nil || status.Code == http.StatusUnauthorized {
		return status != nil
	}
	words := strings.ToLower(status.Message)
	return status.Code == http.StatusForbidden && words != "" && !strings.Contains(words, "permission")
}

// explain adds the next step to an error that concerns the whole server.
func (c Config) explain(err error) error {
	hint := cmp.Or(c.statusHint(err), c.accessHint(err), "see the log of NetBox")
	return &httpclient.Error{Server: c.URL, Err: err, Hint: hint}
}

const noAPI = "this is not NetBox's API: set url to the address of NetBox itself, and exempt driftd from any login page in front of it"

func (c Config) statusHint(err error) string {
	code := httpclient.Code(err)
	switch {
	case tokenRejected(err):
		return "NetBox rejects the token in token_file: check that it is complete, enabled, not expired, and allowed from this address (NetBox: Admin > API Tokens)"
	case code == http.StatusForbidden:
		return "NetBox, or a proxy in front of it, denies access: check token_file, and the proxy"
	case code == http.StatusTooManyRequests:
		return "the server limits the request rate: set rate, or lower concurrency"
	case code == http.StatusBadRequest && strings.HasPrefix(c.URL, "http://"):
		return "the port may expect TLS: try https://"
	case code == http.StatusProxyAuthRequired:
		return "a proxy requires a password: check HTTP_PROXY, HTTPS_PROXY and NO_PROXY in driftd's environment"
	case code >= 300 && code < 400:
		return "the address redirects, and the token is sent to no other address: set url to the final https:// address of NetBox, and exempt driftd from any login page"
	case code == http.StatusNotFound:
		return noAPI
	case code == http.StatusBadGateway, code == http.StatusGatewayTimeout, code == http.StatusServiceUnavailable:
		return "the proxy in front of NetBox gets no answer from it: check that NetBox runs (systemctl status netbox)"
	case code >= 500:
		return "NetBox has an internal error: see its log (journalctl -u netbox)"
	}
	return ""
}

// accessHint returns the next step after an error that is not an answer of the API.
func (c Config) accessHint(err error) string {
	var (
		answer *httpclient.Unexpected
		large  *httpclient.TooLarge
		token  *tokenError
	)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return "correct the path, or let driftd read the file"
	case errors.As(err, &token):
		return "write only the token into the file, on one line"
	case errors.As(err, new(*collectors.LocalError)):
		return "see docs/netbox.md"
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

// reason returns why a list was not read, and the next step.
func (c Config) reason(k *normalize.Kind, err error) string {
	if httpclient.Code(err) == http.StatusForbidden && !tokenRejected(err) {
		return "the token may not read it: " + grant(k.Model)
	}
	return c.errorReason(err)
}

// errorReason returns why something was not read, and the next step. The same cause has the
// same text, so that reports can group them.
func (c Config) errorReason(err error) string {
	var (
		large  *httpclient.TooLarge
		moved  *collectors.InconsistentError
		answer *httpclient.Unexpected
	)
	text := printable.Text(err.Error())
	switch code := httpclient.Code(err); {
	case collectors.Ended(err) != "":
		return collectors.Ended(err)
	case tokenRejected(err):
		return text + ": check the token in token_file"
	case code == http.StatusTooManyRequests:
		return text + ": set rate, or lower concurrency"
	case code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		return text + ": check the proxy in front of NetBox, or lower page_size"
	case code >= 300 && code < 400:
		return text + ": exempt driftd from any login page in front of NetBox"
	case code == http.StatusNotFound:
		return text + ", and the answer is not from NetBox: check the proxy in front of it"
	case code >= 500:
		return text + ": see the log of NetBox (journalctl -u netbox)"
	case errors.As(err, &large):
		return text + ": raise max_body, or lower page_size"
	case errors.As(err, &moved):
		return text + ": the next scan reads the list again"
	case errors.As(err, &answer) && answer.Page:
		return text + ": exempt driftd from any login page in front of NetBox"
	case errors.As(err, &answer):
		return text + ": check the proxies between driftd and NetBox"
	}
	if hint := c.accessHint(err); hint != "" {
		return text + ": " + hint
	}
	return text
}

// grant returns how to give the token the permission to view a model.
func grant(models string) string {
	return "grant view on " + models + " without constraints (NetBox: Admin > Permissions)"
}
