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

// Bounds of one request to the provider.
const (
	providerTimeout = 10 * time.Second
	maxAnswer       = 1 << 20
	maxRedirects    = 3
)

// newHTTPClient returns what asks the provider.
func newHTTPClient(caFile string) (*http.Client, error) {
	trust, err := httpclient.Trust(caFile)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: providerTimeout}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSClientConfig: trust,
		TLSHandshakeTimeout: providerTimeout, MaxConnsPerHost: maxExchanges, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true}
	return &http.Client{Timeout: providerTimeout, Transport: bounded{transport}, CheckRedirect: stay}, nil
}

// stay follows a provider that has moved, but not to where traffic is open.
func stay(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || !safeScheme(r.URL) {
		return errors.New("it sends us elsewhere: name the issuer as its discovery document does")
	}
	return nil
}

// bounded cuts answers that are too long.
type bounded struct{ http.RoundTripper }

// RoundTrip asks, and lets at most maxAnswer bytes be read.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	}
	return answer, err
}

// why words an error of the provider for people, without what its answers hold.
func why(err error) error {
	if err == nil {
		return nil
	}
	words := httpclient.Words{Server: "the provider", Address: "issuer",
		Authority: "nobody here trusts its certificate: name the authority in ca_file",
		Expired:   "let it be renewed", Host: "its certificate is for another host name"}
	var (
		mismatch *oidc.IssuerMismatchError
		refused  *oauth2.RetrieveError
		network  net.Error
	)
	switch bare := httpclient.WithoutURL(err); {
	case errors.As(err, &mismatch):
		return fmt.Errorf("it calls itself %q: set issuer to that", shown(mismatch.Discovered))
	case errors.As(err, &refused):
		return fmt.Errorf("it answers %s %s", refused.Response.Status, shown(refused.ErrorCode))
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return fmt.Errorf("no full answer within %s", providerTimeout)
	case words.Hint(err) != "":
		return fmt.Errorf("%s: %s", shown(bare.Error()), words.Hint(err))
	default:
		first, _, _ := strings.Cut(bare.Error(), "\n")
		if status, _, ok := strings.Cut(first, ": "); ok && isStatus(status) {
			first = "it answers " + status
		}
		return errors.New(shown(first))
	}
}

// isStatus tells "502 Bad Gateway", after which go-oidc shows the whole body.
func isStatus(text string) bool {
	code, name, ok := strings.Cut(text, " ")
	return ok && len(code) == 3 && strings.Trim(code, "0123456789") == "" && name != ""
}
