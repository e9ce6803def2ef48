package openstacktest

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestServer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, method, path string
		token                bool
		code                 int
		strange              bool
	}{
		"list":              {"a page of a list", http.MethodGet, Servers + "?limit=2", true, http.StatusOK, false},
		"no token":          {"nothing without a token", http.MethodGet, Servers, false, http.StatusUnauthorized, false},
		"unknown":           {"unknown paths are reported", http.MethodGet, nova + "images", true, http.StatusNotImplemented, true},
		"unknown parameter": {"a parameter too", http.MethodGet, Networks + "?colour=red", true, http.StatusNotImplemented, true},
		"write":             {"nothing is written", http.MethodDelete, Servers, true, http.StatusNotImplemented, true},
		"marker":            {"a marker has to be there", http.MethodGet, Ports + "?marker=x", true, http.StatusNotFound, false},
		"versions":          {"the version needs no token", http.MethodGet, nova, false, http.StatusOK, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New(Small(), rand.New(rand.NewPCG(1, 1)))
			strange := false
			s.Strange = func(string) { strange = true }
			token := ""
			if tc.token {
				token = logIn(t, s)
			}
			w := ask(t, s, tc.method, tc.path, token, "")
			if w.Code != tc.code || strange != tc.strange {
				t.Errorf("%d, strange: %t: %s", w.Code, strange, tc.reason)
			}
		})
	}
}

func TestPagesEnd(t *testing.T) {
	t.Parallel()
	s := New(Small(), rand.New(rand.NewPCG(1, 1)))
	token, marker, rules := logIn(t, s), "", 0
	for range 10 {
		path := Rules + "?limit=3"
		if marker != "" {
			path += "&marker=" + marker
		}
		var answer struct {
			Rules []struct{ ID string } `json:"security_group_rules"`
			Links []Row                 `json:"security_group_rules_links"`
		}
		if err := json.Unmarshal(ask(t, s, http.MethodGet, path, token, "").Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		rules += len(answer.Rules)
		if len(answer.Links) == 0 {
			break
		}
		marker = answer.Rules[len(answer.Rules)-1].ID
	}
	if rules != 7 {
		t.Errorf("%d rules", rules)
	}
}

func logIn(t *testing.T, s *Server) string {
	t.Helper()
	w := ask(t, s, http.MethodPost, keystone+"auth/tokens", "", `{"auth":{"identity":{"methods":["password"],"password":{"user":{"name":"admin","password":"`+Password+`"}}},"scope":{"project":{"name":"web"}}}}`)
	if w.Code != http.StatusCreated {
		t.Fatalf("login: %d", w.Code)
	}
	return w.Header().Get("X-Subject-Token")
}

func ask(t *testing.T, s *Server, method, path, token, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("X-Auth-Token", token)
	s.ServeHTTP(w, r)
	return w
}
