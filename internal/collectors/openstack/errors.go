package openstack

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/printable"
)

// reason returns the reason why something was not read, with the next step. Equal causes have equal
// texts, so that reports can group them.
func (c Config) reason(service string, err error) string {
	var (
		at     *openstackapi.CatalogueError
		answer *httpclient.Unexpected
	)
	text := printable.Text(err.Error())
	switch {
	case collectors.Ended(err) != "":
		return collectors.Ended(err)
	case errors.As(err, &at):
		return text + ": " + at.Hint
	case errors.As(err, new(*openstackapi.RenewError)):
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
