package netbox

import (
	"errors"
	"net/http"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/netboxapi"
	"github.com/driftd/driftd/internal/printable"
)

// explain adds the next step to an error that concerns the whole server.
func (c Config) explain(err error) error {
	if errors.As(err, new(*collectors.LocalError)) && c.Access().AccessHint(err) == "" {
		return &httpclient.Error{Server: c.URL, Err: err, Hint: "see docs/netbox.md"}
	}
	return c.Access().Explain(err)
}

// Access returns the settings of the connection.
func (c Config) Access() netboxapi.Access {
	return netboxapi.Access{URL: baseOf(c.URL), TokenFile: c.TokenFile, CAFile: c.CAFile}
}

// reason returns why a list was not read, and the next step.
func (c Config) reason(k *normalize.Kind, err error) string {
	if httpclient.Code(err) == http.StatusForbidden && !netboxapi.TokenRejected(err) {
		return "the token may not read it: " + grant(k.Model)
	}
	return c.errorReason(err)
}

// errorReason returns the reason why something was not read, with the next step. Equal causes have
// equal texts, so that reports can group them.
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
	case netboxapi.TokenRejected(err):
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
	if hint := c.Access().AccessHint(err); hint != "" {
		return text + ": " + hint
	}
	return text
}

// grant returns how to give the token the permission to view a model.
func grant(models string) string {
	return "grant view on " + models + " without constraints (NetBox: Admin > Permissions)"
}
