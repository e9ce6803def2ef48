package access

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/driftd/driftd/internal/httpclient"
)

// Limits of one request to the provider.
const (
	providerTimeout = 10 * time.Second
	maxAnswer       = 1 << 20
	maxRedirects    = 3
)

// newHTTPClient returns the HTTP client for requests to the provider.
func newHTTPClient(caFile string) (*http.Client, error) {
	trust, err := httpclient.Trust(caFile)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: providerTimeout}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSClientConfig: trust,
		TLSHandshakeTimeout: providerTimeout, MaxConnsPerHost: maxExchanges, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true}
	return &http.Client{Timeout: providerTimeout, Transport: limitedTransport{transport}, CheckRedirect: checkRedirect}, nil
}

// checkRedirect allows up to maxRedirects redirects, but none to plain HTTP.
func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || !safeScheme(r.URL) {
		return errors.New("the provider redirects to another address: set issuer to the one in its discovery document")
	}
	return nil
}

// limitedTransport limits the size of responses.
type limitedTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper. At most maxAnswer bytes of the response can be read.
func (l limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	}
	return answer, err
}

// why returns an error of the provider for people, without the content of its responses.
func why(err error) error {
	if err == nil {
		return nil
	}
	words := httpclient.Words{Server: "the provider", Address: "issuer",
		Authority: "its certificate is not trusted: set ca_file to the certificate authority",
		Expired:   "renew its certificate", Host: "its certificate is for another host name"}
	var (
		mismatch *oidc.IssuerMismatchError
		refused  *oauth2.RetrieveError
		network  net.Error
	)
	switch bare := httpclient.WithoutURL(err); {
	case errors.As(err, &mismatch):
		return fmt.Errorf("the provider's issuer is %q: set issuer to that", shown(mismatch.Discovered))
	case errors.As(err, &refused):
		return fmt.Errorf("the provider answered %s %s", refused.Response.Status, shown(refused.ErrorCode))
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return fmt.Errorf("no complete response within %s", providerTimeout)
	case words.Hint(err) != "":
		return fmt.Errorf("%s: %s", shown(bare.Error()), words.Hint(err))
	default:
		first, _, _ := strings.Cut(bare.Error(), "\n")
		if status, _, ok := strings.Cut(first, ": "); ok && isStatus(status) {
			first = "the provider answered " + status
		}
		return errors.New(shown(first))
	}
}

// isStatus reports whether a text is a status such as "502 Bad Gateway". go-oidc adds the whole
// body after it.
func isStatus(text string) bool {
	code, name, ok := strings.Cut(text, " ")
	return ok && len(code) == 3 && strings.Trim(code, "0123456789") == "" && name != ""
}
