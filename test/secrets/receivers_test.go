//go:build e2e

package secrets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// The receivers are fake receivers that record all requests.
type receivers struct {
	*installation
	url  string
	mail string
	// buttons is the connection by which Slack sends the presses of buttons.
	buttons chan *websocket.Conn

	mu  sync.Mutex
	got map[string]*bytes.Buffer
	// message is the last one in Slack, and posts counts them.
	message url.Values
	posts   int
}

// receive starts a fake server for each type of receiver.
func (i *installation) receive() *receivers {
	i.t.Helper()
	r := &receivers{installation: i, got: map[string]*bytes.Buffer{}, buttons: make(chan *websocket.Conn, 8)}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", r.slack)
	mux.HandleFunc("/socket", r.socket)
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body) // a truncated body is checked as received
		r.keep(strings.SplitN(req.URL.Path, "/", 3)[1], body)
		w.WriteHeader(http.StatusOK)
	})
	server := httptest.NewServer(mux)
	i.t.Cleanup(server.Close)
	r.url, r.mail = server.URL, r.listenMail()
	return r
}

func (r *receivers) keep(receiver string, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.got[receiver] == nil {
		r.got[receiver] = &bytes.Buffer{}
	}
	r.got[receiver].Write(append(body, '\n'))
}

// config returns the notify section: a receiver of each type, which gets each finding in full.
// The credentials of each are secrets, too.
func (r *receivers) config() string {
	r.write("webhook-url", r.url+"/webhook/"+r.secret("path of the webhook's URL"))
	r.write("webhook-secret", r.secret("key that signs webhook messages")+"0123456789")
	r.write("webhook-headers", "X-Api-Key: "+r.secret("header of the webhook")+"\n")
	r.write("slack-token", "xoxb-"+r.secret("Slack token"))
	r.write("slack-app-token", "xapp-"+r.secret("Slack app token"))
	r.write("hook-url", r.url+"/slackhook/T000/"+r.secret("Slack webhook URL"))
	r.write("mail-url", "smtp://u:"+r.secret("password in the URL of shoutrrr")+"@"+r.mail+"/?from=a@example.org&to=b@example.org")
	r.write("alerts-password", r.secret("Alertmanager password"))
	return fmt.Sprintf(`
notify:
  url: "http://%[1]s"
  unchecked_after: 1s
  group_window: 1s
  receivers:
  - {name: webhook, type: webhook, rate: {messages: 0}, settings: {url_file: webhook-url, secret_file: webhook-secret, headers_file: webhook-headers}}
  - {name: slack, type: slack, rate: {messages: 0}, settings: {token_file: slack-token, app_token_file: slack-app-token, users: [U0ALICE00], channel: C0123456789, api_url: "%[2]s/api/", pace: 0s}}
  - {name: slackhook, type: slack, rate: {messages: 0}, settings: {webhook_url_file: hook-url, pace: 0s}}
  - {name: mail, type: shoutrrr, rate: {messages: 0}, settings: {url_file: mail-url}}
  - {name: alerts, type: alertmanager, rate: {messages: 0}, settings: {urls: ["%[2]s/alertmanager"], username: u, password_file: alerts-password}}
  routes:
  - {receivers: [webhook, slack, slackhook, alerts], group_by: [resource, verdict], continue: true}
  - {receivers: [mail], group_by: [declaration, verdict]}
`, r.address, r.url)
}

// notified waits until each receiver got a message, and checks the messages.
func (r *receivers) notified() {
	r.t.Helper()
	names := []string{"webhook", "slack", "slackhook", "mail", "alertmanager"}
	r.await("messages", func() error {
		for _, one := range r.installation.receivers() {
			if one.Queued > 0 {
				return fmt.Errorf("%s has %d messages left: %s", one.Name, one.Queued, one.Error)
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, name := range names {
			if r.got[name] == nil {
				return fmt.Errorf("%s was told nothing", name)
			}
		}
		return nil
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, body := range maps.All(r.got) {
		r.check("messages to "+name, body.Bytes())
	}
}

// A receiverStatus is a receiver in the status.
type receiverStatus struct {
	Name, Error string
	Queued      int
}

// receivers returns the status of the receivers.
func (i *installation) receivers() []receiverStatus {
	i.t.Helper()
	stdout, _ := i.driftd("status", "-o", "json")
	var status struct{ Receivers []receiverStatus }
	if err := json.Unmarshal([]byte(stdout), &status); err != nil {
		i.t.Fatalf("read status: %v: %s", err, stdout)
	}
	return status.Receivers
}

// slack handles requests like Slack.
func (r *receivers) slack(w http.ResponseWriter, req *http.Request) {
	method := strings.TrimPrefix(req.URL.Path, "/api/")
	body, _ := io.ReadAll(req.Body) // a truncated body is checked as received
	form, err := url.ParseQuery(string(body))
	form.Del("token")
	text := form.Encode()
	if err != nil || strings.HasPrefix(string(body), "{") {
		text = string(body)
	}
	r.keep("slack", []byte(text))
	answer := map[string]any{"ok": true}
	r.mu.Lock()
	switch method {
	case "apps.connections.open":
		answer["url"] = "ws" + strings.TrimPrefix(r.url, "http") + "/socket?ticket=" + r.secret("ticket of a Slack connection")
	case "chat.postMessage":
		r.posts++
		answer["channel"], answer["ts"] = form.Get("channel"), fmt.Sprintf("1700000000.%06d", r.posts)
		form.Set("ts", fmt.Sprint(answer["ts"]))
		r.message = form
	case "chat.update":
		answer["channel"], answer["ts"] = form.Get("channel"), form.Get("ts")
	case "conversations.history", "conversations.replies":
		answer["messages"] = []any{}
	case "users.info":
		answer["user"] = map[string]any{"id": "U0ALICE00", "real_name": "Alice"}
	}
	r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, mustJSON(answer)) // the client may have disconnected
}

func (r *receivers) socket(w http.ResponseWriter, req *http.Request) {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := upgrader.Upgrade(w, req, nil)
	if err != nil {
		return
	}
	if err := conn.WriteJSON(map[string]any{"type": "hello"}); err == nil {
		r.buttons <- conn
	}
}

// press presses a button of the last message in Slack. The payload of Slack contains secrets of
// its own. driftd may have reconnected meanwhile.
func (r *receivers) press(action string) {
	r.t.Helper()
	deadline := time.After(patience)
	for pressed := false; !pressed; {
		select {
		case conn := <-r.buttons:
			pressed = r.envelope(conn, action) == nil
		case <-deadline:
			r.t.Fatal("driftd does not listen to buttons")
		}
	}
	r.await("what the button does", func() error {
		if stdout, _ := r.driftd("decisions"); !strings.Contains(stdout, "Alice") {
			return errors.New(stdout)
		}
		return nil
	})
}

// button returns a button of the last message.
func (r *receivers) button(action string) (message url.Values, value any) {
	r.t.Helper()
	r.mu.Lock()
	message = r.message
	r.mu.Unlock()
	var blocks []struct {
		Elements []map[string]any `json:"elements"`
	}
	if err := json.Unmarshal([]byte(message.Get("blocks")), &blocks); err != nil {
		r.t.Fatalf("read a message in Slack: %v", err)
	}
	for _, b := range blocks {
		for _, e := range b.Elements {
			if e["action_id"] == action {
				return message, e["value"]
			}
		}
	}
	r.t.Fatalf("no button %s in %s", action, message.Get("blocks"))
	return nil, nil
}

// envelope sends the press of a button over a connection. The error is that of the connection.
func (r *receivers) envelope(conn *websocket.Conn, action string) error {
	r.t.Helper()
	message, value := r.button(action)
	defer func() { _ = conn.Close() }()
	payload := map[string]any{
		"type": "block_actions", "trigger_id": r.secret("trigger of a Slack action"), "token": r.secret("verification token of a Slack action"),
		"response_url": "https://hooks.slack.com/actions/T0/1/" + r.secret("response URL of a Slack action"),
		"user":         map[string]any{"id": "U0ALICE00", "username": "alice", "name": "alice"}, "channel": map[string]any{"id": message.Get("channel")},
		"container": map[string]any{"type": "message", "message_ts": message.Get("ts"), "channel_id": message.Get("channel")},
		"actions":   []any{map[string]any{"action_id": action, "block_id": "b", "type": "button", "value": value}},
	}
	if err := conn.WriteJSON(map[string]any{"type": "interactive", "envelope_id": "e1", "payload": payload}); err != nil {
		return err
	}
	_, _, err := conn.ReadMessage()
	return err
}

// listenMail starts a mail server, and returns its address.
func (r *receivers) listenMail() string {
	r.t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(r.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { r.takeMail(textproto.NewConn(conn)) })
		}
	})
	r.t.Cleanup(func() {
		_ = listener.Close()
		group.Wait()
	})
	return listener.Addr().String()
}

func (r *receivers) takeMail(c *textproto.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.PrintfLine("220 mail.example.org ESMTP") // the client may have disconnected
	for {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		answer := "250 fine"
		switch command, _, _ := strings.Cut(line, " "); command {
		case "EHLO":
			answer = "250-mail.example.org\r\n250 AUTH PLAIN"
		case "AUTH":
			answer = "235 welcome"
		case "DATA":
			_ = c.PrintfLine("354 go on")
			body, err := io.ReadAll(c.DotReader())
			if err != nil {
				return
			}
			r.keep("mail", body)
		case "QUIT":
			answer = "221 bye"
		}
		_ = c.PrintfLine("%s", answer)
	}
}

// TestReceivers checks that the fake servers record all requests.
func TestReceivers(t *testing.T) {
	t.Parallel()
	r := install(t).receive()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/webhook/x", strings.NewReader("text"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(req); err != nil {
		t.Fatal(err)
	}
	if got := r.got["webhook"].String(); got != "text\n" {
		t.Errorf("kept %q", got)
	}
}
