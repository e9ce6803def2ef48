package openstack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
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
	http      *httpclient.Client
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
func connect(ctx context.Context, l login, limits httpclient.Limits) (*session, error) {
	client, err := openstack.NewClient(l.auth.IdentityEndpoint)
	if err != nil {
		return nil, &localError{err}
	}
	client.UserAgent.Prepend("driftd")
	s := &session{client: client, auth: l.auth, http: httpclient.New(httpclient.NewBase(l.trust, limits), limits, httpclient.API{})}
	client.HTTPClient = *s.http.HTTP()
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
		return &httpclient.Unexpected{Reason: "the answer holds no token"}
	}
	if err := result.ExtractInto(&s.grant); err != nil {
		return &httpclient.Unexpected{Reason: "the answer is no token of Keystone"}
	}
	switch {
	case s.grant.User.ID == "" || len(s.grant.Catalog) == 0:
		return &httpclient.Unexpected{Reason: "the answer does not say whose token it is, or has no catalogue of services"}
	case s.grant.Project == nil || s.grant.Project.ID == "":
		return &catalogueError{what: "the token belongs to no project", hint: "write project_id or project_name below auth of the cloud in clouds_file"}
	}
	return nil
}

// close gives the connections back.
func (s *session) close() { s.http.Close() }

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
		KeepResponseBody: true, OkCodes: []int{http.StatusOK}, MoreHeaders: header})
	if err != nil {
		return model.Value{}, httpclient.Because(ctx, s.fault(err))
	}
	// The transport read the body already: neither can go wrong.
	defer func() { _ = resp.Body.Close() }()
	if v, err = httpclient.Decode(resp); err == nil && v.Kind() != model.Map {
		return model.Value{}, &httpclient.Unexpected{Reason: "the answer is no object"}
	}
	return v, err
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
		return httpclient.WithoutURL(err)
	case errors.As(err, &typ), errors.As(err, &syntax), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &httpclient.Unexpected{Reason: "the answer is no JSON of Keystone"}
	}
	return err
}

// statusError returns the error of an unsuccessful answer. Each service has another name
// for the object that contains the reason.
func (s *session) statusError(answer gophercloud.ErrUnexpectedResponseCode) error {
	return httpclient.NewStatus(&http.Response{StatusCode: answer.Actual, Header: answer.ResponseHeader, Body: io.NopCloser(bytes.NewReader(answer.Body))},
		httpclient.API{Describe: func(status *httpclient.Status, _ http.Header, body model.Value) {
			for _, f := range body.Fields() {
				if message := f.Value.At("message").Str(); message != "" {
					status.Message = httpclient.Printable(s.hide(message))
				}
			}
		}})
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
