package fetch_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A stranger is a server that must not get the password.
type stranger struct {
	*httptest.Server

	mu   sync.Mutex
	seen []string
}

// strange starts a stranger, which redirects /hop to itself.
func strange(t *testing.T) *stranger {
	t.Helper()
	s := &stranger{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen = append(s.seen, r.URL.Path+" "+r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/hop":
			http.Redirect(w, r, "/stop", http.StatusFound)
		case "/token":
			_, _ = fmt.Fprint(w, `{"token": "ticket"}`)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+s.URL+`/token",service="s"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestRedirect sends no password where a redirect leads, also on the second hop and to another port of
// the same host.
func TestRedirect(t *testing.T) {
	t.Parallel()
	for _, oci := range []bool{true, false} {
		other := strange(t)
		s := start(t)
		settings := s.settings(t, oci)
		inner := s.Config.Handler
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" && r.URL.Path != "/token" {
				http.Redirect(w, r, other.URL+"/hop", http.StatusFound)
				return
			}
			inner.ServeHTTP(w, r)
		})
		_, _, err := read(t, settings)
		if err == nil || !strings.Contains(err.Error(), "the server answers 401") {
			t.Errorf("oci %t: %v", oci, err)
		}
		if got := strings.Join(other.seen, ", "); got != "/hop , /stop " {
			t.Errorf("oci %t: another host has got %q", oci, got)
		}
	}
}

// TestTokenHost sends the password to another host for tokens only if that is set.
func TestTokenHost(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ set, anonymous bool }{
		"not set": {}, "set": {set: true}, "no password": {anonymous: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, other := start(t), strange(t)
			s.realm = other.URL + "/token"
			settings := s.settings(t, true)
			host := strings.TrimPrefix(other.URL, "http://")
			if tc.set {
				settings.TokenHost = host
			}
			if tc.anonymous {
				settings.Username, settings.PasswordFile = "", ""
			}
			_, got, err := read(t, settings)
			if tc.set || tc.anonymous {
				if err != nil || got != archive || len(other.seen) == 0 || strings.Contains(other.seen[0], "Basic") != tc.set {
					t.Errorf("%q, %v, %q", got, err, other.seen)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), host) || !strings.Contains(err.Error(), "set chart_token_host") || len(other.seen) > 0 {
				t.Errorf("%v, %q", err, other.seen)
			}
		})
	}
}

// TestServerText shows no text of a server that does not speak HTTP.
func TestServerText(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"HTTP/1.1 200 OK\r\nbad header token=abc\r\n\r\n",
		"HTTP/1.1 302 Found\r\nLocation: http://%zz-token=abc\r\n\r\n",
		"HTTP/1.1 302 Found\r\nLocation: https://token=abc.invalid/\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: token=abc\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: token=abc\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ntoken=abc\r\n",
		"HTTP/1.1 token=abc\r\n\r\n",
		"token=abc\r\n\r\n",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			hijacker, ok := w.(http.Hijacker)
			if !ok {
				return
			}
			if c, _, err := hijacker.Hijack(); err == nil {
				_, _ = c.Write([]byte(raw))
				_ = c.Close()
			}
		}))
		for _, oci := range []bool{true, false} {
			settings := plain(s.URL, "blog.tgz", t.TempDir())
			if oci {
				settings.OCI, settings.Repo, settings.Chart = strings.Replace(s.URL, "http:", "oci:", 1)+"/charts/blog", "", ""
			}
			_, _, err := read(t, settings)
			if err == nil || strings.Contains(err.Error(), "abc") {
				t.Errorf("oci %t, %q: %v", oci, raw, err)
			}
		}
		s.Close()
	}
}
