//go:build e2e

package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/slack-go/slack/slacktest"

	"github.com/driftd/driftd/internal/model"
)

const (
	hookSecret   = "whsec_c2VjcmV0LW9mLXRoZS1lbmQtdG8tZW5kLXRlc3Q="
	pushSecret   = "push-secret"
	alertsConfig = dumpConfig + `
notify:
  receivers:
    - {name: hook, type: webhook, rate: {messages: 0}, settings: {url: "$HOOK", secret_file: hook-secret}}
    - {name: slack, type: slack, rate: {messages: 0}, settings: {token_file: token, channel: C0TEST, api_url: "$SLACK", pace: 0s}}
triggers:
  - {name: push, type: github, secret_file: push-secret, min_interval: 0s}
`
)

// A listener receives notifications: a webhook that remembers event IDs, and a Slack server.
type listener struct {
	t     *testing.T
	hook  *httptest.Server
	slack *slacktest.Server

	mu   sync.Mutex
	seen map[string]string
	// notifications are all notifications in order.
	notifications []model.Item
	posts         []post
	// again counts the repeated events, and asked the requests for Slack's history.
	again, asked int
	// down reports whether both return errors.
	down bool
	// trap is the trap that is set; nil if there is none.
	trap *trap
}

// A post is a message in Slack.
type post struct {
	TS       string          `json:"ts"`
	Thread   string          `json:"thread_ts,omitempty"`
	Text     string          `json:"text"`
	Metadata json.RawMessage `json:"metadata"`
}

func listen(t *testing.T) *listener {
	t.Helper()
	l := &listener{t: t, seen: map[string]string{}}
	l.hook = httptest.NewServer(l.intercept(toHook, l.event))
	t.Cleanup(l.hook.Close)
	l.slack = slacktest.NewTestServer(func(c slacktest.Customize) {
		c.Handle("/chat.postMessage", l.intercept(toSlack, l.post))
		c.Handle("/chat.update", l.intercept(toSlack, l.edit))
		c.Handle("/conversations.history", l.intercept(toSlack, l.history))
		c.Handle("/conversations.replies", l.intercept(toSlack, l.history))
	})
	l.slack.Start()
	t.Cleanup(l.slack.Stop)
	return l
}

// event receives a CloudEvent, and ignores known IDs.
func (l *listener) event(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var event struct {
		ID   string        `json:"id"`
		Data model.Message `json:"data"`
	}
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil || !signed(r.Header, body):
		l.t.Errorf("a broken event: %v: %s", err, body)
	case l.down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case l.seen[event.ID] != "" && l.seen[event.ID] != string(body):
		l.t.Errorf("another event under the id %s:\n%s\n%s", event.ID, l.seen[event.ID], body)
	case l.seen[event.ID] != "":
		l.again++
	default:
		l.seen[event.ID] = string(body)
		l.notifications = append(l.notifications, event.Data.News...)
	}
}

// signed checks a signature of standardwebhooks.com.
func signed(header http.Header, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(hookSecret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", header.Get("webhook-id"), header.Get("webhook-timestamp"), body)
	return strings.Contains(header.Get("webhook-signature"), "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

func (l *listener) post(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	p := post{TS: fmt.Sprintf("1700000000.%06d", len(l.posts)+1), Thread: r.FormValue("thread_ts"), Text: r.FormValue("text"),
		Metadata: json.RawMessage(r.FormValue("metadata"))}
	l.posts = append(l.posts, p)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"ok": true, "channel": "C0TEST", "ts": %q}`, p.TS)
}

func (l *listener) edit(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"ok": true, "channel": "C0TEST", "ts": %q, "text": ""}`, r.FormValue("ts"))
}

func (l *listener) history(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	thread, found := r.FormValue("ts"), []post{}
	for _, p := range l.posts {
		if p.Thread == thread || p.TS == thread {
			found = append(found, p)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	answer, err := json.Marshal(map[string]any{"ok": true, "messages": found})
	if err != nil {
		l.t.Error(err)
	}
	_, _ = w.Write(answer)
}

// notified returns the notifications about a resource.
func (l *listener) notified(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var words []string
	for _, it := range l.notifications {
		if it.Finding.Name == name {
			words = append(words, string(it.News))
		}
	}
	return strings.Join(words, ", ")
}

func (l *listener) set(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
}

// config returns the configuration of a daemon with the listener as its receivers.
func (l *listener) config() string {
	return strings.NewReplacer("$HOOK", l.hook.URL, "$SLACK", l.slack.GetAPIURL()).Replace(alertsConfig)
}

// installAlerts makes an installation with a listener.
func installAlerts(t *testing.T) (*installation, *listener) {
	t.Helper()
	l := listen(t)
	i := installDump(t, l.config())
	i.write("hook-secret", hookSecret)
	i.write("push-secret", pushSecret)
	i.write("token", "xoxb-test")
	return i, l
}

// awaits waits until a resource has exactly these notifications.
func (l *listener) awaits(i *installation, name, want string) {
	i.t.Helper()
	i.eventually(startTimeout, "what is said of "+name, func() error {
		if got := l.notified(name); got != want {
			return fmt.Errorf("it is %q, want %q", got, want)
		}
		return nil
	})
}

// TestAlertsAfterAnOutage checks that findings during an outage of the receivers are notified
// once, in order, also after a reload.
func TestAlertsAfterAnOutage(t *testing.T) {
	t.Parallel()
	i, l := installAlerts(t)
	d := i.serve()
	l.set(true)
	i.lives("other")
	i.ends(2, "scan")
	d.signal(syscall.SIGHUP)
	i.lives("app", "other")
	i.ends(0, "scan")
	i.lives("app")
	i.ends(2, "scan")
	i.eventually(startTimeout, "its status", func() error {
		if stdout, _, code := i.driftd("status"); code != 0 || !strings.Contains(stdout, "503") {
			return fmt.Errorf("it does not say what fails: exit code %d: %s", code, stdout)
		}
		return nil
	})
	l.set(false)
	l.awaits(i, "app", "new, resolved")
	l.awaits(i, "other", "new")
}

// TestDecisions accepts with the command while a daemon runs, which sends notifications.
func TestDecisions(t *testing.T) {
	t.Parallel()
	i, l := installAlerts(t)
	d := i.serve()
	i.lives("other")
	i.ends(2, "scan")
	l.awaits(i, "app", "new")
	r, err := d.report()
	if err != nil || len(r.Findings) != 1 {
		t.Fatalf("%d findings, error %v", len(r.Findings), err)
	}
	i.ends(0, "accept", r.Findings[0].ID, "--reason", "on its way out", "--owner", "shop", "--until", "30d")
	l.awaits(i, "app", "new, accepted")
	d.awaitMetric(`driftd_findings_accepted{source="test"} 1`)
	i.ends(0, "report")
	stdout, _, _ := i.driftd("decisions", "-o", "json")
	var list struct {
		Decisions []model.Decision `json:"decisions"`
	}
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || len(list.Decisions) != 1 {
		t.Fatalf("decisions: %v: %s", err, stdout)
	}
	i.ends(0, "decisions", "revoke", list.Decisions[0].ID)
	l.awaits(i, "app", "new, accepted, returned")
}

// TestTrigger starts a scan by a push event, signed like GitHub's.
func TestTrigger(t *testing.T) {
	t.Parallel()
	i, l := installAlerts(t)
	i.serve()
	i.lives("other")
	body := `{"ref": "refs/heads/main"}`
	mac := hmac.New(sha256.New, []byte(pushSecret))
	mac.Write([]byte(body))
	signature := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	for _, step := range []struct {
		reason, name, signature string
		want                    int
	}{
		{"somebody else signed it", "push", "sha256=" + strings.Repeat("0", 64), http.StatusUnauthorized},
		{"nobody signed it", "push", "", http.StatusUnauthorized},
		{"there is no such trigger", "pull", signature, http.StatusNotFound},
		{"it is signed", "push", signature, http.StatusAccepted},
		{"it was accepted before", "push", signature, http.StatusConflict},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+i.address+"/hooks/"+step.name, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Hub-Signature-256", step.signature)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != step.want {
			t.Errorf("%s: %s, want %d", step.reason, resp.Status, step.want)
		}
	}
	l.awaits(i, "app", "new")
}
