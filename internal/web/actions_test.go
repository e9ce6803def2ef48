package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/server"
)

// form returns the form values of a finding's page.
func form(id string, pairs ...string) url.Values {
	f := url.Values{"csrf": {"t0ken"}, "basis": {"ba515" + id}, "severity": {"critical"}}
	for i := 0; i < len(pairs); i += 2 {
		f.Set(pairs[i], pairs[i+1])
	}
	return f
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const id = "c0ff11c7"
	for name, tc := range map[string]struct {
		reason  string
		role    access.Role
		form    url.Values
		status  int
		want    string
		decided int
	}{
		"acknowledge":   {"a notice says so", access.Operator, form(id, "kind", "acknowledge"), http.StatusSeeOther, "/findings/" + id + "?notice=acknowledge", 1},
		"snooze":        {"for one of the lengths", access.Operator, form(id, "kind", "snooze", "until", "4h"), http.StatusSeeOther, "notice=snooze", 1},
		"custom":        {"or one of one's own, which counts before", access.Operator, form(id, "kind", "snooze", "until", "4h", "custom", "12h"), http.StatusSeeOther, "notice=snooze", 1},
		"accept":        {"with a reason, an owner and an end", access.Operator, form(id, "kind", "accept", "reason", "sale", "owner", "bob", "until", "30d"), http.StatusSeeOther, "notice=accept", 1},
		"no reason":     {"what is missing is said", access.Operator, form(id, "kind", "accept", "owner", "bob", "until", "30d"), http.StatusBadRequest, "an acceptance wants a reason", 0},
		"forever":       {"for ever takes an approver", access.Operator, form(id, "kind", "accept", "reason", "sale", "owner", "bob", "until", "forever"), http.StatusForbidden, "approver", 0},
		"approved":      {"who may", access.Approver, form(id, "kind", "accept", "reason", "sale", "owner", "bob", "until", "forever"), http.StatusSeeOther, "notice=accept", 1},
		"viewer":        {"a viewer decides nothing", access.Viewer, form(id, "kind", "acknowledge"), http.StatusForbidden, "operator", 0},
		"nobody":        {"nor does a stranger", access.Nobody, form(id, "kind", "acknowledge"), http.StatusUnauthorized, "log in", 0},
		"forged":        {"nor a page of somebody else", access.Approver, url.Values{"kind": {"acknowledge"}, "basis": {"ba515" + id}}, http.StatusForbidden, "not sent by one of our pages", 0},
		"changed since": {"what somebody did not see is not decided about", access.Operator, url.Values{"csrf": {"t0ken"}, "kind": {"acknowledge"}, "basis": {"other"}}, http.StatusSeeOther, "notice=changed", 0},
		"worse since":   {"a finding on a whole resource may become worse with the same basis", access.Operator, form(id, "kind", "acknowledge", "severity", "high"), http.StatusSeeOther, "notice=changed", 0},
		"other kind":    {"there are three", access.Operator, form(id, "kind", "delete"), http.StatusBadRequest, "has no kind of decision", 0},
		"bad end":       {"an end that is none", access.Operator, form(id, "kind", "snooze", "custom", "<script>"), http.StatusBadRequest, "&lt;script&gt;", 0},
		"way back":      {"who mistyped finds back to the finding", access.Operator, form(id, "kind", "snooze", "custom", "soon"), http.StatusBadRequest, `">Back to the finding</a>`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, filled(t), nil)
			before, _ := h.News.Now()
			answer := h.ask(t, tc.role, http.MethodPost, "/findings/"+id[:5]+"/decide", tc.form)
			said := answer.Body + answer.Header.Get("Location")
			if answer.StatusCode != tc.status || !strings.Contains(said, tc.want) || h.decider.decided != tc.decided {
				t.Errorf("%s, decided %d times, want %d and %q: %s\n%.1000s", answer.Status, h.decider.decided, tc.status, tc.want, tc.reason, said)
			}
			if after, _ := h.News.Now(); (after > before) != (tc.decided > 0) {
				t.Error("open pages are told of what was not decided, or not told of what was")
			}
		})
	}
}

// TestSecondClick verifies that a second click makes no decision and shows the same page.
func TestSecondClick(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	for range 2 {
		answer := h.ask(t, access.Operator, http.MethodPost, "/findings/5e1f0a11/decide", form("5e1f0a11", "kind", "acknowledge", "severity", "high"))
		if answer.Header.Get("Location") != "/findings/5e1f0a11?notice=acknowledge" {
			t.Errorf("a click leads to %q", answer.Header.Get("Location"))
		}
	}
	if h.decider.decided != 1 {
		t.Errorf("decided %d times, want once", h.decider.decided)
	}
	if body := h.page(t, "/findings/5e1f0a11?notice=acknowledge"); !strings.Contains(body, "Acknowledged. Others see") || !strings.Contains(body, "Revoke") {
		t.Errorf("the page does not show the decision:\n%s", body)
	}
	if body := h.page(t, "/?notice=<script>"); strings.Contains(body, `id="notice"`) {
		t.Error("a page says what stands in its address")
	}
}

// TestDecisionAfterTheClockWentBack verifies that a decision in the future does not count as a
// double click.
func TestDecisionAfterTheClockWentBack(t *testing.T) {
	t.Parallel()
	s := filled(t)
	f, _, err := s.Finding("5e1f0a11")
	if err != nil {
		t.Fatal(err)
	}
	later := now().Add(365 * 24 * time.Hour)
	made, err := decide.Make([]model.Finding{f}, decide.Request{Kind: model.Acknowledge, By: visitor(access.Operator).Name, Via: "page"}, later, strings.NewReader("random"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Decide(made, now()); err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, s, nil)
	h.ask(t, access.Operator, http.MethodPost, "/findings/5e1f0a11/decide", form("5e1f0a11", "kind", "acknowledge", "severity", "high"))
	if h.decider.decided != 1 {
		t.Errorf("decided %d times, want once", h.decider.decided)
	}
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		who      access.Visitor
		id, next string
		status   int
		want     string
	}{
		"own":      {"who decided may", access.Visitor{Name: "bob", Role: access.Operator, Via: access.Session}, "dec1de00ac4d", "/findings/c0f19a9e", http.StatusSeeOther, "/findings/c0f19a9e?notice=revoked"},
		"approver": {"an approver may", visitor(access.Approver), "dec1de00ac4d", "/decisions", http.StatusSeeOther, "/decisions?notice=revoked"},
		"evil":     {"and comes back here", visitor(access.Approver), "dec1de00ac4d", "https://evil.example.org", http.StatusSeeOther, "/?notice=revoked"},
		"others":   {"others may not", visitor(access.Operator), "dec1de00ac4d", "/decisions", http.StatusForbidden, ""},
		"viewer":   {"nor may viewers", visitor(access.Viewer), "dec1de00ac4d", "/decisions", http.StatusForbidden, ""},
		"gone":     {"what is taken back already stays so", visitor(access.Approver), "dec1de00ffff", "/decisions", http.StatusSeeOther, "/decisions?notice=revoked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, filled(t), nil)
			answer := h.askAs(t, tc.who, http.MethodPost, "/decisions/"+tc.id+"/revoke", url.Values{"csrf": {"t0ken"}, "next": {tc.next}}, nil)
			if answer.StatusCode != tc.status || answer.Header.Get("Location") != tc.want {
				t.Errorf("%s to %q, want %d to %q: %s", answer.Status, answer.Header.Get("Location"), tc.status, tc.want, tc.reason)
			}
		})
	}
}

// TestRevokeButton checks that the page offers a decision's revocation to the person who made it, under each name with
// which that person logs in, and to no other operator.
func TestRevokeButton(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		who  access.Visitor
		want bool
	}{
		"own":            {access.Visitor{Name: "bob", Role: access.Operator, Via: access.Session}, true},
		"another name":   {access.Visitor{Name: "b.b", Role: access.Operator, Via: access.Session, Person: "bob"}, true},
		"another person": {access.Visitor{Name: "bob", Role: access.Operator, Via: access.Session, Person: "carol"}, false},
		"approver":       {visitor(access.Approver), true},
		"viewer":         {access.Visitor{Name: "bob", Role: access.Viewer, Via: access.Session}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, filled(t), nil)
			page := h.askAs(t, tc.who, http.MethodGet, "/decisions", nil, nil).Body
			if got := strings.Contains(page, "/decisions/dec1de00ac4d/revoke"); got != tc.want {
				t.Errorf("the page offers to revoke: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	token := url.Values{"csrf": {"t0ken"}, "next": {"/sources"}}
	for name, tc := range map[string]struct {
		reason  string
		scanner server.Scanner
		role    access.Role
		status  int
		want    string
	}{
		"scan":   {"back to where it was asked for", scanner{}, access.Operator, http.StatusSeeOther, "/sources?notice=scanned"},
		"viewer": {"a viewer asks for none", scanner{}, access.Viewer, http.StatusForbidden, "operator"},
		"none":   {"where no daemon runs none is to be had", nil, access.Operator, http.StatusServiceUnavailable, "the daemon is not running"},
		"fails":  {"an error of ours tells nothing but that", scanner{fails: true}, access.Operator, http.StatusInternalServerError, "see the log of driftd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, filled(t), func(o *Options) { o.API.Scanner = tc.scanner })
			answer := h.ask(t, tc.role, http.MethodPost, "/scan", token)
			said := answer.Body + answer.Header.Get("Location")
			if answer.StatusCode != tc.status || !strings.Contains(said, tc.want) || strings.Contains(said, "s3cret") {
				t.Errorf("%s, want %d and %q: %s\n%s", answer.Status, tc.status, tc.want, tc.reason, said)
			}
		})
	}
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	for _, target := range []string{"/", "/login", "/static/none.css", "/nothing", "/events"} {
		header := h.ask(t, access.Nobody, http.MethodGet, target, nil).Header
		if csp := header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; script-src 'self';") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: %q", target, csp)
		}
		if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("X-Frame-Options") != "DENY" || header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: %v", target, header)
		}
	}
}
