package server

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// TestRoles verifies the permissions of each role over TCP.
func TestRoles(t *testing.T) {
	t.Parallel()
	const decisions = "/api/v1/decisions"
	tests := map[string]struct {
		reason         string
		method, target string
		body           string
		needs          access.Role
	}{
		"health":         {"a balancer asks without a name", http.MethodGet, "/healthz", "", access.Nobody},
		"readiness":      {"a balancer asks without a name", http.MethodGet, "/readyz", "", access.Nobody},
		"report":         {"findings are not for everybody", http.MethodGet, "/api/v1/report", "", access.Viewer},
		"metrics":        {"they name sources", http.MethodGet, "/metrics", "", access.Viewer},
		"pages":          {"what is no page of the API's is theirs", http.MethodGet, "/timeline", "", access.Nobody},
		"scan":           {"a scan costs the sources something", http.MethodPost, "/api/v1/scan", "", access.Operator},
		"acknowledge":    {"somebody looks after it", http.MethodPost, decisions, `{"kind":"acknowledge","findings":["f00d01"]}`, access.Operator},
		"accept":         {"it may stay for a while", http.MethodPost, decisions, `{"kind":"accept","findings":["f00d01"],"reason":"sale","owner":"shop","until":"7d"}`, access.Operator},
		"accept forever": {"no later review", http.MethodPost, decisions, `{"kind":"accept","findings":["f00d01"],"reason":"sale","owner":"shop","until":" forever "}`, access.Approver},
		"revoke another": {"somebody else decided it", http.MethodDelete, decisions + "/f11e", "", access.Approver},
	}
	for name, tc := range tests {
		for role := access.Nobody; role <= access.Approver; role++ {
			t.Run(name+"/"+role.String(), func(t *testing.T) {
				t.Parallel()
				a := deciding(t)
				a.Scanner = scanner(func(context.Context, []string) (model.Report, error) { return model.Report{}, nil })
				a.Metrics = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
				status, body := ask(t, open(t, a, role), tc.method, tc.target, tc.body)
				refused := status == http.StatusUnauthorized || status == http.StatusForbidden
				if refused != (role < tc.needs) {
					t.Errorf("%s %s as %s = %d %s (%s)", tc.method, tc.target, role, status, body, tc.reason)
				}
			})
		}
	}
}

// ask sends a request as a newly loaded page does.
func ask(t *testing.T, h http.Handler, method, target, body string) (int, string) {
	t.Helper()
	newRequest := func(method, target, body string) *http.Request {
		return httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:9797"+target, strings.NewReader(body))
	}
	page := httptest.NewRecorder()
	h.ServeHTTP(page, newRequest(http.MethodGet, "/", ""))
	r, w := newRequest(method, target, body), httptest.NewRecorder()
	r.Header.Set("X-CSRF-Token", page.Header().Get("X-Token"))
	for _, cookie := range page.Result().Cookies() {
		r.AddCookie(cookie)
	}
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestDecidedOverTCP(t *testing.T) {
	t.Parallel()
	a := deciding(t)
	h := open(t, a, access.Operator)
	if status, body := ask(t, h, http.MethodPost, "/api/v1/decisions", `{"kind":"acknowledge","findings":["f00d01"]}`); status != http.StatusOK {
		t.Fatalf("acknowledge = %d %s", status, body)
	}
	list, err := a.Store.Decisions()
	if err != nil {
		t.Fatal(err)
	}
	var mine model.Decision
	for _, d := range list {
		if d.Finding == "f00d01" && d.Kind == model.Acknowledge {
			mine = d
		}
	}
	if mine.Via != "web" || mine.By == "" || mine.By == "unknown" {
		t.Errorf("decided by %q via %q, want the visitor, via web", mine.By, mine.Via)
	}
	if status, body := ask(t, h, http.MethodDelete, "/api/v1/decisions/"+mine.ID, ""); status != http.StatusOK {
		t.Errorf("an operator may not take back what they decided: %d %s", status, body)
	}
}

// TestReplacing verifies that a visitor who may not revoke a decision cannot replace it either.
func TestReplacing(t *testing.T) {
	t.Parallel()
	const short = `{"kind":"accept","findings":["f00d0"],"reason":"x","owner":"x","until":"1s"}`
	accept, snooze := strings.Replace(short, "f00d0", "f00d01", 1), `{"kind":"snooze","findings":["f00d01"],"until":"1s"}`
	tests := map[string]struct {
		reason string
		held   model.Decision
		role   access.Role
		body   string
		status int
	}{
		"shorten":        {"an end in a second takes it back", model.Decision{Kind: model.Accept, By: "bob"}, access.Operator, accept, http.StatusForbidden},
		"approver":       {"who may take it back may replace it", model.Decision{Kind: model.Accept, By: "bob"}, access.Approver, accept, http.StatusOK},
		"own":            {"what one decided oneself", model.Decision{Kind: model.Accept, By: "somebody on this host"}, access.Operator, accept, http.StatusOK},
		"ended":          {"what has ended holds no more", model.Decision{Kind: model.Accept, By: "bob", Until: now()}, access.Operator, accept, http.StatusOK},
		"other basis":    {"it was about something else", model.Decision{Kind: model.Accept, By: "bob", Basis: "before"}, access.Operator, accept, http.StatusOK},
		"other finding":  {"it is about another finding", model.Decision{Kind: model.Accept, By: "bob", Finding: "f00d02", Basis: "basis1"}, access.Operator, accept, http.StatusOK},
		"other kind":     {"it does not end the acceptance", model.Decision{Kind: model.Accept, By: "bob"}, access.Operator, snooze, http.StatusOK},
		"snooze":         {"somebody wanted quiet", model.Decision{Kind: model.Snooze, By: "bob"}, access.Operator, snooze, http.StatusForbidden},
		"next on call":   {"who is on it may change", model.Decision{Kind: model.Acknowledge, By: "bob"}, access.Operator, `{"kind":"acknowledge","findings":["f00d01"]}`, http.StatusOK},
		"several":        {"one of them is enough", model.Decision{Kind: model.Accept, By: "bob"}, access.Operator, strings.Replace(accept, `"f00d01"`, `"f00d02","f00d01"`, 1), http.StatusForbidden},
		"beginning":      {"however little is written of it", model.Decision{Kind: model.Accept, By: "bob", Finding: "beef01", Basis: "basis2"}, access.Operator, strings.Replace(accept, "f00d01", "beef", 1), http.StatusForbidden},
		"no one finding": {"the beginning of two", model.Decision{Kind: model.Accept, By: "bob"}, access.Operator, short, http.StatusConflict},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, held := deciding(t), tc.held
			held.ID, held.Finding, held.Basis = "dec1de", cmp.Or(held.Finding, "f00d01"), cmp.Or(held.Basis, "basis0")
			s, ok := a.Store.(*store.Store)
			if !ok {
				t.Fatal("no store")
			}
			if err := s.Decide([]model.Decision{held}, begin()); err != nil {
				t.Fatal(err)
			}
			if status, body := ask(t, open(t, a, tc.role), http.MethodPost, "/api/v1/decisions", tc.body); status != tc.status {
				t.Errorf("%d %s, want %d: %s", status, body, tc.status, tc.reason)
			}
		})
	}
}

func TestNotLoggedIn(t *testing.T) {
	t.Parallel()
	a := api(t)
	a.Waiting = func() []string { return []string{"source prod: not scanned yet"} }
	h := open(t, a, access.Nobody)
	if _, body := ask(t, h, http.MethodGet, "/readyz", ""); strings.Contains(body, "prod") {
		t.Errorf("/readyz names a source without a login: %q", body)
	}
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.WriteString(w, "page "+r.URL.Path); err != nil {
			t.Error(err)
		}
	})
	a.Gate = gate(t, access.Nobody)
	for target, want := range map[string]string{"/": "page /", "/findings/f00d": "page /findings/f00d", "/api/v2": "page not found"} {
		if _, body := ask(t, a.Public(true, pages), http.MethodGet, target, ""); !strings.Contains(body, want) {
			t.Errorf("GET %s = %q, want %q", target, body, want)
		}
	}
}
