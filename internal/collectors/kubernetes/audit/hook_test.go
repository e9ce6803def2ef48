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
	"time"
)

func TestHook(t *testing.T) {
	t.Parallel()
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	two := eventList(editAs("1", "alice", 0), editAs("2", "bob", 0))
	tests := map[string]struct {
		reason       string
		authenticate func(*http.Request)
		body         string
		code         int
		recorded     string
		logged       string
	}{
		"token":          {reason: "the API server sends a bearer token", authenticate: bearer("hunter2"), body: two, code: 200, recorded: "1 2"},
		"password":       {reason: "a reverse proxy may require basic authentication", authenticate: func(r *http.Request) { r.SetBasicAuth("kube", "hunter2") }, body: two, code: 200, recorded: "1 2"},
		"another token":  {reason: "the token is wrong", authenticate: bearer("hunter3"), body: two, code: 401, logged: "wrong token"},
		"longer token":   {reason: "the token is a prefix only", authenticate: bearer("hunter22"), body: two, code: 401, logged: "wrong token"},
		"empty token":    {reason: "the token is empty", authenticate: bearer(""), body: two, code: 401, logged: "wrong token"},
		"no token":       {reason: "over http an API server sends none", authenticate: func(*http.Request) {}, body: two, code: 401, logged: "over https only"},
		"wrong password": {reason: "the password is wrong", authenticate: func(r *http.Request) { r.SetBasicAuth("kube", "hunter3") }, body: two, code: 401, logged: "wrong token"},
		"truncated":      {reason: "complete events are kept", authenticate: bearer("hunter2"), body: two[:len(two)-20], code: 400, recorded: "1", logged: "unexpected EOF"},
		"not a list":     {reason: "the body is not quoted", authenticate: bearer("hunter2"), body: `{"secret":"sesame"}`, code: 400, logged: "not an EventList"},
		"broken event":   {reason: "the other events are kept", authenticate: bearer("hunter2"), body: eventList(`{"user":"sesame"}`, editAs("2", "bob", 0)), code: 200, recorded: "2", logged: "broken=1"},
		"too large":      {reason: "the policy logs bodies", authenticate: bearer("hunter2"), body: eventList(editAs("1", "alice", 0), `{"requestObject":"`+strings.Repeat("x", 10_000)+`"}`), code: 413, recorded: "1", logged: "too large"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, logged := newLog(t, "")
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks/audit/prod?timeout=30s", strings.NewReader(tt.body))
			tt.authenticate(r)
			w := httptest.NewRecorder()
			r.Body = http.MaxBytesReader(w, r.Body, 8000)
			l.Hook().ServeHTTP(w, r)
			if w.Code != tt.code || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s, want %d", tt.reason, w.Code, w.Body, tt.code)
			}
			if got := recorded(l); got != tt.recorded {
				t.Errorf("%s: %q is recorded, want %q", tt.reason, got, tt.recorded)
			}
			text := w.Body.String() + logged.String()
			if !strings.Contains(text, tt.logged) || strings.Contains(text, "hunter") || strings.Contains(text, "sesame") {
				t.Errorf("%s: answer and log %s", tt.reason, text)
			}
		})
	}
}

// TestHookIgnoresRepeatedEvents sends a batch twice, as an API server does that received no
// answer.
func TestHookIgnoresRepeatedEvents(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, "")
	for range 2 {
		if code := send(t.Context(), l, eventList(editAs("1", "alice", 0))); code != http.StatusOK {
			t.Errorf("repeated events: %d", code)
		}
	}
	if got := recorded(l); got != "1" {
		t.Errorf("%q is recorded", got)
	}
}

// TestHookBoundsEvents checks that an event is bounded like a line of the file, and a list
// is not.
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
	if got := recorded(l); got != "1 2" {
		t.Errorf("%q is recorded", got)
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

func TestHookWithUnreadableToken(t *testing.T) {
	t.Parallel()
	l, logged := newLog(t, "")
	l.Token = func() (string, error) { return "", errors.New("read secret file /x: gone") }
	if code := send(t.Context(), l, eventList(edit())); code != http.StatusInternalServerError || !strings.Contains(logged.String(), "/x: gone") {
		t.Errorf("an unreadable token: %d, %s", code, logged)
	}
}

// TestHookWarnsOnce checks that rejected requests cannot fill the log.
func TestHookWarnsOnce(t *testing.T) {
	t.Parallel()
	l, logged := newLog(t, "")
	l.Token = func() (string, error) { return "another", nil }
	for range 100 {
		send(t.Context(), l, eventList())
	}
	if n := strings.Count(logged.String(), "\n"); n != 1 {
		t.Errorf("%d lines of log, want 1", n)
	}
}

func TestNoHook(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, "")
	l.Token = nil
	if l.Hook() != nil {
		t.Error("Hook() without a token is not nil")
	}
}

// TestBodiesAreNotKept sends events with the content of Secrets.
func TestBodiesAreNotKept(t *testing.T) {
	t.Parallel()
	l, logged := newLog(t, "")
	if code := send(t.Context(), l, eventList(secret(), secret()[:20])); code != http.StatusBadRequest {
		t.Errorf("half an event: %d", code)
	}
	found := 0
	l.Each(func(o Object, h History) {
		found++
		fmt.Fprintf(logged, "%+v %+v", o, h)
	})
	if found != 1 || strings.Contains(logged.String(), "aHVudGVyMg") {
		t.Errorf("%d objects are recorded: %s", found, logged)
	}
}

// TestHookBegins checks the time since which the webhook sent events without a known gap. The log was
// created an hour after noon.
func TestHookBegins(t *testing.T) {
	t.Parallel()
	sent := func(after ...time.Duration) string {
		var events []string
		for _, d := range after {
			events = append(events, editAs(fmt.Sprint(d), "alice", d))
		}
		return eventList(events...)
	}
	const later = time.Hour + time.Minute
	tests := map[string]struct {
		reason string
		lists  []string
		fails  bool
		want   time.Duration
	}{
		"later":        {"the webhook may have been configured then", []string{sent(later)}, false, later},
		"out of order": {"batches arrive in any order", []string{sent(later+time.Second, later), sent(later - time.Second)}, false, later - time.Second},
		"repeated":     {"the API server repeats only some of the events before the start", []string{sent(0)}, false, time.Hour - 4*time.Millisecond},
		"broken":       {"the event may be that of a write", []string{sent(later), eventList(`{"user":1}`)}, false, 2*time.Hour - 4*time.Millisecond},
		"no list":      {"the events are lost", []string{sent(later), "[]"}, false, 2*time.Hour - 4*time.Millisecond},
		"truncated":    {"the API server sends the list again", []string{sent(later), sent(later)[:100]}, false, later},
		"no token":     {"the events may be lost", []string{sent(later)}, true, 2*time.Hour - 4*time.Millisecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := newLog(t, "")
			if !l.begin().IsZero() {
				t.Error("a log without events begins")
			}
			l.Now = func() time.Time { return noon().Add(2 * time.Hour) }
			for _, list := range tt.lists {
				send(t.Context(), l, list)
			}
			if tt.fails {
				l.Token = func() (string, error) { return "", errors.New("gone") }
				send(t.Context(), l, sent(later))
			}
			if got, want := l.begin(), noon().Add(tt.want+4*time.Millisecond); !got.Equal(want) {
				t.Errorf("%s: the log begins at %v, want %v", tt.reason, got, want)
			}
		})
	}
}

// TestFileAndHookBegin has both: the file may be that of one of several API servers.
func TestFileAndHookBegin(t *testing.T) {
	t.Parallel()
	d := newLogFolder(t)
	d.append("audit.log", editAs("1", "alice", 90*time.Minute)+"\n")
	d.log.Refresh(t.Context())
	for _, tt := range []struct{ sent, want time.Duration }{{2 * time.Hour, 2 * time.Hour}, {70 * time.Minute, 90 * time.Minute}} {
		send(t.Context(), d.log, eventList(editAs("2", "alice", tt.sent)))
		if got, want := d.log.begin(), noon().Add(tt.want+4*time.Millisecond); !got.Equal(want) {
			t.Errorf("the log begins at %v, want %v", got, want)
		}
	}
}
