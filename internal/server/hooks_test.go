package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/trigger"
)

// hooks responds with the trigger's name and the size of the body, or the error of reading it.
func hooks(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	fmt.Fprint(w, r.PathValue("name"), " ", n, " ", err)
}

func TestHooks(t *testing.T) {
	t.Parallel()
	a := api(t)
	without := a
	a.Hooks = http.HandlerFunc(hooks)
	tests := map[string]struct {
		reason         string
		handler        http.Handler
		method, target string
		status         int
		want           string
	}{
		"on the socket":     {"whoever may ask for all", a.Handler(), http.MethodPost, "/hooks/push", http.StatusOK, "push 0 <nil>"},
		"over TCP":          {"and everybody else", viewed(t, a), http.MethodPost, "/hooks/push", http.StatusOK, "push 0 <nil>"},
		"another method":    {"a hook is sent", viewed(t, a), http.MethodGet, "/hooks/push", http.StatusNotFound, "page not found"},
		"no name":           {"to some trigger", viewed(t, a), http.MethodPost, "/hooks/", http.StatusNotFound, "page not found"},
		"below a name":      {"and to nothing below it", viewed(t, a), http.MethodPost, "/hooks/push/x", http.StatusNotFound, "page not found"},
		"without hooks":     {"where there are none", viewed(t, without), http.MethodPost, "/hooks/push", http.StatusNotFound, "page not found"},
		"the rest stands":   {"reading goes on beside them", viewed(t, a), http.MethodGet, "/healthz", http.StatusOK, "ok"},
		"and is still safe": {"TCP is for reading", viewed(t, a), http.MethodPost, "/api/v1/scan", http.StatusForbidden, "needs the role operator"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body := get(t, tt.handler, tt.method, tt.target)
			if status != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("%s: %s %s = %d %s", tt.reason, tt.method, tt.target, status, body)
			}
		})
	}
}

// TestAudit sends requests to the audit hooks of sources.
func TestAudit(t *testing.T) {
	t.Parallel()
	a := api(t)
	without := a
	a.Audit = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.PathValue("source"), " ", n, " ", err)
	})
	both := a
	both.Hooks = http.HandlerFunc(hooks)
	tests := map[string]struct {
		reason         string
		handler        http.Handler
		method, target string
		size           int64
		status         int
		want           string
	}{
		"on the socket":      {"whoever may ask for all", a.Handler(), http.MethodPost, "/hooks/audit/prod", 3, http.StatusOK, "prod 3 <nil>"},
		"over TCP":           {"and the API server", viewed(t, a), http.MethodPost, "/hooks/audit/prod?timeout=30s", 3, http.StatusOK, "prod 3 <nil>"},
		"large":              {"many events at once", viewed(t, a), http.MethodPost, "/hooks/audit/prod", maxAuditBody, http.StatusOK, fmt.Sprint("prod ", maxAuditBody, " <nil>")},
		"too large":          {"and no more", viewed(t, a), http.MethodPost, "/hooks/audit/prod", maxAuditBody + 1, http.StatusOK, fmt.Sprint("prod ", maxAuditBody, " http: request body too large")},
		"another method":     {"events are sent", viewed(t, a), http.MethodGet, "/hooks/audit/prod", 0, http.StatusNotFound, "page not found"},
		"without":            {"where no source has a hook", viewed(t, without), http.MethodPost, "/hooks/audit/prod", 3, http.StatusNotFound, "page not found"},
		"a trigger's name":   {"a trigger may be called audit", viewed(t, both), http.MethodPost, "/hooks/audit", 3, http.StatusOK, "audit 3 <nil>"},
		"beside the trigger": {"and stands beside", viewed(t, both), http.MethodPost, "/hooks/audit/prod", 3, http.StatusOK, "prod 3 <nil>"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), tt.method, "http://localhost"+tt.target, io.LimitReader(zeros{}, tt.size))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := InProcess(tt.handler).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, answer); answer.StatusCode != tt.status || !strings.Contains(got, tt.want) {
				t.Errorf("%s: %s %s = %d %s", tt.reason, tt.method, tt.target, answer.StatusCode, got)
			}
		})
	}
}

// TestHookBodies sends a body of the maximum size to a hook, and the same body to another path,
// which rejects it.
func TestHookBodies(t *testing.T) {
	t.Parallel()
	a := api(t)
	a.Hooks = http.HandlerFunc(hooks)
	h := a.Handler()
	tests := map[string]struct {
		reason string
		size   int64
		want   string
	}{
		"large":     {"a push of many commits", trigger.MaxBody, fmt.Sprint("push ", trigger.MaxBody, " <nil>")},
		"too large": {"the body is too large", trigger.MaxBody + 1, fmt.Sprint("push ", trigger.MaxBody, " http: request body too large")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/hooks/push", io.LimitReader(zeros{}, tt.size))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := InProcess(h).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, answer); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
			}
		})
	}
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

const slowHook = "POST /hooks/push HTTP/1.1\r\nHost: driftd\r\nContent-Length: 100\r\n\r\nsome"

func TestSlowHookIsCutOff(t *testing.T) {
	t.Parallel()
	served(t, API{Hooks: http.HandlerFunc(hooks)}, func(l *pipeListener, _ func()) {
		conn := l.dial()
		send(t, conn, slowHook) // an incomplete request
		began := time.Now()
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if body := read(t, answer); !strings.Contains(body, "push 4 ") || !strings.Contains(body, "timeout") {
			t.Errorf("hook = %s", body)
		}
		if took := time.Since(began); took != hookTimeout {
			t.Errorf("cut off after %v, want %v", took, hookTimeout)
		}
	})
}

// TestSlowHooksDelayNoOtherRequests occupies all slots of the hooks.
func TestSlowHooksDelayNoOtherRequests(t *testing.T) {
	t.Parallel()
	var reading atomic.Int32
	count := func(w http.ResponseWriter, r *http.Request) {
		reading.Add(1)
		hooks(w, r)
	}
	served(t, API{Hooks: http.HandlerFunc(count)}, func(l *pipeListener, _ func()) {
		var slow []net.Conn
		for range maxHooks {
			slow = append(slow, l.dial())
			send(t, slow[len(slow)-1], slowHook)
		}
		synctest.Wait()
		for request, want := range map[string]int{
			"POST /hooks/push": http.StatusServiceUnavailable,
			"GET /healthz":     http.StatusOK,
		} {
			conn := l.dial()
			send(t, conn, request+" HTTP/1.1\r\nHost: driftd\r\nContent-Length: 0\r\n\r\n")
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if body := read(t, answer); answer.StatusCode != want {
				t.Errorf("%s = %d %s, want %d", request, answer.StatusCode, body, want)
			}
		}
		if n := reading.Load(); n != maxHooks {
			t.Errorf("%d hooks are read, want %d", n, maxHooks)
		}
		var errs error
		for _, conn := range slow {
			errs = errors.Join(errs, conn.Close())
		}
		if errs != nil {
			t.Error(errs)
		}
	})
}
