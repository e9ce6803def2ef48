package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHook(t *testing.T) {
	t.Parallel()
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	two := eventList(editAs("1", "alice", 0), editAs("2", "bob", 0))
	tests := map[string]struct {
		reason string
		show   func(*http.Request)
		body   string
		code   int
		known  string
		said   string
	}{
		"a token":     {reason: "as the API server shows it", show: bearer("hunter2"), body: two, code: 200, known: "1 2"},
		"a password":  {reason: "where a web configuration asks for one", show: func(r *http.Request) { r.SetBasicAuth("kube", "hunter2") }, body: two, code: 200, known: "1 2"},
		"another":     {reason: "anybody can send something", show: bearer("hunter3"), body: two, code: 401, said: "wrong token"},
		"a longer":    {reason: "nor does more help", show: bearer("hunter22"), body: two, code: 401, said: "wrong token"},
		"an empty":    {reason: "nor less", show: bearer(""), body: two, code: 401, said: "wrong token"},
		"none":        {reason: "over http an API server shows none", show: func(*http.Request) {}, body: two, code: 401, said: "over https only"},
		"no password": {reason: "nor a wrong one", show: func(r *http.Request) { r.SetBasicAuth("kube", "hunter3") }, body: two, code: 401, said: "wrong token"},
		"broken off":  {reason: "what came is kept", show: bearer("hunter2"), body: two[:len(two)-20], code: 400, known: "1", said: "unexpected EOF"},
		"no list":     {reason: "and not quoted", show: bearer("hunter2"), body: `{"secret":"sesame"}`, code: 400, said: "not an EventList"},
		"one broken":  {reason: "it costs no other", show: bearer("hunter2"), body: eventList(`{"user":"sesame"}`, editAs("2", "bob", 0)), code: 200, known: "2", said: "broken=1"},
		"too much":    {reason: "somebody logs bodies", show: bearer("hunter2"), body: eventList(editAs("1", "alice", 0), `{"requestObject":"`+strings.Repeat("x", 10_000)+`"}`), code: 413, known: "1", said: "too large"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, said := newLog(t, "")
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks/audit/prod?timeout=30s", strings.NewReader(tt.body))
			tt.show(r)
			w := httptest.NewRecorder()
			r.Body = http.MaxBytesReader(w, r.Body, 8000)
			l.Hook().ServeHTTP(w, r)
			if w.Code != tt.code || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s, want %d", tt.reason, w.Code, w.Body, tt.code)
			}
			if got := known(l); got != tt.known {
				t.Errorf("%s: %q is known, want %q", tt.reason, got, tt.known)
			}
			text := w.Body.String() + said.String()
			if !strings.Contains(text, tt.said) || strings.Contains(text, "hunter") || strings.Contains(text, "sesame") {
				t.Errorf("%s: it says %s", tt.reason, text)
			}
		})
	}
}

// TestHookTakesWhatComesAgain sends a batch twice, as an API server does that got
// no answer.
func TestHookTakesWhatComesAgain(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, "")
	for range 2 {
		if code := send(t.Context(), l, eventList(editAs("1", "alice", 0))); code != http.StatusOK {
			t.Errorf("sent again: %d", code)
		}
	}
	if got := known(l); got != "1" {
		t.Errorf("%q is known", got)
	}
}

// TestHookBoundsEvents holds that one event may have no more bytes than a line of the
// file, however large the list may be.
func TestHookBoundsEvents(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, "")
	of := func(n int) string { return `{"requestObject":"` + strings.Repeat("x", n) + `"}` }
	if code := send(t.Context(), l, eventList(of(maxLine/2), of(maxLine/2), of(maxLine/2), editAs("1", "alice", 0))); code != http.StatusOK {
		t.Errorf("three events of half the size: %d", code)
	}
	if code := send(t.Context(), l, eventList(editAs("2", "alice", 0), of(maxLine+1<<20), editAs("3", "alice", 0))); code != http.StatusRequestEntityTooLarge {
		t.Errorf("an event that is too large: %d", code)
	}
	if got := known(l); got != "1 2" {
		t.Errorf("%q is known", got)
	}
}

func send(ctx context.Context, l *Log, body string) int {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/hooks/audit/prod", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer hunter2")
	w := httptest.NewRecorder()
	l.Hook().ServeHTTP(w, r)
	_, _ = io.Copy(io.Discard, w.Body)
	return w.Code
}

func TestHookWithoutItsToken(t *testing.T) {
	t.Parallel()
	l, said := newLog(t, "")
	l.Token = func() (string, error) { return "", errors.New("read secret file /x: gone") }
	if code := send(t.Context(), l, eventList(edit())); code != http.StatusInternalServerError || !strings.Contains(said.String(), "/x: gone") {
		t.Errorf("a token that cannot be read: %d, %s", code, said)
	}
}

// TestHookSaysARefusalOnce lets nobody fill the log.
func TestHookSaysARefusalOnce(t *testing.T) {
	t.Parallel()
	l, said := newLog(t, "")
	l.Token = func() (string, error) { return "another", nil }
	for range 100 {
		send(t.Context(), l, eventList())
	}
	if n := strings.Count(said.String(), "\n"); n != 1 {
		t.Errorf("%d lines of log, want 1", n)
	}
}

func TestNoHook(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, "")
	l.Token = nil
	if l.Hook() != nil {
		t.Error("without a token there is no hook")
	}
}

// TestBodiesAreNotKept sends Secrets at a level that logs them.
func TestBodiesAreNotKept(t *testing.T) {
	t.Parallel()
	l, said := newLog(t, "")
	if code := send(t.Context(), l, eventList(secret(), secret()[:20])); code != http.StatusBadRequest {
		t.Errorf("half an event: %d", code)
	}
	found := 0
	l.Each(func(o Object, writes []Write) {
		found++
		fmt.Fprintf(said, "%+v %+v", o, writes)
	})
	if found != 1 || strings.Contains(said.String(), "aHVudGVyMg") {
		t.Errorf("%d objects are known, and of them: %s", found, said)
	}
}
