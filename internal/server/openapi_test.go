package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"golang.org/x/crypto/bcrypt"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// A contract is the document with the parts that live responses have covered.
type contract struct {
	document *openapi3.T
	router   routers.Router
	outline
}

func newContract(t *testing.T) *contract {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context()); err != nil {
		t.Fatalf("the document is no OpenAPI document: %v", err)
	}
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		t.Fatal(err)
	}
	return &contract{document, router, newOutline(t)}
}

// An exchange is a request with the expected status.
type exchange struct {
	reason  string
	handler http.Handler
	method  string
	target  string
	body    string
	status  int
	// user makes the request carry a wrong password.
	user string
	// wrong reports that the document forbids the request, too.
	wrong bool
}

// check sends a request and validates request and response against the document.
func (c *contract) check(t *testing.T, q exchange) string {
	t.Helper()
	server := httptest.NewServer(q.handler)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), q.method, server.URL+q.target, strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.user != "" {
		r.SetBasicAuth(q.user, "wrong")
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body := read(t, answer)
	if answer.StatusCode != q.status {
		t.Errorf("%s %s = %d %s, want %d: %s", q.method, q.target, answer.StatusCode, body, q.status, q.reason)
	}
	c.hold(t, r, q, answer, body)
	return body
}

// hold validates an exchange against the document.
func (c *contract) hold(t *testing.T, r *http.Request, q exchange, answer *http.Response, body string) {
	t.Helper()
	asked := httptest.NewRequestWithContext(t.Context(), r.Method, r.URL.RequestURI(), strings.NewReader(q.body))
	asked.Header = r.Header
	route, params, err := c.router.FindRoute(asked)
	if err != nil {
		t.Errorf("%s %s is not in the document: %v", q.method, q.target, err)
		return
	}
	input := &openapi3filter.RequestValidationInput{Request: asked, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, RejectWhenRequestBodyNotSpecified: true}}
	if err := openapi3filter.ValidateRequest(t.Context(), input); (err != nil) != q.wrong {
		t.Errorf("%s %s %s: the document says %v, and the API %d (%s)", q.method, q.target, q.body, err, answer.StatusCode, q.reason)
	}
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{RequestValidationInput: input,
		Status: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(strings.NewReader(body)), Options: input.Options})
	if err != nil {
		t.Errorf("%s %s = %d: %v\n%s", q.method, q.target, answer.StatusCode, err, body)
	}
	c.note(t, route, r.URL.Query(), q, answer, body)
}

// note marks the parts of the document that an exchange covers.
func (c *contract) note(t *testing.T, route *routers.Route, query url.Values, q exchange, answer *http.Response, body string) {
	t.Helper()
	operation := []string{"paths", route.Path, strings.ToLower(q.method)}
	status := fmt.Sprint(answer.StatusCode)
	c.seen[pointer(append(slices.Clone(operation), "responses", status)...)] = true
	for name := range query {
		c.seen["parameter "+name+" of "+route.Operation.OperationID] = true
	}
	if q.body != "" && !q.wrong {
		c.show(t, append(slices.Clone(operation), "requestBody", "content", "application/json", "schema"), q.body)
	}
	if answer.Header.Get("Content-Type") == "application/json" {
		c.show(t, append(operation, "responses", status, "content", "application/json", "schema"), body)
	}
	for name := range answer.Header {
		c.seen["header "+name+" of "+status] = true
	}
}

// as serves a named visitor with a role, who is a person of the table.
func as(a API, role access.Role) http.Handler {
	return a.guard(bounds{maxInFlight, maxBody}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.routes().ServeHTTP(w, r.WithContext(access.With(r.Context(), access.Visitor{Name: "carol", Person: "Carol C", Role: role, Via: access.Session})))
	}))
}

// A rejection is an error that any operation may return.
type rejection struct {
	reason  string
	handler http.Handler
	query   string
	// user makes the request carry a wrong password.
	user   string
	status int
	// over reports that it occurs over TCP only.
	over bool
}

// refusals returns the errors that every operation may return.
func refusals(t *testing.T, a API) []rejection {
	t.Helper()
	dead := a
	s := emptyStore(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("disk full")
	dead.Store, dead.Decider = s, storeDecider{s, now, bytes.NewReader(nil)}
	dead.Scanner = scanner(func(context.Context, []string) (model.Report, error) { return model.Report{}, broken })
	dead.AuditLog, dead.Acting = auditStub{err: broken}, actorStub{broken}
	dead.Verify = func() (store.Health, error) { return store.Health{}, broken }
	dead.Copy = func(io.Writer) (int64, error) { return 0, broken }
	closed, flooded := a, a
	closed.Gate, flooded.Gate = passwords(t), passwords(t)
	tired := flooded.Public(false, http.NotFoundHandler())
	for range 20 { // more than one address may try in a row
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/status", http.NoBody)
		r.RemoteAddr = "127.0.0.1:4711"
		r.SetBasicAuth("mara", "wrong")
		tired.ServeHTTP(httptest.NewRecorder(), r)
	}
	return []rejection{
		{reason: "no credentials", handler: closed.Public(false, http.NotFoundHandler()), status: http.StatusUnauthorized, over: true},
		{reason: "a password was tried too often", handler: tired, user: "mara", status: http.StatusTooManyRequests, over: true},
		{reason: "no role says what they may", handler: as(a, access.Nobody), status: http.StatusForbidden, over: true},
		{reason: "all slots are taken", handler: a.guard(bounds{0, maxBody}, a.local(a.routes())), status: http.StatusServiceUnavailable},
		{reason: "a parameter may be misspelt", handler: a.Handler(), query: "?x=1", status: http.StatusBadRequest},
		{reason: "the store may be gone", handler: dead.Handler(), status: http.StatusInternalServerError},
	}
}

// passwords returns a gate that gives mara all permissions, with the password "secret".
func passwords(t *testing.T) *access.Gate {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(file, []byte("mara:"+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := access.New(access.Options{UsersFile: file, Roles: access.Roles{Approver: []string{"mara"}}, Now: now, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// plainest returns the shortest valid request of each operation.
func plainest() []exchange {
	const get, post, remove = http.MethodGet, http.MethodPost, http.MethodDelete
	return []exchange{
		{method: get, target: "/api/v1/report"},
		{method: get, target: "/api/v1/findings"},
		{method: get, target: "/api/v1/outlines"},
		{method: get, target: "/api/v1/findings/0ver"},
		{method: get, target: "/api/v1/findings/0ver/suggestion"},
		{method: get, target: "/api/v1/decisions"},
		{method: post, target: "/api/v1/decisions", body: `{"kind":"acknowledge","findings":["f00d01"]}`},
		{method: remove, target: "/api/v1/decisions/f11e"},
		{method: get, target: "/api/v1/baseline"},
		{method: post, target: "/api/v1/baseline", body: `{"reason":"first day","until":"90d","token":"x"}`},
		{method: get, target: "/api/v1/actions"},
		{method: get, target: "/api/v1/actions/ac71"},
		{method: post, target: "/api/v1/actions/ac71/approve", body: `{"digest":"d19e57"}`},
		{method: post, target: "/api/v1/actions/ac71/decline", body: `{}`},
		{method: post, target: "/api/v1/actions/ac71/cancel", body: `{}`},
		{method: post, target: "/api/v1/actions/ac71/settle", body: `{"as":"failed","reason":"x"}`},
		{method: post, target: "/api/v1/controls", body: `{"kind":"freeze","until":"2h","reason":"sale"}`},
		{method: post, target: "/api/v1/findings/0c0000/reconcile", body: `{"reason":"x"}`},
		{method: get, target: "/api/v1/history?key=Deployment.apps/shop/web"},
		{method: get, target: "/api/v1/diff"},
		{method: get, target: "/api/v1/runs"},
		{method: get, target: "/api/v1/exemptions"},
		{method: get, target: "/api/v1/status"},
		{method: get, target: "/api/v1/preview"},
		{method: post, target: "/api/v1/scan"},
		{method: get, target: "/api/v1/openapi.yaml"},
		{method: get, target: "/api/v1/backup"},
		{method: get, target: "/api/v1/verify"},
		{method: get, target: "/api/v1/audit"},
		{method: get, target: "/api/v1/audit/1"},
		{method: get, target: "/api/v1/auditing/verify"},
		{method: post, target: "/api/v1/auditing/witness"},
		{method: post, target: "/api/v1/auditing/trust", body: `{"reason":"restored"}`},
		{method: post, target: "/api/v1/auditing/erase", body: `{"name":"alice"}`},
	}
}

// everywhere sends each operation the requests that any of them may reject.
func (c *contract) everywhere(t *testing.T, a API) {
	t.Helper()
	all := refusals(t, a)
	for _, q := range plainest() {
		path, _, _ := strings.Cut(q.target, "?")
		for _, refusal := range all {
			q := q
			q.reason, q.handler, q.user, q.status = refusal.reason, refusal.handler, refusal.user, refusal.status
			switch {
			case path == "/api/v1/openapi.yaml" && q.status == http.StatusInternalServerError:
				continue // not served from a store
			case (path == "/api/v1/backup" || path == "/api/v1/verify" || strings.HasPrefix(path, "/api/v1/auditing/")) && refusal.over:
				q.status = http.StatusNotFound
			}
			if refusal.query != "" {
				q.target, q.wrong = path+refusal.query, path == "/api/v1/history" // a request without the required key
			}
			c.check(t, q)
		}
	}
}

func TestAnswersAreWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	c := newContract(t)
	a := rich(t)
	for _, q := range asks(t, a) {
		c.check(t, q)
	}
	c.everywhere(t, a)
	for _, missing := range slices.Sorted(maps.Keys(c.all)) {
		if !c.seen[missing] {
			t.Errorf("no live answer shows %s", missing)
		}
	}
}

// everyFilter has all parameters of a filter.
const everyFilter = "severity=high,low&kind=svc&kind=*&namespace=*&owner=none&owner=*&actor=*&resource=*"

// asks returns requests for the cases of single operations.
func asks(t *testing.T, a API) []exchange {
	t.Helper()
	full := a.Handler()
	empty := a
	empty.Store = emptyStore(t)
	idle := a
	idle.Scanner, idle.Decider, idle.AuditLog, idle.Acting = nil, nil, nil, nil
	counted, err := client(full).PreviewBaseline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const get, post, remove, decisions = http.MethodGet, http.MethodPost, http.MethodDelete, "/api/v1/decisions"
	return append(actionAsks(full, as(a, access.Operator), idle.Handler()), []exchange{
		{"everything", full, get, "/api/v1/report", "", 200, "", false},
		{"what is hidden or over is asked for", full, get, "/api/v1/report?since=2026-03-01&verdict=changed,missing&source=prod,edge&resolved=true&hidden=true", "", 200, "", false},
		{"nothing was scanned", empty.Handler(), get, "/api/v1/report", "", 404, "", false},
		{"an empty answer to a typo looks like good news", full, get, "/api/v1/report?source=prd", "", 404, "", false},
		{"verdicts are a closed list", full, get, "/api/v1/report?verdict=bad", "", 400, "", true},
		{"a moment has a form", full, get, "/api/v1/report?since=soon", "", 400, "", false},
		{"everything", full, get, "/api/v1/findings?resolved=true&hidden=true", "", 200, "", false},
		{"a selection", full, get, "/api/v1/findings?since=7d&verdict=changed&source=prod&resolved=false&hidden=false", "", 200, "", false},
		{"a filter", full, get, "/api/v1/findings?hidden=true&resolved=true&" + everyFilter, "", 200, "", false},
		{"a severity that does not exist", full, get, "/api/v1/findings?severity=hihg", "", 400, "", true},
		{"a malformed pattern", full, get, "/api/v1/findings?owner=%5B", "", 400, "", false},
		{"nothing was scanned", empty.Handler(), get, "/api/v1/findings", "", 200, "", false},
		{"nothing was scanned, and a source is named", empty.Handler(), get, "/api/v1/findings?source=prod", "", 404, "", false},
		{"a page", full, get, "/api/v1/findings?limit=2&offset=3", "", 200, "", false},
		{"behind the last", full, get, "/api/v1/findings?offset=10000", "", 200, "", false},
		{"nothing is no page", full, get, "/api/v1/findings?limit=0", "", 400, "", true},
		{"a page is bounded", full, get, "/api/v1/findings?limit=10001", "", 400, "", true},
		{"nothing is before the first", full, get, "/api/v1/findings?offset=-1", "", 400, "", true},
		{"yes is no boolean", full, get, "/api/v1/findings?resolved=yes", "", 400, "", true},
		{"whole", full, get, "/api/v1/findings/f00d01", "", 200, "", false},
		{"the beginning is enough", full, get, "/api/v1/findings/0ver", "", 200, "", false},
		{"of the whole", full, get, "/api/v1/findings/f00d01/suggestion", "", 200, "", false},
		{"of an absent one", full, get, "/api/v1/findings/dead/suggestion", "", 404, "", false},
		{"of several", full, get, "/api/v1/findings/0/suggestion", "", 409, "", false},
		{"it may be wrong", full, get, "/api/v1/findings/dead", "", 404, "", false},
		{"it may be too short", full, get, "/api/v1/findings/0", "", 409, "", false},
		{"before anybody decides", full, get, decisions, "", 200, "", false},
		{"what a baseline would accept", full, get, "/api/v1/baseline", "", 200, "", false},
		{"nothing was scanned", empty.Handler(), get, "/api/v1/baseline", "", 404, "", false},
		{"a baseline is of what was counted", full, post, "/api/v1/baseline", `{"reason":"first day","until":"90d","token":"x","incomplete":true}`, 400, "", false},
		{"a body is bounded", full, post, "/api/v1/baseline", `{"reason":"` + strings.Repeat("x", maxBody) + `","until":"90d","token":"x"}`, 413, "", true},
		{"all is accepted", full, post, "/api/v1/baseline", `{"reason":"first day","owner":"shop","until":"90d","token":"` + counted.Token + `","incomplete":true}`, 200, "", false},
		{"one is accepted", full, post, decisions, `{"kind":"accept","findings":["0a0000"],"reason":"sale","owner":"shop","until":"30d"}`, 200, "", false},
		{"two are acknowledged", full, post, decisions, `{"kind":"acknowledge","findings":["0b0000","0c00"]}`, 200, "", false},
		{"one is snoozed", full, post, decisions, `{"kind":"snooze","findings":["0d0000"],"until":"2026-03-02"}`, 200, "", false},
		{"one is accepted forever", full, post, decisions, `{"kind":"accept","findings":["0e0000"],"reason":"so be it","owner":"shop","until":"forever"}`, 200, "", false},
		{"it is accepted again", full, post, decisions, `{"kind":"accept","findings":["0e0000"],"reason":"longer sale","owner":"shop","until":"60d"}`, 200, "", false},
		{"the replaced one is listed", full, get, decisions, "", 200, "", false},
		{"a kind is one of three", full, post, decisions, `{"kind":"ignore","findings":["0a0000"]}`, 400, "", true},
		{"a reason is a text", full, post, decisions, `{"kind":"snooze","findings":["0a0000"],"reason":1}`, 400, "", true},
		{"a typo is not ignored", full, post, decisions, `{"kind":"snooze","findings":["0a0000"],"end":"30d"}`, 400, "", true},
		{"something is decided about", full, post, decisions, `{"kind":"acknowledge","findings":[]}`, 400, "", true},
		{"a slip may be unique", full, post, decisions, `{"kind":"acknowledge","findings":["0a0"]}`, 400, "", true},
		{"a snooze has an end", full, post, decisions, `{"kind":"snooze","findings":["0a0000"]}`, 400, "", false},
		{"an id may be wrong", full, post, decisions, `{"kind":"acknowledge","findings":["dead"]}`, 404, "", false},
		{"an id may be too short", full, post, decisions, `{"kind":"acknowledge","findings":["f00d"]}`, 409, "", false},
		{"a body is bounded", full, post, decisions, `{"kind":"acknowledge","findings":["0a0000"],"reason":"` + strings.Repeat("x", maxBody) + `"}`, 413, "", true},
		{"after that", full, get, decisions, "", 200, "", false},
		{"findings show it", full, get, "/api/v1/findings?hidden=true", "", 200, "", false},
		{"outlines show it", full, get, "/api/v1/outlines?resolved=true&hidden=true", "", 200, "", false},
		{"a selection of outlines", full, get, "/api/v1/outlines?since=7d&verdict=changed&source=prod&limit=2&offset=1&" + everyFilter, "", 200, "", false},
		{"nothing was scanned", empty.Handler(), get, "/api/v1/outlines", "", 200, "", false},
		{"no such source", full, get, "/api/v1/outlines?source=prd", "", 404, "", false},
		{"taken back", full, remove, decisions + "/0102", "", 200, "", false},
		{"taken back already", full, remove, decisions + "/0102", "", 404, "", false},
		{"a file says so again", full, remove, decisions + "/f11e00", "", 409, "", false},
		{"a slip may be unique", full, remove, decisions + "/f11", "", 400, "", true},
		{"no decider", idle.Handler(), post, decisions, `{"kind":"acknowledge","findings":["0a0000"]}`, 503, "", false},
		{"no decider", idle.Handler(), remove, decisions + "/f11e00", "", 503, "", false},
		{"it changed", full, get, "/api/v1/history?key=Deployment.apps/shop/web", "", 200, "", false},
		{"it went", full, get, "/api/v1/history?key=ConfigMap/shop/old", "", 200, "", false},
		{"a key may be wrong", full, get, "/api/v1/history?key=Pod/x", "", 404, "", false},
		{"a key may be too short", full, get, "/api/v1/history?key=ConfigMap/shop/web", "", 409, "", false},
		{"a history is of something", full, get, "/api/v1/history", "", 400, "", true},
		{"since the first scan", full, get, "/api/v1/diff?source=prod&from=90m&to=now", "", 200, "", false},
		{"an empty difference looks like good news", full, get, "/api/v1/diff?source=prd", "", 404, "", false},
		{"time has a direction", full, get, "/api/v1/diff?from=now&to=1h", "", 400, "", false},
		{"the last", full, get, "/api/v1/runs?limit=1", "", 200, "", false},
		{"none", empty.Handler(), get, "/api/v1/runs", "", 200, "", false},
		{"an answer is bounded", full, get, "/api/v1/runs?limit=1001", "", 400, "", true},
		{"nothing is none", full, get, "/api/v1/runs?limit=0", "", 400, "", true},
		{"the last scan's", full, get, "/api/v1/exemptions", "", 200, "", false},
		{"none", empty.Handler(), get, "/api/v1/exemptions", "", 200, "", false},
		{"it takes nothing", full, get, "/api/v1/exemptions?limit=1", "", 400, "", false},
		{"all declarations", full, get, "/api/v1/preview", "", 200, "", false},
		{"of one declaration", full, get, "/api/v1/preview?declaration=shop", "", 200, "", false},
		{"nothing yet", empty.Handler(), get, "/api/v1/preview", "", 200, "", false},
		{"it takes nothing else", full, get, "/api/v1/preview?source=prod", "", 400, "", false},
		{"everything", full, get, "/api/v1/status", "", 200, "", false},
		{"nothing yet", empty.Handler(), get, "/api/v1/status", "", 200, "", false},
		{"of some sources", full, post, "/api/v1/scan?source=prod,edge", "", 200, "", false},
		{"a source may be wrong", full, post, "/api/v1/scan?source=prd", "", 404, "", false},
		{"no daemon runs", idle.Handler(), post, "/api/v1/scan", "", 503, "", false},
		{"all of the store", full, get, "/api/v1/backup", "", 200, "", false},
		{"what is damaged in it", full, get, "/api/v1/verify", "", 200, "", false},
		{"the newest entries", full, get, "/api/v1/audit?before=7&limit=3", "", 200, "", false},
		{"an index is positive", full, get, "/api/v1/audit?before=0", "", 400, "", true},
		{"an entry", full, get, "/api/v1/audit/1", "", 200, "", false},
		{"an entry with names", full, get, "/api/v1/audit/1?names=true", "", 200, "", false},
		{"a flag is true or false", full, get, "/api/v1/audit/1?names=who", "", 400, "", true},
		{"an entry that was edited has no proof", full, get, "/api/v1/audit/0", "", 200, "", false},
		{"there is no such entry", full, get, "/api/v1/audit/7", "", 404, "", false},
		{"an index is a number", full, get, "/api/v1/audit/x", "", 400, "", true},
		{"faults of the log", full, get, "/api/v1/auditing/verify", "", 200, "", false},
		{"no log", idle.Handler(), get, "/api/v1/auditing/verify", "", 503, "", false},
		{"the head is sent", full, post, "/api/v1/auditing/witness", "", 200, "", false},
		{"it takes nothing", full, post, "/api/v1/auditing/witness?name=x", "", 400, "", false},
		{"a person settles them", full, post, "/api/v1/auditing/trust", `{"reason":"restored"}`, 200, "", false},
		{"a reason is needed", full, post, "/api/v1/auditing/trust", `{"reason":" "}`, 400, "", true},
		{"a body is bounded", full, post, "/api/v1/auditing/trust", `{"reason":"` + strings.Repeat("x", maxBody) + `"}`, 413, "", false},
		{"a body is bounded", full, post, "/api/v1/auditing/erase", `{"name":"` + strings.Repeat("x", maxBody) + `"}`, 413, "", false},
		{"a name is erased", full, post, "/api/v1/auditing/erase", `{"name":"alice"}`, 200, "", false},
		{"no entry has it", full, post, "/api/v1/auditing/erase", `{"name":"nina"}`, 404, "", false},
		{"itself", full, get, "/api/v1/openapi.yaml", "", 200, "", false},
	}...)
}
