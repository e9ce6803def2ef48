package httpclient

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Discreet returns a transport that replaces the credentials of a request in unsuccessful
// responses, because servers and proxies quote requests, and errors quote responses. It reads up to
// 64 KiB of such a response before it returns it.
func Discreet(next http.RoundTripper) http.RoundTripper { return &discreet{next} }

type discreet struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (d *discreet) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := d.next.RoundTrip(r)
	if err != nil || answer.StatusCode/100 == 2 || answer.StatusCode == http.StatusSwitchingProtocols {
		return answer, err
	}
	if answer.Request != nil {
		r = answer.Request // what was sent, with what transports below have added
	}
	hide := hider(r)
	answer.Status = hide.Replace(answer.Status)
	for _, values := range answer.Header {
		for i, v := range values {
			values[i] = hide.Replace(v)
		}
	}
	// The reader of the body gets the error.
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxError))
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader(hide.Replace(string(body))), rest{err}), answer.Body}
	answer.ContentLength = -1
	return answer, nil
}

// CloseIdleConnections closes the idle connections of the wrapped transport.
func (d *discreet) CloseIdleConnections() {
	(&http.Client{Transport: d.next}).CloseIdleConnections()
}

// A rest returns the error that ended the first read of a body.
type rest struct{ err error }

// Read returns the error of the body, or io.EOF.
func (r rest) Read([]byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return 0, io.EOF
}

// leastHidden is the length of the shortest credential that is hidden. Hiding shorter ones
// would make the response unreadable.
const leastHidden = 4

// hider replaces the credentials in the header and the body of a request.
func hider(r *http.Request) *strings.Replacer {
	found := credentialsInBody(r)
	for name, values := range r.Header {
		if !sensitive(name) {
			continue
		}
		for _, v := range values {
			found = append(found, credentialsIn(v)...)
		}
	}
	return Hider(found...)
}

// Hider returns a replacer that replaces the credentials, including escaped forms of them, by
// "…".
func Hider(credentials ...string) *strings.Replacer {
	var pairs []string
	// The longer first: one may hold another.
	slices.SortFunc(credentials, func(a, b string) int { return len(b) - len(a) })
	for _, c := range credentials {
		if len(c) < leastHidden {
			continue
		}
		for _, form := range []string{c, url.QueryEscape(c), url.PathEscape(c), strings.ReplaceAll(c, `"`, `\"`)} {
			pairs = append(pairs, form, "…")
		}
	}
	return strings.NewReplacer(pairs...)
}

// credentialsInBody returns the values of fields with sensitive names in the body of a request,
// which is a form or a JSON document of up to 64 KiB.
func credentialsInBody(r *http.Request) []string {
	if r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(body, maxError))
	if err != nil || body.Close() != nil {
		return nil
	}
	var document any
	if json.Unmarshal(text, &document) == nil {
		return credentialsInJSON("", document)
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return nil
	}
	var found []string
	for name, values := range form {
		if sensitive(name) {
			found = append(found, values...)
		}
	}
	return found
}

// credentialsInJSON returns the strings in the value of a field, as far as they have sensitive
// names.
func credentialsInJSON(name string, value any) []string {
	var found []string
	switch value := value.(type) {
	case string:
		if sensitive(name) {
			found = append(found, value)
		}
	case []any:
		for _, item := range value {
			found = append(found, credentialsInJSON(name, item)...)
		}
	case map[string]any:
		for name, below := range value {
			found = append(found, credentialsInJSON(name, below)...)
		}
	}
	return found
}

// sensitive reports whether a header or a field of a request with this name holds
// credentials.
func sensitive(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "cookie", "token", "key", "secret", "passw"}, func(part string) bool { return strings.Contains(name, part) })
}

// credentialsIn returns the secret parts of a header: everything after the name of the scheme, the
// text after the last "=", and the password of Basic authentication.
func credentialsIn(value string) []string {
	scheme, secret, ok := strings.Cut(value, " ")
	if !ok {
		scheme, secret = "", value
	}
	found := []string{secret}
	if i := strings.LastIndexByte(strings.TrimRight(secret, "="), '='); i >= 0 {
		found = append(found, secret[i+1:])
	}
	if plain, err := base64.StdEncoding.DecodeString(secret); err == nil && strings.EqualFold(scheme, "basic") {
		if _, password, ok := bytes.Cut(plain, []byte(":")); ok {
			found = append(found, string(password))
		}
	}
	return found
}
