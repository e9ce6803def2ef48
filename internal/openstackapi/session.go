package openstackapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// A Session is a login to a cloud. It is safe for concurrent use.
type Session struct {
	// Grant is the response of Keystone to the login.
	Grant Grant
	// Region is the region of the endpoints; "" if the catalogue names none.
	Region string
	// HTTP sends the requests.
	HTTP *httpclient.Client

	client *gophercloud.ProviderClient
	// endpoints maps the names of the services to their endpoints.
	endpoints map[string]endpoint
	// auth contains the credentials, which errors must not contain.
	auth gophercloud.AuthOptions
}

// A Grant is the data of a token, as Keystone returns it.
type Grant struct {
	User                  tokens.User           `json:"user"`
	Project               *tokens.Project       `json:"project"`
	Roles                 []tokens.Role         `json:"roles"`
	Catalog               []tokens.CatalogEntry `json:"catalog"`
	ApplicationCredential struct {
		Name string `json:"name"`
	} `json:"application_credential"`
}

// Connect logs in and finds the endpoints of the services. The caller must close the session.
func Connect(ctx context.Context, l Login, limits httpclient.Limits) (*Session, error) {
	client, err := openstack.NewClient(l.auth.IdentityEndpoint)
	if err != nil {
		return nil, &localError{err}
	}
	client.UserAgent.Prepend("driftd")
	s := &Session{client: client, auth: l.auth, HTTP: httpclient.New(httpclient.NewBase(l.trust, limits), limits, httpclient.API{})}
	client.HTTPClient = *s.HTTP.HTTP()
	if err := s.logIn(ctx, l); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Session) logIn(ctx context.Context, l Login) error {
	if err := openstack.AuthenticateV3(ctx, s.client, &l.auth, gophercloud.EndpointOpts{}); err != nil {
		return s.fault(err)
	}
	if err := s.readGrant(); err != nil {
		return err
	}
	if err := s.findEndpoints(l); err != nil {
		return err
	}
	s.negotiate(ctx)
	return nil
}

// readGrant decodes the response of Keystone to the login.
func (s *Session) readGrant() error {
	result, ok := s.client.GetAuthResult().(interface{ ExtractInto(v any) error })
	if !ok || s.client.Token() == "" {
		return &httpclient.Unexpected{Reason: "the answer holds no token"}
	}
	if err := result.ExtractInto(&s.Grant); err != nil {
		return &httpclient.Unexpected{Reason: "the answer is not a token of Keystone"}
	}
	switch {
	case s.Grant.User.ID == "" || len(s.Grant.Catalog) == 0:
		return &httpclient.Unexpected{Reason: "the answer has no user, or no catalogue of services"}
	case s.Grant.Project == nil || s.Grant.Project.ID == "":
		return &CatalogueError{Reason: "the token belongs to no project", Hint: "write project_id or project_name below auth of the cloud in clouds_file"}
	}
	return nil
}

// Server returns the address of Keystone.
func (s *Session) Server() string { return s.auth.IdentityEndpoint }

// Close closes idle connections.
func (s *Session) Close() { s.HTTP.Close() }

// Object returns the JSON object that a GET request to a service returns. service is the name of
// the service in the catalogue, and path is relative to the endpoint of the service.
func (s *Session) Object(ctx context.Context, service, path string, query url.Values) (model.Value, error) {
	return s.ObjectIn(ctx, service, defaultMicroversion, path, query)
}

// ObjectIn returns an object as Object does, but requests it in a microversion of the service. If
// that is newer than the newest one of the service, it uses the newest one.
func (s *Session) ObjectIn(ctx context.Context, service, microversion, path string, query url.Values) (model.Value, error) {
	at, err := s.at(service)
	if err != nil {
		return model.Value{}, err
	}
	return s.read(ctx, at.url+path, at.header(microversion), query)
}

// at returns the endpoint of a service.
func (s *Session) at(service string) (endpoint, error) {
	at, ok := s.endpoints[service]
	if !ok {
		return endpoint{}, &CatalogueError{Reason: "unknown service " + service, Hint: "see the catalogue"}
	}
	return at, at.err
}

func (s *Session) read(ctx context.Context, address string, header map[string]string, query url.Values) (v model.Value, err error) {
	ctx, release := budget.Part(ctx)
	defer func() { release(v.Weight()) }()
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	resp, err := s.client.Request(ctx, http.MethodGet, address, &gophercloud.RequestOpts{
		KeepResponseBody: true, OkCodes: []int{http.StatusOK}, MoreHeaders: header})
	if err != nil {
		return model.Value{}, httpclient.Because(ctx, s.fault(err))
	}
	// The transport has read the whole body: neither fails.
	defer func() { _ = resp.Body.Close() }()
	if v, err = httpclient.Decode(resp); err == nil && v.Kind() != model.Map {
		return model.Value{}, &httpclient.Unexpected{Reason: "the answer is not a JSON object"}
	}
	return v, err
}

// A Request is a request that changes something.
type Request struct {
	// Method is the HTTP method, Service the name of the service in the catalogue, and Path the
	// path relative to the endpoint of the service.
	Method, Service, Path string
	// Microversion is the microversion, as in Session.ObjectIn.
	Microversion string
	// Header contains additional headers, and Body the JSON object to send; null for none.
	Header map[string]string
	Body   model.Value
}

// Send sends a request that changes something, and returns the request ID that the service
// assigned; "" if there is none. If the error is not an *httpclient.Status with Own set, the
// request may have taken effect. The request is sent only once if the limits of the session allow
// only one attempt.
func (s *Session) Send(ctx context.Context, r *Request) (id string, err error) {
	at, err := s.at(r.Service)
	if err != nil {
		return "", err
	}
	header := maps.Clone(r.Header)
	if header == nil {
		header = map[string]string{}
	}
	maps.Copy(header, at.header(r.Microversion))
	options := &gophercloud.RequestOpts{OkCodes: []int{http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent}, MoreHeaders: header}
	if !r.Body.IsNull() {
		options.RawBody = bytes.NewReader(r.Body.AppendJSON(nil))
		header["Content-Type"] = "application/json"
	}
	resp, err := s.client.Request(ctx, r.Method, at.url+r.Path, options)
	if err != nil {
		return "", httpclient.Because(ctx, s.fault(err))
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	return printable.Text(resp.Header.Get(requestID)), nil
}

// requestID is the header with the ID that a service gives to a request. A proxy in front of it does not set it.
const requestID = "X-Openstack-Request-Id"

// fault converts an error of the SDK to one without secrets and without the query of an address.
func (s *Session) fault(err error) error {
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
		return &RenewError{s.fault(renew.ErrReauth)}
	case errors.As(err, &after):
		return s.fault(after.ErrOriginal)
	case errors.As(err, &status):
		return s.statusError(status)
	case errors.As(err, &request):
		return httpclient.WithoutURL(err)
	case errors.As(err, &typ), errors.As(err, &syntax), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &httpclient.Unexpected{Reason: "the answer is not valid JSON of Keystone"}
	}
	return err
}

// statusError returns the error of an unsuccessful answer. The name of the object with the
// message differs between services.
func (s *Session) statusError(answer gophercloud.ErrUnexpectedResponseCode) error {
	return httpclient.NewStatus(&http.Response{StatusCode: answer.Actual, Header: answer.ResponseHeader, Body: io.NopCloser(bytes.NewReader(answer.Body))},
		httpclient.API{Describe: func(status *httpclient.Status, header http.Header, body model.Value) {
			status.Own = header.Get(requestID) != ""
			for _, f := range body.Fields() {
				if message := f.Value.At("message").Str(); message != "" {
					status.Message = printable.Text(s.redact(message))
				}
			}
		}})
}

// redact removes secrets from a text of a server.
func (s *Session) redact(text string) string {
	for _, secret := range [...]string{s.auth.Password, s.auth.TokenID, s.auth.ApplicationCredentialSecret, s.client.Token()} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}
