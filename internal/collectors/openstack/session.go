package openstack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reach"
)

// An asker asks one service for one answer, a JSON object, within bounds.
type asker interface {
	Object(ctx context.Context, service, path string, query url.Values) (model.Value, error)
}

// A session is one login to one cloud, for the length of one look. Besides logging
// in it sends GET requests and nothing else. It is safe for concurrent use.
type session struct {
	client *gophercloud.ProviderClient
	grant  grant
	// endpoints are where the services answer, by what they are called.
	endpoints map[string]endpoint
	copies    reach.Copies
	// auth is what it logged in with, which must not come out of foreign words.
	auth gophercloud.AuthOptions
}

// A grant is what Keystone says of a token.
type grant struct {
	User                  tokens.User           `json:"user"`
	Project               *tokens.Project       `json:"project"`
	Roles                 []tokens.Role         `json:"roles"`
	Catalog               []tokens.CatalogEntry `json:"catalog"`
	ApplicationCredential struct {
		Name string `json:"name"`
	} `json:"application_credential"`
}

// connect logs in. The caller closes the session.
func connect(ctx context.Context, l login, limits reach.Limits) (*session, error) {
	client, err := openstack.NewClient(l.auth.IdentityEndpoint)
	if err != nil {
		return nil, &localError{err}
	}
	client.UserAgent.Prepend("driftd")
	client.HTTPClient = http.Client{
		Transport: reach.NewTransport(reach.NewBase(l.trust, limits), limits),
		// Neither password nor token goes to an address that nobody named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	s := &session{client: client, auth: l.auth}
	if err := openstack.AuthenticateV3(ctx, client, &l.auth, gophercloud.EndpointOpts{}); err != nil {
		s.close()
		return nil, s.fault(err)
	}
	if err := s.readGrant(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// readGrant reads what Keystone answered to the login.
func (s *session) readGrant() error {
	result, ok := s.client.GetAuthResult().(interface{ ExtractInto(v any) error })
	if !ok || s.client.Token() == "" {
		return &answerError{reason: "the answer holds no token"}
	}
	if err := result.ExtractInto(&s.grant); err != nil {
		return &answerError{reason: "the answer is no token of Keystone"}
	}
	switch {
	case s.grant.User.ID == "" || len(s.grant.Catalog) == 0:
		return &answerError{reason: "the answer does not say whose token it is, or has no catalogue of services"}
	case s.grant.Project == nil || s.grant.Project.ID == "":
		return &catalogueError{what: "the token belongs to no project", hint: "write project_id or project_name below auth of the cloud in clouds_file"}
	}
	return nil
}

// close gives the connections back.
func (s *session) close() { s.client.HTTPClient.CloseIdleConnections() }

// Object asks a service for one object. Services are called as the catalogue
// calls them; path is what follows the service's address.
func (s *session) Object(ctx context.Context, service, path string, query url.Values) (model.Value, error) {
	return s.ask(ctx, service, usual, path, query)
}

// ask asks for an object in a version of the service's interface, or the newest
// before it that the service has.
func (s *session) ask(ctx context.Context, service, microversion, path string, query url.Values) (model.Value, error) {
	at, ok := s.endpoints[service]
	if !ok {
		return model.Value{}, &catalogueError{what: "nobody looked for a service " + service, hint: "see the catalogue"}
	}
	if at.err != nil {
		return model.Value{}, at.err
	}
	return s.read(ctx, at.url+path, at.header(microversion), query)
}

func (s *session) read(ctx context.Context, address string, header map[string]string, query url.Values) (v model.Value, err error) {
	ctx, settle := budget.Part(ctx)
	defer func() { settle(v.Weight()) }()
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	resp, err := s.client.Request(ctx, http.MethodGet, address, &gophercloud.RequestOpts{
		KeepResponseBody: true, OkCodes: []int{http.StatusOK}, MoreHeaders: asking(header)})
	if err != nil {
		return model.Value{}, reach.Because(ctx, s.fault(err))
	}
	// The transport read the body already: neither can go wrong.
	defer func() { _ = resp.Body.Close() }()
	s.copies.Note(resp.Header)
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return model.Value{}, err
	}
	if isPage(resp.Header, body) {
		return model.Value{}, &answerError{reason: "the answer is an HTML page", page: true}
	}
	v, err = decode.JSON(body)
	if err != nil {
		return model.Value{}, &answerError{reason: "the answer is no JSON: " + err.Error()}
	}
	if v.Kind() != model.Map {
		return model.Value{}, &answerError{reason: "the answer is no object"}
	}
	return v, nil
}

// asking returns the headers of a request, which asks caches for the service's own
// answer.
func asking(header map[string]string) map[string]string {
	all := map[string]string{"Cache-Control": reach.NoCache}
	maps.Copy(all, header)
	return all
}

// isPage tells a page for people.
func isPage(header http.Header, body []byte) bool {
	typ, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && typ == "text/html" || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}

// fault puts an error of the SDK into this package's words, which show no secret
// and no address with its query.
func (s *session) fault(err error) error {
	var (
		renew   *gophercloud.ErrUnableToReauthenticate
		after   *gophercloud.ErrErrorAfterReauthentication
		status  gophercloud.ErrUnexpectedResponseCode
		request *url.Error
		typ     *json.UnmarshalTypeError
		syntax  *json.SyntaxError
	)
	switch {
	case errors.As(err, &renew):
		return &renewError{s.fault(renew.ErrReauth)}
	case errors.As(err, &after):
		return s.fault(after.ErrOriginal)
	case errors.As(err, &status):
		return s.statusError(status)
	case errors.As(err, &request):
		return reach.WithoutURL(err)
	case errors.As(err, &typ), errors.As(err, &syntax), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &answerError{reason: "the answer is no JSON of Keystone"}
	}
	return err
}

// statusError reads why an answer is no success. Each service has another name
// for the object that says so.
func (s *session) statusError(answer gophercloud.ErrUnexpectedResponseCode) error {
	status := &statusError{code: answer.Actual, page: isPage(answer.ResponseHeader, answer.Body)}
	if to, err := url.Parse(answer.ResponseHeader.Get("Location")); err == nil && to.String() != "" {
		status.location = reach.Printable((&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String())
	}
	if v, err := decode.JSON(answer.Body); err == nil {
		for _, f := range v.Fields() {
			if message := f.Value.At("message").Str(); message != "" {
				status.detail = reach.Printable(s.hide(message))
			}
		}
	}
	return status
}

// hide takes secrets out of foreign words.
func (s *session) hide(text string) string {
	for _, secret := range [...]string{s.auth.Password, s.auth.TokenID, s.auth.ApplicationCredentialSecret, s.client.Token()} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}
