package netbox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

const apiPath = "/api"

// A session sends the requests of one scan, with one token. It sends GET requests only.
type session struct {
	url   string
	token token
	http  *httpclient.Client
}

// connect returns a session. It sends no request. The caller must close it.
func connect(config Config, limits httpclient.Limits) (*session, error) {
	secret, err := readToken(config.TokenFile)
	if err != nil {
		return nil, &collectors.LocalError{Err: err}
	}
	trust, err := httpclient.Trust(config.CAFile)
	if err != nil {
		return nil, &collectors.LocalError{Err: err}
	}
	return &session{url: config.URL, token: secret, http: httpclient.New(httpclient.NewBase(trust, limits), limits, httpclient.API{Describe: describe})}, nil
}

// close closes the idle connections.
func (s *session) close() { s.http.Close() }

// describe takes the reason from the body of an unsuccessful answer of NetBox. A proxy in front
// of NetBox answers with an HTML page instead.
func describe(status *httpclient.Status, header http.Header, body model.Value) {
	status.Message, status.Own = printable.Text(body.At("detail").Str()), hasAPIVersion(header)
}

// hasAPIVersion reports whether an answer is from NetBox itself: a proxy in front of it does
// not set the header API-Version.
func hasAPIVersion(header http.Header) bool { return header.Get("API-Version") != "" }

// request returns a request for a path below /api/.
func (s *session) request(ctx context.Context, path string, query url.Values) (*http.Request, error) {
	address := s.url + apiPath + "/" + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Authorization", s.token.header())
	return r, nil
}

// object returns the answer for a path, which must be a JSON object.
func (s *session) object(ctx context.Context, path string, query url.Values) (model.Value, http.Header, error) {
	r, err := s.request(ctx, path, query)
	if err != nil {
		return model.Value{}, nil, err
	}
	v, header, err := s.http.JSON(r)
	if err == nil && v.Kind() != model.Map {
		err = &httpclient.Unexpected{Reason: "the answer is not a JSON object"}
	}
	return v, header, err
}

// A token is an API token. Version 2 tokens (since 4.5) have the form nbt_KEY.TOKEN and are
// sent with another authorization scheme.
type token struct{ secret string }

// readToken reads the token from its file. Each scan calls it, so that a renewed token is used.
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

// header returns the value of the Authorization header.
func (t token) header() string {
	if t.isV2() {
		return "Bearer " + t.secret
	}
	return "Token " + t.secret
}

// isV2 reports whether the token is of version 2.
func (t token) isV2() bool { return strings.HasPrefix(t.secret, "nbt_") }

// label returns a description of the token without its secret. It contains the key of a version
// 2 token, which NetBox's pages contain, too.
func (t token) label() string {
	if key, _, ok := strings.Cut(t.secret, "."); ok && t.isV2() {
		return "the token " + key
	}
	return "the token"
}

// A tokenError is the error of a file that does not hold a token.
type tokenError struct{ file string }

func (e *tokenError) Error() string {
	return fmt.Sprintf("read token_file: %s does not hold a token", e.file)
}
