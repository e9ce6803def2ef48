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
		"wrong":   {reason: "a wrong password", name: "alice", password: "open barley", status: 401, want: "name or password is wrong"},
		"unknown": {reason: "a name that there is not says no more", name: "carol", password: "open sesame", status: 401, want: "name or password is wrong"},
		"empty":   {reason: "nothing is no password", name: "alice", password: "", status: 401, want: "name or password is wrong"},
		"nobody":  {reason: "nobody has no password", status: 401, want: "name or password is wrong"},
		"long":    {reason: "bcrypt would cut it off", name: "alice", password: strings.Repeat("a", 73), status: 401, want: "longer than 72 bytes"},
		"other's": {reason: "another's password", name: "alice", password: "swordfish", status: 401, want: "name or password is wrong"},
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
				t.Errorf("what may be a password in the wrong field is logged: %s", h.log)
			}
		})
	}
	refused(t, newHouse(t, Options{}).Login(httptest.NewRecorder(), get(), "alice", "open sesame"), 403, "nobody logs in with a password")
}

func TestLongestPassword(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("ä", MaxPassword/2)
	h := newHouse(t, Options{UsersFile: usersFile(t, hash(t, "alice", longest))})
	h.login(get(), "alice", longest)
}

// TestUnknownNamesCostAsMuch tells by what bcrypt says that it has computed a
// whole hash for a name that there is not.
func TestUnknownNamesCostAsMuch(t *testing.T) {
	t.Parallel()
	dear, err := bcrypt.GenerateFromPassword([]byte("swordfish"), bcrypt.MinCost+2)
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, Options{UsersFile: usersFile(t, hash(t, "alice", "open sesame"), "bob:"+string(dear)+"\n")})
	seen := map[int]bool{}
	for i := range 64 {
		name := fmt.Sprintf("nobody%d", i)
		other, isUser := h.hashOrOther(name)
		if err := bcrypt.CompareHashAndPassword([]byte(other), []byte("x")); isUser || !errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
			t.Fatalf("hash of %s: user %v, %v", name, isUser, err)
		}
		if again, _ := h.hashOrOther(name); again != other {
			t.Errorf("%s costs something else each time", name)
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

	// Whoever has a right password waits as long as they are told, and is in.
	h.clock.pass(over.RetryAfter)
	r := get()
	r.RemoteAddr = "[2001:db8::3]:1"
	h.login(r, "alice", "open sesame")
	// What succeeds costs nothing.
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

func TestKnownBrowserGoesBesideAFlood(t *testing.T) {
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
	// A known browser that was stolen guesses no faster.
	for range burst {
		refused(t, h.Login(httptest.NewRecorder(), get(known), "alice", "guess"), 401, "wrong")
	}
	refused(t, h.Login(httptest.NewRecorder(), get(known), "alice", "guess"), 429, "too many")
}

// TestFlood fills every place where passwords wait to be compared, and then does
// everything else.
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
				t.Error("a guess is let in")
			case err.Status == http.StatusTooManyRequests && err.RetryAfter > 0:
				busy.Add(1)
			case err.Status == http.StatusUnauthorized:
				wrong.Add(1)
			default:
				t.Errorf("login = %v", err)
			}
		})
	}
	// No place is free, and everything but a new password goes on.
	if got, _ := h.who(get(cookies...), false); got.Name != "alice" {
		t.Errorf("visitor with a session = %+v", got)
	}
	if got, why := h.who(program, false); got.Name != "bob" {
		t.Errorf("program that was let in before = %+v %v", got, why)
	}
	if got, _ := h.who(request(http.MethodGet, "/", here, []string{"Host: localhost"}), true); got.Role != Viewer {
		t.Errorf("visitor of this host = %+v", got)
	}
	if h.laneOf(get(cookies...), "alice").queue == h.hashing {
		t.Error("a browser that is known waits with everybody")
	} else {
		h.login(get(cookies...), "alice", "open sesame")
	}
	for range cap(h.hashing.working) {
		<-h.hashing.working
	}
	waiting.Wait()
	if busy.Load()+wrong.Load() != 500 || len(h.hashing.waiting) != 0 || len(h.hashing.working) != 0 {
		t.Errorf("%d were sent away, %d were wrong; %d still wait", busy.Load(), wrong.Load(), len(h.hashing.waiting))
	}
	h.login(get(), "bob", "swordfish")
}

func TestNoPlaceToWait(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{})
	for range cap(h.hashing.waiting) {
		h.hashing.waiting <- struct{}{}
	}
	for range 3 * burst { // it is nobody's failure
		if r := refusal(t, h.Login(httptest.NewRecorder(), get(), "alice", "guess"), 429, "at this moment"); r.RetryAfter <= 0 {
			t.Errorf("refused = %+v", r)
		}
	}
	<-h.hashing.waiting
	h.login(get(), "alice", "open sesame")
}

// TestOneNetworkFloods has one network send guesses while all wait: those of
// another still find a place, and come in when their turn comes.
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
			t.Errorf("%d of one network wait and %d were sent away, want %d and %d", len(h.hashing.waiting), len(answers), burst, guesses-burst)
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
			t.Errorf("login beside a flood = %v", err)
		}
		for i := range guesses {
			if i < guesses-burst {
				refused(t, <-answers, http.StatusTooManyRequests, "too many logins from your network")
			} else {
				refused(t, <-answers, http.StatusUnauthorized, "wrong")
			}
		}
		if len(h.hashing.waiting)+len(h.hashing.working) != 0 {
			t.Error("somebody who was refused keeps a place")
		}
	})
}

// TestWhoGoesAwayWaitsNoMore frees the place of a visitor who closes the page.
func TestWhoGoesAwayWaitsNoMore(t *testing.T) {
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
		refused(t, <-done, 429, "at this moment")
		if len(h.hashing.waiting) != 0 {
			t.Error("somebody who has gone away keeps a place")
		}
	})
}

func TestLanesAreBounded(t *testing.T) {
	t.Parallel()
	now := newClock().now()
	f := failures{buckets: map[string]*bucket{}}
	for i := range maxLanes + 100 {
		f.take(fmt.Sprint(i), now)
	}
	if len(f.buckets) != maxLanes {
		t.Errorf("%d lanes are kept", len(f.buckets))
	}
	if wait := f.take("last", now); wait <= 0 {
		t.Error("who finds no room is not bounded")
	}
	later := now.Add(burst * refill)
	if wait := f.take("last", later); wait > 0 || len(f.buckets) != 1 {
		t.Errorf("wait = %s with %d lanes, want those that are full again forgotten", wait, len(f.buckets))
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	file := usersFile(t, hash(t, "prometheus", "scrape me"), hash(t, "alice", "open sesame"))
	h := newHouse(t, Options{UsersFile: file, Loopback: Approver, Roles: Roles{Viewer: []string{"prometheus"}}})
	asks := func(name, password string) (Visitor, *Refused) {
		r := request(http.MethodGet, "/metrics", here, []string{"Host: 127.0.0.1:9797"})
		r.SetBasicAuth(name, password)
		return h.who(r, true)
	}
	if got, _ := asks("prometheus", "scrape me"); got != (Visitor{"prometheus", Viewer, Password}) {
		t.Errorf("visitor = %+v", got)
	}
	if got, why := asks("prometheus", "guess"); got != (Visitor{}) || statusOf(why) != 401 {
		t.Errorf("visitor with a wrong password = %+v %v: not even what anybody on this host may do", got, why)
	}
	if got, _ := asks("alice", "open sesame"); got != (Visitor{"alice", Nobody, Password}) {
		t.Errorf("visitor without a role = %+v", got)
	}
	// Every further request costs no comparison.
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
		t.Errorf("another password is remembered, too: %v", why)
	}
	h.clock.pass(rememberVerified)
	if _, why := asks("prometheus", "scrape me"); statusOf(why) != 429 {
		t.Errorf("a password is remembered for ever: %v", why)
	}
	for range cap(h.hashing.waiting) {
		<-h.hashing.waiting
	}
	if got, _ := asks("prometheus", "scrape me"); got.Name != "prometheus" {
		t.Errorf("visitor = %+v", got)
	}
	rewrite(t, file, hash(t, "prometheus", "scrape you"), hash(t, "alice", "open sesame"))
	h.clock.pass(lookEvery)
	if got, _ := asks("prometheus", "scrape me"); got.Name != "" {
		t.Errorf("the old password still opens: %+v", got)
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
		t.Errorf("%d are remembered", len(v.until))
	}
}

func TestClientBehindProxies(t *testing.T) {
	t.Parallel()
	h := newHouse(t, Options{Proxy: ReverseProxy{Trusted: []string{"10.0.0.0/24"}, UserHeader: "A", GroupsHeader: "B"}})
	tests := map[string]struct {
		reason, from string
		headers      []string
		want         string
	}{
		"direct":    {reason: "the peer", from: "192.0.2.1:1", want: "192.0.2.1/32"},
		"claimed":   {reason: "anybody may claim to be another", from: "192.0.2.1:1", headers: []string{"X-Forwarded-For: 198.51.100.1"}, want: "192.0.2.1/32"},
		"proxied":   {reason: "the proxy knows better", from: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 198.51.100.1"}, want: "198.51.100.1/32"},
		"chain":     {reason: "what the outermost trusted proxy saw", from: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 203.0.113.9, 198.51.100.1, 10.0.0.2"}, want: "198.51.100.1/32"},
		"two lines": {reason: "the header may come in parts", from: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: 2001:db8::7"}, want: "2001:db8::/64"},
		"nonsense":  {reason: "what is no address ends the chain", from: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 198.51.100.1, unknown"}, want: "10.0.0.1/32"},
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
