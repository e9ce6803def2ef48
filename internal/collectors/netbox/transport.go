package netbox

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/reach"
)

// newTransport returns the transport of the requests.
func newTransport(config Config) (*http.Transport, error) {
	trust, err := reach.Trust(config.CAFile)
	if err != nil {
		return nil, err
	}
	return reach.NewBase(trust, reach.Limits{Timeout: config.Timeout, Concurrency: config.Concurrency}), nil
}

// A token opens NetBox. Versions since 4.5 have a second form, nbt_KEY.TOKEN,
// that goes under another scheme.
type token struct{ secret string }

// readToken reads the token each time, so that a renewed one counts.
func readToken(file string) (token, error) {
	secret, err := credential.Read(file)
	if err != nil {
		return token{}, err
	}
	secret = strings.TrimSpace(secret)
	for _, scheme := range []string{"Token ", "Bearer "} {
		secret = strings.TrimPrefix(secret, scheme)
	}
	if strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return token{}, &tokenError{file}
	}
	return token{secret}, nil
}

// header is what the token is sent as.
func (t token) header() string {
	if t.second() {
		return "Bearer " + t.secret
	}
	return "Token " + t.secret
}

// second tells a token of version 2.
func (t token) second() bool { return strings.HasPrefix(t.secret, "nbt_") }

// public is what may be shown of the token: the key of a second one, which
// NetBox shows too.
func (t token) public() string {
	if key, _, ok := strings.Cut(t.secret, "."); ok && t.second() {
		return "the token " + key
	}
	return "the token"
}

// A tokenError is a file that holds no token.
type tokenError struct{ file string }

func (e *tokenError) Error() string {
	return fmt.Sprintf("read token_file: %s holds something else than a token", e.file)
}
