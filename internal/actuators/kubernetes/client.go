package kubernetes

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

const (
	jsonType  = "application/json"
	patchType = "application/json-patch+json"
	// maxAnswer bounds an answer, in bytes.
	maxAnswer = 64 << 20
	// firstPause is the pause before the second attempt of a request that reads.
	firstPause = 100 * time.Millisecond
)

// A client sends requests to one API server.
type client struct {
	reads *httpclient.Client
	// writes sends each request once.
	writes *httpclient.Client
	base   *url.URL
	// timeout bounds each request.
	timeout time.Duration
}

func newClient(c *kubeapi.Connection, timeout time.Duration) *client {
	limits := httpclient.Limits{Timeout: timeout, MaxBody: maxAnswer, Backoff: firstPause}
	reads := httpclient.New(c.Transport, limits, httpclient.API{Describe: describe})
	writes := reads.With(func(l *httpclient.Limits) { l.Attempts = 1 })
	return &client{reads: reads, writes: writes, base: c.Server, timeout: timeout}
}

// describe sets the message from a metav1.Status. The message for an invalid object may quote parts of it: the
// causes are set instead, without values, unless admission wrote the message.
func describe(s *httpclient.Status, _ http.Header, body model.Value) {
	if body.At("kind").Str() != "Status" {
		return
	}
	s.Own = true
	s.Message = printable.Text(body.At("message").Str())
	if s.Code != http.StatusUnprocessableEntity || denier(s.Message) != "" {
		return
	}
	var causes []string
	for _, c := range body.At("details", "causes").Items() {
		reason := c.At("reason").Str()
		if strings.HasSuffix(c.At("message").Str(), "field is immutable") {
			reason = "field is immutable"
		}
		if cause := strings.Trim(c.At("field").Str()+": "+reason, ": "); cause != "" {
			causes = append(causes, cause)
		}
	}
	if s.Message = printable.Text(strings.Join(causes, "; ")); s.Message == "" {
		s.Message = printable.Text(body.At("message").Str())
	}
}

func (c *client) server() string { return c.base.Redacted() }

// get reads a document.
func (c *client) get(ctx context.Context, path string) (model.Value, error) {
	r, err := c.request(ctx, http.MethodGet, path, nil, "", nil)
	if err != nil {
		return model.Value{}, err
	}
	v, _, err := c.reads.JSON(r)
	return v, err
}

// bytes reads a document without decoding it.
func (c *client) bytes(ctx context.Context, path string) (data []byte, err error) {
	r, err := c.request(ctx, http.MethodGet, path, nil, "", nil)
	if err != nil {
		return nil, err
	}
	err = c.reads.Read(r, func(answer *http.Response) error {
		data, err = io.ReadAll(answer.Body)
		return err
	})
	return data, err
}

// send sends a request once that may change the cluster. It returns its answer and the ID that the
// API server gave the request.
func (c *client) send(ctx context.Context, method, path string, query url.Values, contentType string, body []byte) (model.Value, string, error) {
	r, err := c.request(ctx, method, path, query, contentType, body)
	if err != nil {
		return model.Value{}, "", &unsentError{err}
	}
	if err := ctx.Err(); err != nil {
		return model.Value{}, "", &unsentError{err}
	}
	// Without it no transport can send the body again.
	r.GetBody = nil
	v, header, err := c.writes.JSON(r)
	if err != nil {
		return model.Value{}, "", err
	}
	return v, printable.Text(header.Get("Audit-Id")), nil
}

// review creates an object of a kind that the API server only answers and does not store.
func (c *client) review(ctx context.Context, apiVersion, kind string, spec model.Value) (model.Value, error) {
	body := model.MapOf(model.Field{Name: "apiVersion", Value: model.StringOf(apiVersion)},
		model.Field{Name: "kind", Value: model.StringOf(kind)}, model.Field{Name: "spec", Value: spec})
	if spec.IsEmpty() {
		body = body.Without("spec")
	}
	v, _, err := c.send(ctx, http.MethodPost, "/apis/"+apiVersion+"/"+strings.ToLower(kind)+"s", nil, jsonType, body.AppendJSON(nil))
	return v, err
}

func (c *client) request(ctx context.Context, method, path string, query url.Values, contentType string, body []byte) (*http.Request, error) {
	u := c.base.JoinPath(path)
	u.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", jsonType)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r, nil
}

// list reads all objects of a list, page by page. as is the Accept header; "" means plain JSON.
func (c *client) list(ctx context.Context, path string, query url.Values, as string) (items []model.Value, err error) {
	err = c.each(ctx, path, query, as, func(item model.Value) error {
		items = append(items, item)
		return nil
	})
	return items, err
}

// pageSize is the number of objects of a page, unless they are large.
const pageSize = 500

// each calls use with each object of a list, until that returns an error. It reads smaller pages if one is too large.
func (c *client) each(ctx context.Context, path string, query url.Values, as string, use func(model.Value) error) error {
	query = cloned(query)
	for limit := pageSize; ; {
		query.Set("limit", strconv.Itoa(limit))
		r, err := c.request(ctx, http.MethodGet, path, query, "", nil)
		if err != nil {
			return err
		}
		r.Header.Set("Accept", cmp.Or(as, jsonType))
		page, _, err := c.reads.JSON(r)
		if _, large := errors.AsType[*httpclient.TooLarge](err); large && limit > 1 {
			limit = max(1, limit/5)
			continue
		}
		if err != nil {
			return err
		}
		held, err := part(page, "items")
		if err != nil {
			return err
		}
		for _, item := range held.Items() {
			if err := use(item); err != nil {
				return err
			}
		}
		next := page.At("metadata", "continue").Str()
		if next == "" {
			return nil
		}
		query.Set("continue", next)
	}
}

// part returns a field of an answer. An answer without it is not one of an API server, and proves no absence.
func part(answer model.Value, name string) (model.Value, error) {
	v, ok := answer.Get(name)
	if !ok {
		return v, fmt.Errorf("the answer has no field %q: it is not the one of an API server", name)
	}
	return v, nil
}

func cloned(v url.Values) url.Values {
	clone := url.Values{}
	for name, values := range v {
		clone[name] = slices.Clone(values)
	}
	return clone
}

// A served is a kind of the API server in one version.
type served struct {
	group, version, kind string
	// resource is the name of the kind in paths.
	resource   string
	namespaced bool
}

// errNotServed is the error of a kind that the API server does not have.
var errNotServed = errors.New("the API server does not serve it")

// discover returns a kind, by its name in findings, in the first version that can be listed, in the
// server's order of preference, as the collector does.
func (c *client) discover(ctx context.Context, kind string) (*served, error) {
	name, group, _ := strings.Cut(strings.TrimPrefix(kind, "kubernetes/"), ".")
	versions, err := c.versions(ctx, group)
	if err != nil {
		return nil, err
	}
	var found *served
	for _, version := range versions {
		answer, err := c.get(ctx, versionPath(group, version))
		if err != nil {
			return nil, err
		}
		resources, err := part(answer, "resources")
		if err != nil {
			return nil, err
		}
		for _, r := range resources.Items() {
			if r.At("kind").Str() != name || strings.Contains(r.At("name").Str(), "/") {
				continue
			}
			s := &served{group: group, version: version, kind: name, resource: r.At("name").Str(), namespaced: r.At("namespaced").Text() == "true"}
			if kube.KindName(s.apiVersion(), name) != kind {
				continue
			}
			if slices.ContainsFunc(r.At("verbs").Items(), func(v model.Value) bool { return v.Str() == "list" }) {
				return s, nil
			}
			if found == nil {
				found = s
			}
		}
	}
	if found == nil {
		return nil, errNotServed
	}
	return found, nil
}

// versions returns the versions of an API group, the preferred one first.
func (c *client) versions(ctx context.Context, group string) ([]string, error) {
	if group == "" {
		return []string{"v1"}, nil
	}
	answer, err := c.get(ctx, "/apis/"+group)
	if is404(err) {
		return nil, c.checkAbsent(ctx, group)
	}
	if err != nil {
		return nil, err
	}
	versions := []string{answer.At("preferredVersion", "version").Str()}
	for _, v := range answer.At("versions").Items() {
		if name := v.At("version").Str(); !slices.Contains(versions, name) {
			versions = append(versions, name)
		}
	}
	return versions, nil
}

// checkAbsent returns errNotServed if the list of API groups does not have the group. A server that is only half
// up, or something in front of it, answers 404 too.
func (c *client) checkAbsent(ctx context.Context, group string) error {
	list, err := c.get(ctx, "/apis")
	if err != nil {
		return err
	}
	listed := slices.ContainsFunc(list.At("groups").Items(), func(g model.Value) bool { return g.At("name").Str() == group })
	if list.At("kind").Str() != "APIGroupList" || listed {
		return fmt.Errorf("the answer for API group %s is 404, and nothing proves that the server does not have it", group)
	}
	return errNotServed
}

// fullName returns the name of the resource with its group.
func (s *served) fullName() string { return strings.TrimSuffix(s.resource+"."+s.group, ".") }

// named reads an object by its kind and its name.
func (c *client) named(ctx context.Context, kind, namespace, name string) (model.Value, error) {
	if err := checkName(namespace, name); err != nil {
		return model.Value{}, err
	}
	where, err := c.discover(ctx, kind)
	if err != nil {
		return model.Value{}, err
	}
	return c.get(ctx, where.collection(namespace)+"/"+name)
}

func (s *served) apiVersion() string {
	if s.group == "" {
		return s.version
	}
	return s.group + "/" + s.version
}

func versionPath(group, version string) string {
	if group == "" {
		return "/api/" + version
	}
	return "/apis/" + group + "/" + version
}

// collection returns the path of the objects in a namespace, or in all if it is "".
func (s *served) collection(namespace string) string {
	path := versionPath(s.group, s.version)
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + s.resource
}

// path returns the path of the object.
func (s *subject) path() string { return s.collection(s.namespace) + "/" + s.name }

// splitID splits the ID of an object in a namespace.
func splitID(id string) (namespace, name string, err error) {
	namespace, name, ok := strings.Cut(id, "/")
	if !ok {
		return "", "", fmt.Errorf("%q has no namespace", id)
	}
	return namespace, name, nil
}

// checkName returns an error for names that cannot be one segment of a path.
func checkName(names ...string) error {
	for _, name := range names {
		if name == "." || name == ".." || strings.ContainsAny(name, "/%?#") {
			return fmt.Errorf("%q is not the name of an object", name)
		}
	}
	return nil
}

func is404(err error) bool { return httpclient.Code(err) == http.StatusNotFound }

// isMissing reports whether the API server itself answers that there is no such object. A proxy before it may
// answer 404 too.
func isMissing(err error) bool {
	s := httpclient.StatusOf(err)
	return is404(err) && s != nil && s.Own
}

// isAccess reports whether an error may go away with other credentials, or another connection.
func isAccess(err error) bool {
	return httpclient.Code(err) == http.StatusUnauthorized || httpclient.Code(err) == 0 && kubeapi.Hint(err) != ""
}

// An unsentError is the error of a request that was not sent.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

// wasNotExecuted reports whether an error proves that the API server did not carry a request out. A
// request that timed out, or was answered with 408 or 5xx, may have been carried out. 429 is the
// answer of the API server's priority and fairness to requests that it does not begin.
func wasNotExecuted(err error) bool {
	var (
		unsent    *unsentError
		dial      *net.OpError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &unsent), errors.As(err, &dial) && dial.Op == "dial":
		return true
	case errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid):
		return true
	}
	code := httpclient.Code(err)
	return code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != 499
}

// decoded decodes JSON that Go's encoder wrote.
func decoded(data []byte) (model.Value, error) { return decode.JSON(data) }
