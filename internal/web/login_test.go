package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/access"
)

func TestStrangersAreSentToTheLogin(t *testing.T) {
	t.Parallel()
	h := stagedHouse(t)
	for target, want := range map[string]string{
		"/": "/login", "/?q=a&page=2": "/login?next=%2F%3Fpage%3D2%26q%3Da", "/findings/c0ff11c7": "/login?next=%2Ffindings%2Fc0ff11c7",
		"/timeline": "/login?next=%2Ftimeline", "/sources": "/login?next=%2Fsources", "/decisions": "/login?next=%2Fdecisions", "/stage": "/login?next=%2Fstage",
	} {
		answer := h.ask(t, access.Nobody, http.MethodGet, target, nil)
		if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != want {
			t.Errorf("%s: %s to %s, want %s", target, answer.Status, answer.Header.Get("Location"), want)
		}
		if body := answer.Body; strings.Contains(body, "shop") {
			t.Errorf("%s tells a stranger: %s", target, body)
		}
	}
	fragment := h.askAs(t, access.Visitor{}, http.MethodGet, "/", nil, http.Header{"X-Fragment": {"1"}})
	if fragment.StatusCode != http.StatusUnauthorized {
		t.Errorf("an open page whose visitor is gone gets %s, want 401", fragment.Status)
	}
	known := h.askAs(t, access.Visitor{Name: "mallory", Via: access.Session}, http.MethodGet, "/", nil, nil)
	if body := known.Body; known.StatusCode != http.StatusForbidden || !strings.Contains(body, "mallory has no role") {
		t.Errorf("somebody without a role gets %s\n%s", known.Status, body)
	}
	for _, target := range []string{"/events", "/nothing"} {
		if answer := h.ask(t, access.Nobody, http.MethodGet, target, nil); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: a stranger gets %s", target, answer.Status)
		}
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason         string
		name, password string
		next           string
		refuse         error
		status         int
		want           string
	}{
		"in":     {"back to the page that was wanted", "alice", "right", "/findings/1?a=b", nil, http.StatusSeeOther, "/findings/1?a=b"},
		"evil":   {"never to another host", "alice", "right", "//evil.example.org/", nil, http.StatusSeeOther, "/"},
		"evil 2": {"nor by a backslash", "alice", "right", `/\evil.example.org`, nil, http.StatusSeeOther, "/"},
		"evil 3": {"nor by a scheme", "alice", "right", "https://evil.example.org/", nil, http.StatusSeeOther, "/"},
		"wrong":  {"one sentence says so", "alice", "wrong", "/sources", nil, http.StatusUnauthorized, "name or password is wrong: try again"},
		"too fast": {"and when to try again", "alice", "right", "/", &access.Refused{Status: http.StatusTooManyRequests, Message: "too many wrong passwords", Hint: "wait", RetryAfter: 29500 * time.Millisecond},
			http.StatusTooManyRequests, "try again in 30 seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, filled(t), nil)
			h.people.refuse = tc.refuse
			answer := h.ask(t, access.Nobody, http.MethodPost, "/login", url.Values{"csrf": {"t0ken"}, "name": {tc.name}, "password": {tc.password}, "next": {tc.next}})
			body := answer.Body
			if answer.StatusCode != tc.status || !strings.Contains(body+answer.Header.Get("Location"), tc.want) {
				t.Errorf("%s, want %d and %q: %s\n%s", answer.Status, tc.status, tc.want, tc.reason, body)
			}
			if answer.StatusCode == http.StatusSeeOther && answer.Header.Get("Location") != tc.want {
				t.Errorf("sent to %s: %s", answer.Header.Get("Location"), tc.reason)
			}
			if strings.Contains(body, tc.password+`"`) {
				t.Error("the page shows the password")
			}
			if tc.status == http.StatusTooManyRequests && answer.Header.Get("Retry-After") != "30" {
				t.Errorf("Retry-After is %q", answer.Header.Get("Retry-After"))
			}
		})
	}
}

func TestLoginIsMeant(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	if answer := h.ask(t, access.Nobody, http.MethodPost, "/login", url.Values{"name": {"alice"}, "password": {"right"}}); answer.StatusCode != http.StatusForbidden {
		t.Errorf("a login that no page of ours sent: %s", answer.Status)
	}
	if answer := h.ask(t, access.Viewer, http.MethodPost, "/logout", url.Values{}); answer.StatusCode != http.StatusForbidden || h.people.out {
		t.Errorf("a logout that no page of ours sent: %s", answer.Status)
	}
	if answer := h.ask(t, access.Viewer, http.MethodPost, "/logout", url.Values{"csrf": {"t0ken"}}); answer.Header.Get("Location") != "/login?notice=loggedout" || !h.people.out {
		t.Errorf("a logout leads to %q", answer.Header.Get("Location"))
	}
}

func TestOpenID(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	h.people.openID = true
	if body := h.page(t, "/login?next=/sources"); !strings.Contains(body, `href="/login/oidc?next=%2fsources"`) {
		t.Errorf("the login offers no OpenID:\n%s", body)
	}
	begin := h.ask(t, access.Nobody, http.MethodGet, "/login/oidc?next=//evil.example.org", nil)
	if got := begin.Header.Get("Location"); got != "https://id.example.org/?state=%2F" {
		t.Errorf("the provider is asked with %q", got)
	}
	if end := h.ask(t, access.Nobody, http.MethodGet, "/login/oidc/callback?code=x", nil); end.Header.Get("Location") != "/" {
		t.Errorf("whoever comes back is sent to %q", end.Header.Get("Location"))
	}
	h.people.refuse = &access.Refused{Status: http.StatusServiceUnavailable, Message: "the provider does not answer", Hint: "try again"}
	for _, target := range []string{"/login/oidc", "/login/oidc/callback"} {
		answer := h.ask(t, access.Nobody, http.MethodGet, target, nil)
		if body := answer.Body; answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "the provider does not answer: try again") {
			t.Errorf("%s: %s\n%s", target, answer.Status, body)
		}
	}
}

func TestWhoIsLoggedIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	for name, tc := range map[string]struct {
		reason    string
		who       access.Visitor
		has, lack string
	}{
		"session":  {"a session can end", visitor(access.Viewer), `action="/logout"`, "/decide"},
		"viewer":   {"who may not decide is told why", visitor(access.Viewer), "alice has the role viewer. Deciding requires the role operator.", `value="acknowledge"`},
		"loopback": {"so is whoever comes from this host", access.Visitor{Name: "somebody on this host", Role: access.Viewer, Via: access.Loopback}, "Log in with the role operator", `value="acknowledge"`},
		"operator": {"who may decide can", visitor(access.Operator), `value="acknowledge"`, `value="forever"`},
		"approver": {"for ever takes an approver", visitor(access.Approver), `value="forever"`, "takes the role approver"},
		"proxy":    {"a proxy's session is not ours to end", access.Visitor{Name: "carol", Role: access.Operator, Via: access.Proxy}, "carol", `action="/logout"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := h.askAs(t, tc.who, http.MethodGet, "/findings/c0ff11c7", nil, nil).Body
			if !strings.Contains(body, tc.has) || strings.Contains(body, tc.lack) {
				t.Errorf("has %q %v, %q %v: %s", tc.has, strings.Contains(body, tc.has), tc.lack, strings.Contains(body, tc.lack), tc.reason)
			}
		})
	}
}

// TestLoginShowsTheReasonOfRefusal verifies that a visitor who is redirected to the login sees why
// their credentials were rejected, which a login may not fix.
func TestLoginShowsTheReasonOfRefusal(t *testing.T) {
	t.Parallel()
	gate, err := access.New(access.Options{Loopback: access.Viewer, Now: now, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, filled(t), nil)
	for host, told := range map[string]bool{"127.0.0.1:9797": false, "driftd.example.org": true} {
		r, w := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/login", http.NoBody), httptest.NewRecorder()
		gate.Identify(true, h.handler).ServeHTTP(w, r)
		if got := strings.Contains(w.Body.String(), "the request did not come directly from this host"); got != told {
			t.Errorf("%s: told %v, want %v\n%s", host, got, told, w.Body)
		}
	}
}
