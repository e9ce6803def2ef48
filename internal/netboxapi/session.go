package netboxapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// Path is the path of the API, relative to the address of NetBox.
const Path = "/api"

// A Session sends requests with one token. It is safe for concurrent use.
type Session struct {
	// HTTP sends requests, such as those that Request returns.
	HTTP *httpclient.Client

	url   string
	token token
}

// Connect returns a session with the token in the settings. It sends no request; it returns an
// error if a file cannot be read or contains no token or certificate. The caller must close the
// session.
func Connect(access Access, limits httpclient.Limits) (*Session, error) {
	secret, err := readToken(access.TokenFile)
	if err != nil {
		return nil, err
	}
	trust, err := httpclient.Trust(access.CAFile)
	if err != nil {
		return nil, err
	}
	return &Session{url: access.URL, token: secret, HTTP: httpclient.New(httpclient.NewBase(trust, limits), limits, httpclient.API{Describe: describe})}, nil
}

// Close closes idle connections.
func (s *Session) Close() { s.HTTP.Close() }

// Header returns the headers for a request, including the token.
func (s *Session) Header() http.Header {
	return http.Header{"Accept": {"application/json"}, "Authorization": {s.token.header()}}
}

// Token returns a description of the token without its secret.
func (s *Session) Token() string { return s.token.label() }

// describe takes the reasons from the body of an unsuccessful answer of NetBox. A proxy in front
// of NetBox answers with an HTML page instead.
func describe(status *httpclient.Status, header http.Header, body model.Value) {
	message := []string{body.At("detail").Str()}
	for _, f := range body.Fields() { // the errors of single fields
		for _, item := range f.Value.Items() {
			message = append(message, f.Name+": "+item.Text())
		}
	}
	status.Message, status.Own = printable.Text(strings.TrimSpace(strings.Join(message, " "))), HasVersion(header)
}

// HasVersion reports whether a response comes from NetBox itself. A proxy in front of it does not
// set the header API-Version.
func HasVersion(header http.Header) bool { return header.Get("API-Version") != "" }

// Request returns a GET request for a path below /api/.
func (s *Session) Request(ctx context.Context, path string, query url.Values) (*http.Request, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return s.request(ctx, http.MethodGet, path, http.NoBody)
}

func (s *Session) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+Path+"/"+path, body)
	if err != nil {
		return nil, err
	}
	r.Header = s.Header()
	return r, nil
}

// Object returns the response for a path and its header. It returns an error if the response is not
// a JSON object.
func (s *Session) Object(ctx context.Context, path string, query url.Values) (model.Value, http.Header, error) {
	r, err := s.Request(ctx, path, query)
	if err != nil {
		return model.Value{}, nil, err
	}
	return object(s.HTTP, r)
}

// Patch changes fields of the object at a path and returns the changed object. If tag is not "",
// NetBox changes the object only if its entity tag is equal. The request is sent once. If the error
// is not an *httpclient.Status, the request may have taken effect.
func (s *Session) Patch(ctx context.Context, path, tag string, fields model.Value) (model.Value, error) {
	r, err := s.request(ctx, http.MethodPatch, path, bytes.NewReader(fields.AppendJSON(nil)))
	if err != nil {
		return model.Value{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	if tag != "" {
		r.Header.Set("If-Match", tag)
	}
	v, _, err := object(s.HTTP.With(func(l *httpclient.Limits) { l.Attempts = 1 }), r)
	return v, err
}

func object(client *httpclient.Client, r *http.Request) (model.Value, http.Header, error) {
	v, header, err := client.JSON(r)
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
