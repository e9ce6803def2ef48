package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/reconcile"
)

// TestDemoAction checks that the demonstration proposes to put an edited Deployment back, that alice puts it
// back with one approval, and that the audit log records who approved it.
func TestDemoAction(t *testing.T) {
	t.Parallel()
	s := show(t)
	s.press("image")
	a := s.proposed()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/v1/actions/"+a.ID+"/approve", strings.NewReader(`{"digest":"`+a.Digest+`","reason":"wrong image"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("alice", "demo")
	request.Header.Set("Content-Type", "application/json")
	answer := body(t, http.DefaultClient, request)
	var after reconcile.Action
	if err := json.Unmarshal(answer, &after); err != nil || after.State != reconcile.Converged {
		t.Errorf("the approval is answered with %s", answer)
	}
	if page := string(s.get("/audit")); !strings.Contains(page, "approval") || !strings.Contains(page, "alice") {
		t.Error("the page of the audit log does not name who approved it")
	}
	s.end(syscall.SIGTERM)
}

// press performs one of the changes that the page offers.
func (s *showing) press(act string) {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	page, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/stage", http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	token := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindSubmatch(body(s.t, client, page))
	if token == nil {
		s.t.Fatal("the page has no form")
	}
	form := url.Values{"csrf": {string(token[1])}}
	post, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/stage/"+act, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	post.Header.Set("Origin", s.url)
	body(s.t, client, post)
}

// proposed waits for an action that is proposed. The demonstration ends after a minute, and with it the wait.
func (s *showing) proposed() reconcile.Action {
	s.t.Helper()
	for {
		var o reconcile.Overview
		if err := json.Unmarshal(s.get("/api/v1/actions"), &o); err != nil {
			s.t.Fatal(err)
		}
		for i := range o.Actions {
			if o.Actions[i].State == reconcile.Proposed {
				return o.Actions[i]
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// body sends a request and returns the body of the answer, which must have status 200.
func body(t *testing.T, client *http.Client, request *http.Request) []byte {
	t.Helper()
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.Body.Close() != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %d: %s %v", request.URL.Path, answer.StatusCode, text, err)
	}
	return text
}
