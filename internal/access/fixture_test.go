package access

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// A clock returns a time that only tests change.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// A journal is a log that tests read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the log.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// hash returns a line of a users file, with the minimum bcrypt cost.
func hash(t testing.TB, name, password string) string {
	t.Helper()
	sum, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return name + ":" + string(sum) + "\n"
}

// usersFile writes a file of lines.
func usersFile(t testing.TB, lines ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "users")
	rewrite(t, file, lines...)
	return file
}

// rewrite replaces a file atomically.
func rewrite(t testing.TB, file string, lines ...string) {
	t.Helper()
	next := file + ".new"
	if err := os.WriteFile(next, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
}

// A fixture is a Gate with a test clock and a log.
type fixture struct {
	*Gate
	clock *clock
	log   *journal
	t     testing.TB
}

func newFixture(t testing.TB, o Options) *fixture {
	t.Helper()
	h := &fixture{clock: newClock(), log: &journal{}, t: t}
	if o.Now == nil {
		o.Now = h.clock.now
	}
	o.Log = slog.New(slog.NewTextHandler(h.log, nil))
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	h.Gate = g
	return h
}

// withUsers returns a fixture with the users alice and bob.
func withUsers(t testing.TB, o Options) *fixture {
	t.Helper()
	o.UsersFile = usersFile(t, hash(t, "alice", "open sesame"), hash(t, "bob", "swordfish"))
	return newFixture(t, o)
}

// request returns a request from an address, with headers as "Name: value" and cookies.
func request(method, target, from string, headers []string, cookies ...*http.Cookie) *http.Request {
	r := httptest.NewRequest(method, target, http.NoBody)
	r.RemoteAddr = from
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return r
}

const here = "127.0.0.1:40000"

func get(cookies ...*http.Cookie) *http.Request {
	return request(http.MethodGet, "http://driftd.example.org/", "192.0.2.1:40000", nil, cookies...)
}

// who returns the visitor that Identify finds, and the reason if authentication failed.
func (h *fixture) who(r *http.Request, loopbackOnly bool) (v Visitor, why *Refused) {
	h.Identify(loopbackOnly, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		v, why = Of(r.Context()), Why(r.Context())
	})).ServeHTTP(httptest.NewRecorder(), r)
	return v, why
}

// identified returns a request as a handler behind Identify sees it.
func (h *fixture) identified(r *http.Request) (seen *http.Request) {
	h.Identify(false, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r })).ServeHTTP(httptest.NewRecorder(), r)
	return seen
}

// login logs in and returns the cookies.
func (h *fixture) login(r *http.Request, name, password string) []*http.Cookie {
	h.t.Helper()
	w := httptest.NewRecorder()
	if err := h.Login(w, r, name, password); err != nil {
		h.t.Fatalf("login of %s: %v", name, err)
	}
	return kept(w)
}

// kept returns the cookies of a response that a browser keeps.
func kept(w *httptest.ResponseRecorder) (cookies []*http.Cookie) {
	for _, c := range w.Result().Cookies() {
		if c.MaxAge >= 0 {
			cookies = append(cookies, c)
		}
	}
	return cookies
}

func named(t testing.TB, cookies []*http.Cookie, name string) *http.Cookie {
	t.Helper()
	for _, c := range cookies {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no cookie %s among %v", name, cookies)
	return nil
}

// refused checks that an error is a refusal with this status and text.
func refused(t testing.TB, err error, status int, words string) {
	t.Helper()
	_ = refusal(t, err, status, words)
}

// away checks that err is the refusal for an unavailable provider, and that only the log
// contains the reason.
func (h *fixture) away(err error, words string) {
	h.t.Helper()
	r := refusal(h.t, err, 503, "currently unavailable")
	if r.RetryAfter <= 0 || strings.Contains(r.Error(), words) || !strings.Contains(strings.ReplaceAll(h.log.String(), `\"`, `"`), words) {
		h.t.Errorf("refused = %+v\n%s\nwant the reason %q only in the log", r, h.log, words)
	}
}

func refusal(t testing.TB, err error, status int, words string) *Refused {
	t.Helper()
	var r *Refused
	if !errors.As(err, &r) || r.Status != status || !strings.Contains(r.Error(), words) {
		t.Fatalf("error = %#v, want %d %q", err, status, words)
	}
	return r
}

func form(values url.Values) *strings.Reader { return strings.NewReader(values.Encode()) }
