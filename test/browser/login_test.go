//go:build e2e

package browser

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"golang.org/x/crypto/bcrypt"
)

// guarded serves an estate that requires a login: alice may act, vera may read.
func guarded(t *testing.T) *daemon {
	t.Helper()
	e := drifted(2)
	e.access = `{loopback: nobody, users_file: users, roles: {viewer: ["*"], operator: [alice]}}`
	files := e.files(t)
	for _, name := range []string{"alice", "vera"} {
		hash, err := bcrypt.GenerateFromPassword([]byte("right-"+name), bcrypt.DefaultCost)
		if err != nil {
			t.Fatal(err)
		}
		files["users"] += name + ":" + string(hash) + "\n"
	}
	return serve(t, files, "")
}

// logIn submits the login form.
func (p *tab) logIn(name, password string) *tab {
	p.Helper()
	p.find("textbox", "Name").write(name)
	p.find("textbox", "Password").write(password)
	p.find("button", "Log in").follow()
	return p
}

// TestLogin is refused, logs in, reads pages and logs out.
func TestLogin(t *testing.T) {
	t.Parallel()
	d := guarded(t)
	p := chrome.visit(t, d.base)
	p.expect("401")
	p.open("/?q=config-001")
	p.find("heading", "Log in")
	if strings.Contains(p.text(), "config-001") || strings.Contains(p.text(), "nina") {
		t.Errorf("who is not logged in reads of findings: %s", p.text())
	}
	var said []string
	for _, try := range [][2]string{{"alice", "wrong"}, {"nobody-is-called-so", "wrong"}} {
		p.logIn(try[0], try[1])
		said = append(said, eval[string](p, `document.querySelector("[role=alert]").innerText`))
	}
	if said[0] != said[1] || said[0] == "" {
		t.Errorf("a wrong password is answered with %q, a wrong name with %q: want the same", said[0], said[1])
	}
	p.logIn("alice", "right-alice")
	p.await(`location.pathname + location.search === "/?q=config-001"`)
	p.find("link", "config-001")
	if !strings.Contains(p.text(), "alice") || !strings.Contains(p.text(), "operator") {
		t.Errorf("the page does not say who is logged in: %s", p.text())
	}
	p.awaitLive()
	p.find("link", "config-001").follow()
	p.find("textbox", "Action taken").write("mine")
	p.buttonBelow("Action taken").follow()
	p.awaitText("alice")
	p.awaitText("mine")
	p.find("button", "Log out").follow()
	p.awaitText("Logged out")
	p.open("/")
	p.find("heading", "Log in")
}

// awaitLive waits until the page follows the event stream.
func (p *tab) awaitLive() {
	p.Helper()
	p.await(`document.getElementById("live").textContent === "live"`)
}

// TestViewer reads everything, and is refused every action.
func TestViewer(t *testing.T) {
	t.Parallel()
	d := guarded(t)
	p := chrome.visit(t, d.base).open("/login").logIn("vera", "right-vera")
	p.find("link", "config-000").follow()
	for _, button := range []string{"Acknowledge", "Snooze", "Accept"} {
		if p.has("button", button) {
			t.Errorf("a viewer sees the button %s", button)
		}
	}
	p.awaitText("operator") // the page names the required role
	token := eval[string](p, `document.querySelector("input[name=csrf]").value`)
	p.expect("403")
	for _, path := range []string{p.address() + "/decide", "/scan", "/decisions/x/revoke", "/api/v1/scan"} {
		for form, want := range map[string]int{"kind=acknowledge&csrf=" + url.QueryEscape(token): 403, "kind=acknowledge": 403} {
			status := evalPromise[int](p, jsf(`fetch(%q, {method: "POST", body: %q, redirect: "manual", headers: {"Content-Type": "application/x-www-form-urlencoded", "X-CSRF-Token": %q}}).then(r => r.status)`, path, form, token))
			if status != want {
				t.Errorf("POST %s by a viewer is answered with %d, want %d", path, status, want)
			}
		}
	}
}

// TestStolenCookie copies the cookies of a session. They are invalid after its owner logged
// out, and an open page of the thief is notified.
func TestStolenCookie(t *testing.T) {
	t.Parallel()
	d := guarded(t)
	p := chrome.visit(t, d.base).open("/login").logIn("alice", "right-alice")
	p.find("link", "config-000")
	id := eval[string](p, `document.querySelector("#main a.open").pathname.split("/").pop()`)
	cookies := call(p, network.GetCookies, network.GetCookiesParams{}).Cookies
	thief := chrome.visit(t, d.base)
	thief.expect("401")
	var list []*network.CookieParam
	for _, c := range cookies {
		if strings.Contains(c.Name, "session") && !c.HTTPOnly {
			t.Errorf("a script may read the cookie %s", c.Name)
		}
		list = append(list, &network.CookieParam{Name: c.Name, Value: c.Value, URL: d.base, HTTPOnly: c.HTTPOnly, SameSite: c.SameSite})
	}
	call(thief, network.SetCookies, network.SetCookiesParams{Cookies: list})
	thief.open("/")
	thief.find("link", "config-000") // the cookies are valid during the session
	thief.awaitLive()
	p.find("button", "Log out").follow()
	// The next event of any kind notifies the open page.
	d.decide(t, "acknowledge", id)
	thief.find("link", "log in again")
	if strings.Contains(thief.text(), "acknowledged") {
		t.Error("an open page of a stolen session gets events after the logout")
	}
	thief.open("/")
	thief.find("heading", "Log in")
	if strings.Contains(thief.text(), "config-000") {
		t.Error("a stolen cookie works after the logout")
	}
}

// TestLoginFlood has another machine guess passwords as fast as it can: a user can log in
// meanwhile, and logged-in users get pages.
func TestLoginFlood(t *testing.T) {
	t.Parallel()
	d := guarded(t)
	inside := chrome.visit(t, d.base).open("/login").logIn("vera", "right-vera")
	inside.find("link", "config-000")
	attacker, token := newAttacker(t, d)
	var guessing sync.WaitGroup
	begun := make(chan struct{})
	var once sync.Once
	statuses := make(chan int, 200)
	queue := make(chan int)
	for range 40 {
		guessing.Go(func() {
			for n := range queue {
				once.Do(func() { close(begun) })
				statuses <- guess(attacker, d, token, n)
			}
		})
	}
	guessing.Go(func() {
		defer close(queue)
		for n := range cap(statuses) {
			queue <- n
		}
	})
	<-begun
	start := time.Now()
	p := chrome.visit(t, d.base).open("/login").logIn("alice", "right-alice")
	p.find("link", "config-000")
	inside.open("/")
	inside.find("link", "config-000")
	t.Logf("a login and a page took %s during the flood", time.Since(start))
	guessing.Wait()
	close(statuses)
	count := map[int]int{}
	for status := range statuses {
		count[status]++
	}
	t.Logf("the guesses were answered with %v", count)
	if count[http.StatusTooManyRequests] == 0 || count[http.StatusUnauthorized]+count[http.StatusTooManyRequests] != cap(statuses) {
		t.Errorf("the guesses were answered with %v, want 401, and 429 in the end", count)
	}
}

// newAttacker returns a client with the address of another machine.
func newAttacker(t *testing.T, d *daemon) (client *http.Client, token string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 66)}}
	transport := &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	client = &http.Client{Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.base+"/login", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	_, page, err := answerOf(client, r)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the login has no token: %s", page)
	}
	return client, found[1]
}

func guess(client *http.Client, d *daemon, token string, n int) (status int) {
	form := url.Values{"name": {"alice"}, "password": {fmt.Sprint("guess-", n)}, "csrf": {token}}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, d.base+"/login", strings.NewReader(form.Encode()))
	if err != nil {
		return 0
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	status, _, err = answerOf(client, r)
	if err != nil {
		return 0
	}
	return status
}
