package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
)

func TestCollectRetries(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		answer http.HandlerFunc
		least  time.Duration
	}{
		"500":                     {reason: "the error is temporary", answer: func(w http.ResponseWriter, _ *http.Request) { refuse(w, 500, "etcd leader changed") }, least: 200 * time.Millisecond},
		"503":                     {reason: "the server restarts", answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, least: 200 * time.Millisecond},
		"429":                     {reason: "the pause is that of Retry-After", answer: busy("7"), least: 7 * time.Second},
		"truncated":               {reason: "the connection breaks", answer: write(`{"kind":"DeploymentList","items":[{"metadata"`), least: 200 * time.Millisecond},
		"truncated after an item": {reason: "items of a truncated page are dropped", answer: write(`{"kind":"DeploymentList","items":[{"metadata":{"name":"x"}}`), least: 200 * time.Millisecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				var failed atomic.Bool
				f.before = func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path != deployments || failed.Swap(true) {
						return false
					}
					tt.answer(w, r)
					return true
				}
				began := time.Now()
				s, err := newTestCluster(t, f, nil).Collect(t.Context())
				if err != nil || len(s.Resources) != 7 || coverage(s)["Deployment.apps"] != "ok" {
					t.Errorf("%s: %v, %v, %s", tt.reason, err, keys(s), coverage(s)["Deployment.apps"])
				}
				if took := time.Since(began); took < tt.least || took > tt.least+time.Second {
					t.Errorf("%s: it took %s, want %s", tt.reason, took, tt.least)
				}
			})
		})
	}
}

func busy(seconds string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", seconds)
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

func TestCollectBoundsRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.before = at(deployments, busy("3600"))
		began := time.Now()
		s, err := newTestCluster(t, f, nil).Collect(t.Context())
		if err != nil || coverage(s)["Deployment.apps"] == "ok" {
			t.Errorf("Collect() = %v", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("Collect() took %s with a Retry-After of one hour", took)
		}
	})
}

func TestCollectUnresponsiveGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		for i := range 20 {
			f.kinds = append(f.kinds, fakeKind{"slow.example.org", "v1", fmt.Sprintf("slow%d", i), fmt.Sprintf("Slow%d", i), false, readable})
		}
		began := time.Now()
		others := map[string]time.Duration{}
		f.before = func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "slow") {
				<-r.Context().Done()
				return true
			}
			f.mu.Lock()
			others[r.URL.Path] = time.Since(began)
			f.mu.Unlock()
			return false
		}
		s, err := newTestCluster(t, f, nil).Collect(t.Context())
		if err != nil || len(s.Resources) != 7 {
			t.Fatalf("Collect() = %v, %v", keys(s), err)
		}
		for path, after := range others {
			if after > time.Second {
				t.Errorf("%s was read after %s", path, after)
			}
		}
		if reason := coverage(s)["Slow1.slow.example.org"]; !strings.Contains(reason, "no full answer within 30s: raise timeout") {
			t.Errorf("coverage of an unresponsive kind: %q", reason)
		}
	})
}

func TestCollectFailsAsAWhole(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		before func(http.ResponseWriter, *http.Request) bool
		want   string
	}{
		"discovery 401": {
			reason: "the credentials are invalid",
			before: func(w http.ResponseWriter, _ *http.Request) bool { refuse(w, 401, "Unauthorized"); return true },
			want:   "read https://api.example.org:6443: 401 Unauthorized; the credentials were rejected: renew the token or certificate, or log in again",
		},
		"discovery 403": {
			reason: "discovery requires a permission",
			before: func(w http.ResponseWriter, _ *http.Request) bool { refuse(w, 403, "no"); return true },
			want:   "read https://api.example.org:6443: 403 Forbidden: no; grant the user the cluster role system:discovery, and get, list and watch on the kinds to read",
		},
		"every list 401": {
			reason: "the token expires between discovery and the lists",
			before: func(w http.ResponseWriter, r *http.Request) bool {
				if strings.Count(r.URL.Path, "/") < 3 {
					return false
				}
				refuse(w, 401, "Unauthorized")
				return true
			},
			want: "read https://api.example.org:6443: list configmaps: 401 Unauthorized; the credentials were rejected: renew the token or certificate, or log in again",
		},
		"another server": {
			reason: "the server is not an API server",
			before: func(w http.ResponseWriter, _ *http.Request) bool {
				_, _ = io.WriteString(w, `{"ok":true}`)
				return true
			},
			want: `read https://api.example.org:6443: /api answers with kind "": this is not a Kubernetes API server; run kubectl get --raw /version with the same kubeconfig for details`,
		},
		"no answer": {
			reason: "the server does not answer within the timeout",
			before: func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true },
			want:   "read https://api.example.org:6443: no full answer within 30s; see that the address and the firewalls on the way let driftd through, or raise timeout",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.before = tt.before
				_, err := newTestCluster(t, f, nil).Collect(t.Context())
				var access *httpclient.Error
				if !errors.As(err, &access) || err.Error() != tt.want {
					t.Errorf("%s: Collect() =\n%v, want\n%s", tt.reason, err, tt.want)
				}
			})
		})
	}
}

func TestCollectReconnectsAfterFailure(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.before = func(w http.ResponseWriter, _ *http.Request) bool { refuse(w, 401, "Unauthorized"); return true }
	c := newTestCluster(t, f, nil)
	connects, connect := 0, c.connect
	c.connect = func() (*client, error) {
		connects++
		return connect()
	}
	for range 2 {
		if _, err := c.Collect(t.Context()); err == nil {
			t.Fatal("no error")
		}
	}
	f.before = nil
	for range 2 {
		if _, err := c.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if connects != 3 {
		t.Errorf("connected %d times, want 3: once after each failure, and not after a success", connects)
	}
}

func TestCollectTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.before = at(deployments, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		s, err := newTestCluster(t, f, nil).Collect(ctx)
		if err != nil || time.Since(began) > 5*time.Second {
			t.Fatalf("Collect() = %v after %s", err, time.Since(began))
		}
		read := coverage(s)
		for kind, want := range map[string]string{"ConfigMap": "ok", "Node": "ok", "Deployment.apps": "timed out before the end of the scan: raise timeout of the source"} {
			if read[kind] != want {
				t.Errorf("coverage of %s: %q, want %q", kind, read[kind], want)
			}
		}
		if len(s.Resources) == 0 {
			t.Error("resources that were read before the timeout are lost")
		}
	})
}
