package backend_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/declared/terraform/state/backend"
)

// An opener opens the only state, or all matches of a pattern, at the address of a test server.
type opener func(t *testing.T, at *service, authority, pattern string) *backend.Source

func plugs() map[string]opener {
	return map[string]opener{
		"S3": func(t *testing.T, at *service, authority, pattern string) *backend.Source {
			s := s3Settings(t, at.URL, "hunter2")
			s.S3.CAFile, s.S3.PathStyle = authority, true
			return open(t, "s3://bucket/app"+pattern, s)
		},
		"Consul": func(t *testing.T, at *service, authority, pattern string) *backend.Source {
			s := settings()
			s.Consul.CAFile, s.Consul.TokenFile = authority, file(t, "hunter2")
			return open(t, "consul://"+at.host()+"/app"+pattern, s)
		},
		"Kubernetes": func(t *testing.T, at *service, authority, pattern string) *backend.Source {
			s := settings()
			s.Kubernetes.Kubeconfig = file(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"a","contexts":[{"name":"a","context":{"cluster":"a","user":"a"}}],
				"clusters":[{"name":"a","cluster":{"server":%q,"certificate-authority":%q}}],"users":[{"name":"a","user":{"token":"hunter2"}}]}`, at.URL, authority))
			if pattern != "" {
				s.Workspaces = []string{"*"}
			}
			return open(t, "kubernetes://infra/app", s)
		},
		"Remote": func(t *testing.T, at *service, authority, pattern string) *backend.Source {
			s := settings()
			s.Remote = backend.Remote{TokenFile: file(t, "hunter2"), CAFile: authority}
			return open(t, "remote://"+at.host()+"/shop/app"+pattern, s)
		},
	}
}

// plain returns the openers that trust only the system's authorities. They are tested without TLS,
// on a loopback address.
func plain() map[string]opener {
	return map[string]opener{
		"GS": func(t *testing.T, at *service, _, pattern string) *backend.Source {
			s := settings()
			s.GS.Endpoint, s.GS.Anonymous = at.URL, true
			return open(t, "gs://bucket/app"+pattern, s)
		},
		"Azure": func(t *testing.T, at *service, _, pattern string) *backend.Source {
			s := settings()
			s.Azure.Endpoint, s.Azure.SASTokenFile = at.URL, file(t, "sig=hunter2")
			return open(t, "azurerm://shop/states/app"+pattern, s)
		},
		"Web": func(t *testing.T, at *service, _, _ string) *backend.Source {
			s := settings()
			s.HTTP.Username, s.HTTP.PasswordFile = "ci", file(t, "hunter2")
			return open(t, at.URL+"/app", s)
		},
	}
}

// A fault is a response that a store must not send.
type fault struct {
	reason string
	answer http.HandlerFunc
	want   string
}

func faults() map[string]fault {
	code := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600") // so that no test waits
			w.WriteHeader(code)
			fmt.Fprint(w, "<p>password hunter2")
		}
	}
	return map[string]fault{
		"Unauthorized": {"not signed in", code(http.StatusUnauthorized), "the server answered 401 Unauthorized; "},
		"Forbidden":    {"not allowed", code(http.StatusForbidden), "the server answered 403 Forbidden; "},
		"Absent":       {"nothing there", code(http.StatusNotFound), "there is no state; check the location"},
		"TooMany":      {"too many requests", code(http.StatusTooManyRequests), "the server answered 429 Too Many Requests"},
		"Broken":       {"a broken server", code(http.StatusInternalServerError), "the server answered 500 Internal Server Error"},
		"Elsewhere": {"a redirect to another host", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://evil.example.org/")
			w.WriteHeader(http.StatusFound)
		}, "the server redirects to https://evil.example.org; set that address"},
		"Circles": {"a redirect to itself", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", r.URL.Path)
			w.WriteHeader(http.StatusFound)
		}, "the server redirects too often"},
	}
}

func eachOpener(t *testing.T, test func(t *testing.T, p opener, start func(http.HandlerFunc) (*service, string))) {
	t.Helper()
	for name, p := range plugs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, p, func(answer http.HandlerFunc) (*service, string) { return serveTLS(t, answer) })
		})
	}
	for name, p := range plain() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, p, func(answer http.HandlerFunc) (*service, string) { return serve(t, answer), "" })
		})
	}
}

func TestContractFaults(t *testing.T) {
	t.Parallel()
	eachOpener(t, func(t *testing.T, p opener, start func(http.HandlerFunc) (*service, string)) {
		t.Helper()
		for name, f := range faults() {
			for _, pattern := range []string{"", "*"} {
				t.Run(name+pattern, func(t *testing.T) {
					t.Parallel()
					at, authority := start(f.answer)
					got, err := all(t.Context(), p(t, at, authority, pattern))
					if err == nil || !strings.Contains(err.Error(), f.want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
						t.Errorf("%s: got %v, %v, want %q", f.reason, got, err, f.want)
					}
				})
			}
		}
	})
}

// TestContractListing checks that an invalid listing is an error, and not an empty listing.
func TestContractListing(t *testing.T) {
	t.Parallel()
	eachOpener(t, func(t *testing.T, p opener, start func(http.HandlerFunc) (*service, string)) {
		t.Helper()
		for name, answer := range map[string]string{"HTML": "<!doctype html><html>Sign in", "Truncated": `{"items":[{"na`, "Empty": "", "Null": "null"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				at, authority := start(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
				source := p(t, at, authority, "*")
				if addresses, err := source.List(t.Context()); err == nil && addresses[0] != at.URL+"/app" {
					t.Errorf("got %v, want an error", addresses)
				}
			})
		}
	})
}

func TestContractHangs(t *testing.T) {
	t.Parallel()
	eachOpener(t, func(t *testing.T, p opener, start func(http.HandlerFunc) (*service, string)) {
		t.Helper()
		at, authority := start(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		source := p(t, at, authority, "")
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := all(ctx, source); !errors.Is(ctx.Err(), context.DeadlineExceeded) || err == nil {
			t.Errorf("got %v", err)
		}
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
	})
	s := settings()
	s.Timeout = 50 * time.Millisecond
	_, err := all(t.Context(), open(t, at.URL+"/state", s))
	if err == nil || !strings.Contains(err.Error(), "timeout after 50ms; raise backend.timeout") {
		t.Errorf("a body that does not arrive: got %v", err)
	}
}

func TestTruncatedBody(t *testing.T) {
	t.Parallel()
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, content)
	})
	_, err := all(t.Context(), open(t, at.URL+"/state", settings()))
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want an unexpected end", err)
	}
}
