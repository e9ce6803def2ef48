package netbox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

const apiPath = "/api"

// A session reads one NetBox with one token, for the length of one look. It sends GET
// requests and nothing else.
type session struct {
	url   string
	token token
	http  *httpclient.Client
}

// connect opens a session without a request. The caller closes it.
func connect(config Config, limits httpclient.Limits) (*session, error) {
	secret, err := readToken(config.TokenFile)
	if err != nil {
		return nil, &localError{err}
	}
	trust, err := httpclient.Trust(config.CAFile)
	if err != nil {
		return nil, &localError{err}
	}
	return &session{url: config.URL, token: secret, http: httpclient.New(httpclient.NewBase(trust, limits), limits, httpclient.API{Describe: describe})}, nil
}

// close closes the connections.
func (s *session) close() { s.http.Close() }

// describe takes the reason from the body of an unsuccessful answer. A proxy before NetBox
// sends a page instead.
func describe(status *httpclient.Status, header http.Header, body model.Value) {
	status.Message, status.Own = httpclient.Printable(body.At("detail").Str()), marked(header)
}

// marked reports whether an answer is of NetBox itself: what stands before it does not give
// the version of its API.
func marked(header http.Header) bool { return header.Get("API-Version") != "" }

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

// object reads the answer at a path, which is one object.
func (s *session) object(ctx context.Context, path string, query url.Values) (model.Value, http.Header, error) {
	r, err := s.request(ctx, path, query)
	if err != nil {
		return model.Value{}, nil, err
	}
	v, header, err := s.http.JSON(r)
	if err == nil && v.Kind() != model.Map {
		err = &httpclient.Unexpected{Reason: "the answer is no object"}
	}
	return v, header, err
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

// second reports whether the token is one of version 2.
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
