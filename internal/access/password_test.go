package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/bcrypt"
)

func TestLoginRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, name, password string
		status                 int
		want                   string
	}{
		"wrong":   {reason: "a wrong password", name: "alice", password: "open barley", status: 401, want: "wrong user name or password"},
		"unknown": {reason: "the message for an unknown user is the same", name: "carol", password: "open sesame", status: 401, want: "wrong user name or password"},
		"empty":   {reason: "an empty password", name: "alice", password: "", status: 401, want: "wrong user name or password"},
		"nobody":  {reason: "empty name and password", status: 401, want: "wrong user name or password"},
		"long":    {reason: "bcrypt would ignore the rest", name: "alice", password: strings.Repeat("a", 73), status: 401, want: "longer than 72 bytes"},
		"other's": {reason: "another's password", name: "alice", password: "swordfish", status: 401, want: "wrong user name or password"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := withUsers(t, Options{})
			w := httptest.NewRecorder()
			refused(t, h.Login(w, get(), tt.name, tt.password), tt.status, tt.want)
			if len(w.Result().Cookies()) > 0 {
				t.Errorf("%s: a cookie is set: %v", tt.reason, w.Result().Cookies())
			}
			if tt.name == "carol" && strings.Contains(h.log.String(), "carol") {
				t.Errorf("the log contains the name of an unknown user: %s", h.log)
			}
		})
	}
	refused(t, newFixture(t, Options{}).Login(httptest.NewRecorder(), get(), "alice", "open sesame"), 403, "login with a password is not configured")
}

func TestLongestPassword(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("ä", MaxPassword/2)
	h := newFixture(t, Options{UsersFile: usersFile(t, hash(t, "alice", longest))})
	h.login(get(), "alice", longest)
}

// TestUnknownNamesCostAsMuch checks that bcrypt computes a whole hash for an unknown name: it
// returns ErrMismatchedHashAndPassword only after that.
func TestUnknownNamesCostAsMuch(t *testing.T) {
	t.Parallel()
	dear, err := bcrypt.GenerateFromPassword([]byte("swordfish"), bcrypt.MinCost+2)
	if err != nil {
		t.Fatal(err)
	}
	h := newFixture(t, Options{UsersFile: usersFile(t, hash(t, "alice", "open sesame"), "bob:"+string(dear)+"\n")})
	seen := map[int]bool{}
	for i := range 64 {
		name := fmt.Sprintf("unknown%d", i)
		other, isUser := h.hashOrDummy(name)
		if err := bcrypt.CompareHashAndPassword([]byte(other), []byte("x")); isUser || !errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
			t.Fatalf("hash of %s: user %v, %v", name, isUser, err)
		}
		if again, _ := h.hashOrDummy(name); again != other {
			t.Errorf("%s has another hash on each call", name)
		}
		cost, err := bcrypt.Cost([]byte(other))
		if err != nil {
			t.Fatal(err)
		}
		seen[cost] = true
	}
	if len(seen) != 2 || !seen[bcrypt.MinCost] || !seen[bcrypt.MinCost+2] {
		t.Errorf("costs of unknown names = %v, want those of the file", seen)
	}
}

func TestFailuresAreBounded(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{})
	fail := func(from, name string) error {
		r := get()
		r.RemoteAddr = from
		return h.Login(httptest.NewRecorder(), r, name, "guess")
	}
	for range burst {
		refused(t, fail("[2001:db8::1]:1", "alice"), 401, "wrong")
	}
	over := refusal(t, fail("[2001:db8::2]:1", "bob"), 429, "too many logins from your network")
	if over.RetryAfter != refill {
		t.Errorf("wait = %s, want %s: one network of IPv6 has one bucket", over.RetryAfter, refill)
	}
	refused(t, fail("[2001:db8:0:1::1]:1", "alice"), 401, "wrong")
	refused(t, fail("192.0.2.1:1", "alice"), 401, "wrong")

	// A login with the correct password succeeds after RetryAfter.
	h.clock.pass(over.RetryAfter)
	r := get()
	r.RemoteAddr = "[2001:db8::3]:1"
	h.login(r, "alice", "open sesame")
	// Successful logins take no tokens.
	for range 3 * burst {
		h.login(r, "bob", "swordfish")
	}
	refused(t, fail("[2001:db8::1]:1", "alice"), 401, "wrong")
	refused(t, fail("[2001:db8::1]:1", "alice"), 429, "too many")
	h.clock.pass(-time.Hour) // the clock is set back
	refused(t, fail("[2001:db8::1]:1", "alice"), 429, "too many")
	h.clock.pass(refill)
	refused(t, fail("[2001:db8::1]:1", "alice"), 401, "wrong")
}

func TestKnownBrowserDuringFlood(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{})
	known := named(t, h.login(get(), "alice", "open sesame"), knownCookie)
	for range burst {
		refused(t, h.Login(httptest.NewRecorder(), get(), "alice", "guess"), 401, "wrong")
	}
	refused(t, h.Login(httptest.NewRecorder(), get(), "alice", "open sesame"), 429, "too many")
	h.login(get(known), "alice", "open sesame")
	refused(t, h.Login(httptest.NewRecorder(), get(known), "bob", "swordfish"), 429, "too many")
	forged := &http.Cookie{Name: knownCookie, Value: "A" + known.Value}
	refused(t, h.Login(httptest.NewRecorder(), get(forged), "alice", "open sesame"), 429, "too many")
	// A stolen cookie of a known browser allows no more failures.
	for range burst {
		refused(t, h.Login(httptest.NewRecorder(), get(known), "alice", "guess"), 401, "wrong")
	}
	refused(t, h.Login(httptest.NewRecorder(), get(known), "alice", "guess"), 429, "too many")
}

// TestFlood checks that sessions, verified passwords, loopback and known browsers work while
// the queue for password comparisons is full.
func TestFlood(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{Loopback: Viewer})
	cookies := h.login(get(), "alice", "open sesame")
	program := get()
	program.SetBasicAuth("bob", "swordfish")
	if got, why := h.who(program, false); got.Name != "bob" {
		t.Fatalf("visitor = %+v %v", got, why)
	}
	for range cap(h.hashing.working) {
		h.hashing.working <- struct{}{}
	}
	var waiting sync.WaitGroup
	var busy, wrong atomic.Int32
	for i := range 500 {
		waiting.Go(func() {
			r := get()
			r.RemoteAddr = fmt.Sprintf("198.51.%d.%d:1", i/200, i%200)
			var err *Refused
			switch {
			case !errors.As(h.Login(httptest.NewRecorder(), r, "alice", "guess"), &err):
				t.Error("a wrong password is accepted")
			case err.Status == http.StatusTooManyRequests && err.RetryAfter > 0:
				busy.Add(1)
			case err.Status == http.StatusUnauthorized:
				wrong.Add(1)
			default:
				t.Errorf("login = %v", err)
			}
		})
	}
	// The queue is full, but only new passwords need it.
	if got, _ := h.who(get(cookies...), false); got.Name != "alice" {
		t.Errorf("visitor with a session = %+v", got)
	}
	if got, why := h.who(program, false); got.Name != "bob" {
		t.Errorf("program with a verified password = %+v %v", got, why)
	}
	if got, _ := h.who(request(http.MethodGet, "/", here, []string{"Host: localhost"}), true); got.Role != Viewer {
		t.Errorf("visitor of this host = %+v", got)
	}
	if h.limiterOf(get(cookies...), "alice").queue == h.hashing {
		t.Error("a known browser uses the common queue")
	} else {
		h.login(get(cookies...), "alice", "open sesame")
	}
	for range cap(h.hashing.working) {
		<-h.hashing.working
	}
	waiting.Wait()
	if busy.Load()+wrong.Load() != 500 || len(h.hashing.waiting) != 0 || len(h.hashing.working) != 0 {
		t.Errorf("%d were refused, %d had a wrong password, %d still wait", busy.Load(), wrong.Load(), len(h.hashing.waiting))
	}
	h.login(get(), "bob", "swordfish")
}

func TestFullQueue(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{})
	for range cap(h.hashing.waiting) {
		h.hashing.waiting <- struct{}{}
	}
	for range 3 * burst { // takes no tokens
		if r := refusal(t, h.Login(httptest.NewRecorder(), get(), "alice", "guess"), 429, "logins are in progress"); r.RetryAfter <= 0 {
			t.Errorf("refused = %+v", r)
		}
	}
	<-h.hashing.waiting
	h.login(get(), "alice", "open sesame")
}

// TestOneNetworkFloods checks that the guesses of one network leave places in the queue for
// the logins of another.
func TestOneNetworkFloods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := withUsers(t, Options{})
		for range cap(h.hashing.working) {
			h.hashing.working <- struct{}{}
		}
		const guesses = 200
		answers := make(chan error, guesses)
		for range guesses {
			go func() { answers <- h.Login(httptest.NewRecorder(), get(), "alice", "guess") }()
		}
		synctest.Wait()
		if len(h.hashing.waiting) != burst || len(answers) != guesses-burst {
			t.Errorf("%d of one network wait and %d were refused, want %d and %d", len(h.hashing.waiting), len(answers), burst, guesses-burst)
		}
		right := make(chan error)
		go func() {
			r := get()
			r.RemoteAddr = "198.51.100.9:1"
			right <- h.Login(httptest.NewRecorder(), r, "alice", "open sesame")
		}()
		synctest.Wait()
		for range cap(h.hashing.working) {
			<-h.hashing.working
		}
		if err := <-right; err != nil {
			t.Errorf("login during a flood = %v", err)
		}
		for i := range guesses {
			if i < guesses-burst {
				refused(t, <-answers, http.StatusTooManyRequests, "too many logins from your network")
			} else {
				refused(t, <-answers, http.StatusUnauthorized, "wrong")
			}
		}
		if len(h.hashing.waiting)+len(h.hashing.working) != 0 {
			t.Error("a refused login keeps a place in the queue")
		}
	})
}

// TestCanceledLoginLeavesQueue checks that a canceled request frees its place in the queue.
func TestCanceledLoginLeavesQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := withUsers(t, Options{})
		for range cap(h.hashing.working) {
			h.hashing.working <- struct{}{}
		}
		ctx, leave := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Login(httptest.NewRecorder(), get().WithContext(ctx), "alice", "guess") }()
		synctest.Wait()
		leave()
		refused(t, <-done, 429, "logins are in progress")
		if len(h.hashing.waiting) != 0 {
			t.Error("a canceled login keeps a place in the queue")
		}
	})
}

func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	now := newClock().now()
	f := failures{buckets: map[string]*bucket{}}
	for i := range maxBuckets + 100 {
		f.take(fmt.Sprint(i), now)
	}
	if len(f.buckets) != maxBuckets {
		t.Errorf("%d buckets are kept", len(f.buckets))
	}
	if wait := f.take("last", now); wait <= 0 {
		t.Error("the shared bucket is not limited")
	}
	later := now.Add(burst * refill)
	if wait := f.take("last", later); wait > 0 || len(f.buckets) != 1 {
		t.Errorf("wait = %s with %d buckets, want full buckets removed", wait, len(f.buckets))
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	file := usersFile(t, hash(t, "prometheus", "scrape me"), hash(t, "alice", "open sesame"))
	h := newFixture(t, Options{UsersFile: file, Loopback: Approver, Roles: Roles{Viewer: []string{"prometheus"}}})
	asks := func(name, password string) (Visitor, *Refused) {
		r := request(http.MethodGet, "/metrics", here, []string{"Host: 127.0.0.1:9797"})
		r.SetBasicAuth(name, password)
		return h.who(r, true)
	}
	if got, _ := asks("prometheus", "scrape me"); got != (Visitor{Name: "prometheus", Role: Viewer, Via: Password}) {
		t.Errorf("visitor = %+v", got)
	}
	if got, why := asks("prometheus", "guess"); got != (Visitor{}) || statusOf(why) != 401 {
		t.Errorf("visitor with a wrong password = %+v %v, want none, not that of loopback", got, why)
	}
	if got, _ := asks("alice", "open sesame"); got != (Visitor{Name: "alice", Role: Nobody, Via: Password}) {
		t.Errorf("visitor without a role = %+v", got)
	}
	// Further requests need no comparison.
	for range cap(h.hashing.waiting) {
		h.hashing.waiting <- struct{}{}
	}
	for range 1000 {
		h.clock.pass(5 * time.Second)
		if got, why := asks("prometheus", "scrape me"); got.Name != "prometheus" {
			t.Fatalf("visitor = %+v %v", got, why)
		}
	}
	if _, why := asks("prometheus", "scrape you"); statusOf(why) != 429 {
		t.Errorf("another password is accepted without a comparison: %v", why)
	}
	h.clock.pass(rememberVerified)
	if _, why := asks("prometheus", "scrape me"); statusOf(why) != 429 {
		t.Errorf("a password is accepted after rememberVerified: %v", why)
	}
	for range cap(h.hashing.waiting) {
		<-h.hashing.waiting
	}
	if got, _ := asks("prometheus", "scrape me"); got.Name != "prometheus" {
		t.Errorf("visitor = %+v", got)
	}
	rewrite(t, file, hash(t, "prometheus", "scrape you"), hash(t, "alice", "open sesame"))
	h.clock.pass(statInterval)
	if got, _ := asks("prometheus", "scrape me"); got.Name != "" {
		t.Errorf("the old password still authenticates %+v", got)
	}
	if got, _ := asks("prometheus", "scrape you"); got.Name != "prometheus" {
		t.Errorf("visitor = %+v", got)
	}
}

func TestVerifiedAreBounded(t *testing.T) {
	t.Parallel()
	now := newClock().now()
	v := verified{until: map[digest]time.Time{}}
	for i := range 3 * maxVerified {
		v.add(digestOf(fmt.Sprint(i)), now)
	}
	if len(v.until) > maxVerified {
		t.Errorf("%d entries are kept", len(v.until))
	}
}

func TestClientBehindProxies(t *testing.T) {
	t.Parallel()
	h := newFixture(t, Options{Proxy: ReverseProxy{Trusted: []string{"10.0.0.0/24"}, UserHeader: "A", GroupsHeader: "B"}})
	tests := map[string]struct {
		reason, from string
		headers      []string
		want         string
	}{
		"direct":    {reason: "the peer itself", from: "192.0.2.1:1", want: "192.0.2.1/32"},
		"claimed":   {reason: "the header of an untrusted address is ignored", from: "192.0.2.1:1", headers: []string{"X-Forwarded-For: 198.51.100.1"}, want: "192.0.2.1/32"},
		"proxied":   {reason: "a trusted proxy sends the client's address", from: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 198.51.100.1"}, want: "198.51.100.1/32"},
		"chain":     {reason: "the client of the outermost trusted proxy", from: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 203.0.113.9, 198.51.100.1, 10.0.0.2"}, want: "198.51.100.1/32"},
		"two lines": {reason: "the header may be repeated", from: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: 2001:db8::7"}, want: "2001:db8::/64"},
		"nonsense":  {reason: "an invalid address ends the chain", from: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 198.51.100.1, unknown"}, want: "10.0.0.1/32"},
		"mapped":    {reason: "IPv4 in IPv6 is IPv4", from: "[::ffff:192.0.2.1]:1", want: "192.0.2.1/32"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := h.client(request(http.MethodGet, "/", tt.from, tt.headers)).String(); got != tt.want {
				t.Errorf("%s: client = %s, want %s", tt.reason, got, tt.want)
			}
		})
	}
}
