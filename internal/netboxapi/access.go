// Package netboxapi accesses the REST API of a NetBox server. It reads the token, sends requests,
// and explains errors.
package netboxapi

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
)

// An Access contains the settings for connecting to a NetBox server.
type Access struct {
	// URL is the address of NetBox without the path of the API.
	URL string
	// TokenFile is the file with the API token, of version 1 or 2.
	TokenFile string
	// CAFile is a file with the certificate authorities to trust; "" for those of the system.
	CAFile string
}

// A Token configures the API token of an account that writes.
type Token struct {
	// TokenFile is the file with the API token that writes, of version 1 or 2. It is required.
	TokenFile string `mapstructure:"token_file" path:"true"`
}

// TokenRejected reports whether err means that NetBox rejected the token itself. NetBox returns
// status 403 for that and for a missing permission; only the message differs.
func TokenRejected(err error) bool {
	status := httpclient.StatusOf(err)
	if status == nil || status.Code == http.StatusUnauthorized {
		return status != nil
	}
	words := strings.ToLower(status.Message)
	return status.Code == http.StatusForbidden && words != "" && !strings.Contains(words, "permission")
}

// Explain returns err as an *httpclient.Error with the address of the server and the next step. It
// is for errors that concern the server as a whole.
func (a Access) Explain(err error) error {
	hint := cmp.Or(a.statusHint(err), a.AccessHint(err), "see the log of NetBox")
	return &httpclient.Error{Server: a.URL, Err: err, Hint: hint}
}

const noAPI = "this is not NetBox's API: set url to the address of NetBox itself, and exempt driftd from any login page in front of it"

func (a Access) statusHint(err error) string {
	code := httpclient.Code(err)
	switch {
	case TokenRejected(err):
		return "NetBox rejects the token in token_file: check that it is complete, enabled, not expired, and allowed from this address (NetBox: Admin > API Tokens)"
	case code == http.StatusForbidden:
		return "NetBox, or a proxy in front of it, denies access: check token_file, and the proxy"
	case code == http.StatusTooManyRequests:
		return "the server limits the request rate: set rate, or lower concurrency"
	case code == http.StatusBadRequest && strings.HasPrefix(a.URL, "http://"):
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

// AccessHint returns the next step after an error that is not a response of the API.
func (a Access) AccessHint(err error) string {
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
