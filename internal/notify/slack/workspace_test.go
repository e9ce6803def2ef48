package slack_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slacktest"

	"github.com/driftd/driftd/internal/notify"
	driftdslack "github.com/driftd/driftd/internal/notify/slack"
)

const (
	channel  = "C024BE92L"
	botToken = "xoxb-s3cr3t-b0t"
	appToken = "xapp-s3cr3t-app"
	alice    = "U0ALICE00"
	bob      = "U0BOB0000"
	carol    = "U0CAROL00"
	team     = "S0CREW000"
)

// A posted is a message in the workspace.
type posted struct {
	Channel, TS, Thread, Text string
	Blocks                    string
	Metadata                  slack.SlackMetadata
	Broadcast                 bool
	Edits                     int
}

// A workspace is a slacktest.Server with further methods of Slack. It stores messages, and
// can be set to fail.
type workspace struct {
	t      *testing.T
	server *slacktest.Server

	mu         sync.Mutex
	messages   []*posted
	ephemerals []string
	calls      []string
	modals     []slack.ModalViewRequest
	faults     map[string][]http.HandlerFunc
	// loseResponse is set to store the next message without a response.
	loseResponse bool

	sockets chan *socket
}

// newWorkspace starts a workspace.
func newWorkspace(t *testing.T) *workspace {
	t.Helper()
	w := &workspace{t: t, faults: map[string][]http.HandlerFunc{}, sockets: make(chan *socket, 10)}
	w.server = slacktest.NewTestServer(func(c slacktest.Customize) {
		for method, handler := range map[string]func(http.ResponseWriter, *http.Request) any{
			"chat.postMessage": w.post, "chat.update": w.update, "chat.postEphemeral": w.postEphemeral,
			"conversations.history": w.history, "conversations.replies": w.history,
			"views.open": w.open, "users.info": w.user, "usergroups.users.list": w.group, "apps.connections.open": w.connect,
		} {
			c.Handle("/"+method, w.method(method, handler))
		}
		c.Handle("/socket", w.socket)
	})
	w.server.Start()
	t.Cleanup(w.server.Stop)
	return w
}

// method returns a handler that records the call, and fails if a fault is set.
func (w *workspace) method(name string, handler func(http.ResponseWriter, *http.Request) any) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if token := r.PostFormValue("token"); token != botToken && r.Header.Get("Authorization") != "Bearer "+botToken &&
			r.Header.Get("Authorization") != "Bearer "+appToken {
			w.t.Errorf("%s: no token", name)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.calls = append(w.calls, name)
		if faults := w.faults[name]; len(faults) > 0 {
			w.faults[name] = faults[1:]
			faults[0](rw, r)
			return
		}
		answer := handler(rw, r)
		if err := json.NewEncoder(rw).Encode(answer); err != nil {
			w.t.Error(err)
		}
	}
}

func refuse(code string) map[string]any { return map[string]any{"ok": false, "error": code} }

// setFaults makes the next calls of a method fail, one for each fault.
func (w *workspace) setFaults(method string, faults ...http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults[method] = append(w.faults[method], faults...)
}

// slackError returns a fault that responds with an error code of Slack.
func slackError(code string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(rw, `{"ok":false,"error":%q}`, code)
	}
}

// httpResponse returns a fault that responds with a status and headers.
func httpResponse(status int, header ...string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			rw.Header().Set(header[i], header[i+1])
		}
		rw.WriteHeader(status)
	}
}

func (w *workspace) post(_ http.ResponseWriter, r *http.Request) any {
	w.checkPost(r)
	m := &posted{Channel: r.PostFormValue("channel"), Thread: r.PostFormValue("thread_ts"), Text: r.PostFormValue("text"),
		Blocks: r.PostFormValue("blocks"), TS: fmt.Sprintf("%d.%06d", time.Now().Unix(), len(w.messages)), Broadcast: r.PostFormValue("reply_broadcast") == "true"}
	if text := r.PostFormValue("metadata"); text != "" {
		if err := json.Unmarshal([]byte(text), &m.Metadata); err != nil {
			w.t.Error(err)
		}
	}
	if m.Thread != "" && w.message(m.Thread) == nil {
		return refuse("thread_not_found")
	}
	w.messages = append(w.messages, m)
	if w.loseResponse {
		w.loseResponse = false
		panic(http.ErrAbortHandler)
	}
	return map[string]any{"ok": true, "channel": m.Channel, "ts": m.TS}
}

// checkPost checks that a message disables markup and respects Slack's limits.
func (w *workspace) checkPost(r *http.Request) {
	for name, want := range map[string]string{"mrkdwn": "false", "parse": "none", "link_names": "false", "unfurl_links": "false"} {
		if got := r.PostFormValue(name); got != want {
			w.t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if r.PostFormValue("blocks") == "[]" {
		checkText(w.t, r.PostFormValue("text"))
		return
	}
	checkBlocks(w.t, r.PostFormValue("text"), []byte(r.PostFormValue("blocks")))
}

func (w *workspace) message(ts string) *posted {
	if i := slices.IndexFunc(w.messages, func(m *posted) bool { return m.TS == ts }); i >= 0 {
		return w.messages[i]
	}
	return nil
}

func (w *workspace) update(_ http.ResponseWriter, r *http.Request) any {
	w.checkPost(r)
	m := w.message(r.PostFormValue("ts"))
	if m == nil {
		return refuse("message_not_found")
	}
	m.Text, m.Blocks = r.PostFormValue("text"), r.PostFormValue("blocks")
	m.Edits++
	return map[string]any{"ok": true, "channel": m.Channel, "ts": m.TS}
}

// history returns the newest messages first, two per page.
func (w *workspace) history(_ http.ResponseWriter, r *http.Request) any {
	const size = 2
	thread := r.PostFormValue("ts")
	oldest, err := strconv.ParseFloat(r.PostFormValue("oldest"), 64)
	if err != nil || r.PostFormValue("include_all_metadata") != "1" {
		w.t.Errorf("history since %q with metadata %q", r.PostFormValue("oldest"), r.PostFormValue("include_all_metadata"))
	}
	var found []slack.Message
	for _, m := range slices.Backward(w.messages) {
		at, _ := strconv.ParseFloat(m.TS, 64)
		if m.Channel == r.PostFormValue("channel") && at >= oldest && (m.Thread == thread || thread != "" && m.TS == thread) {
			found = append(found, slack.Message{Msg: slack.Msg{Timestamp: m.TS, Metadata: m.Metadata}})
		}
	}
	from, _ := strconv.Atoi(r.PostFormValue("cursor"))
	nextCursor := ""
	if len(found) > from+size {
		nextCursor = strconv.Itoa(from + size)
	}
	return map[string]any{"ok": true, "messages": found[from:min(len(found), from+size)], "response_metadata": map[string]any{"next_cursor": nextCursor}}
}

func (w *workspace) postEphemeral(_ http.ResponseWriter, r *http.Request) any {
	checkBlocks(w.t, r.PostFormValue("text"), []byte(r.PostFormValue("blocks")))
	w.ephemerals = append(w.ephemerals, r.PostFormValue("user")+": "+render(w.t, r.PostFormValue("blocks")))
	return map[string]any{"ok": true, "message_ts": "1"}
}

func (w *workspace) open(_ http.ResponseWriter, r *http.Request) any {
	var request struct {
		Trigger string                 `json:"trigger_id"`
		View    slack.ModalViewRequest `json:"view"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		w.t.Error(err)
	}
	if request.Trigger == "" {
		w.t.Error("a form without a trigger")
	}
	w.modals = append(w.modals, request.View)
	return map[string]any{"ok": true, "view": map[string]any{"id": "V1"}}
}

func (w *workspace) user(_ http.ResponseWriter, r *http.Request) any {
	names := map[string]string{alice: "Alice <!channel> Doe", bob: ""}
	return map[string]any{"ok": true, "user": map[string]any{"id": r.PostFormValue("user"), "real_name": names[r.PostFormValue("user")]}}
}

func (w *workspace) group(_ http.ResponseWriter, r *http.Request) any {
	if group := r.PostFormValue("usergroup"); group != team {
		return refuse("no_such_subteam")
	}
	return map[string]any{"ok": true, "users": []string{bob, carol}}
}

func (w *workspace) connect(_ http.ResponseWriter, r *http.Request) any {
	if r.Header.Get("Authorization") != "Bearer "+appToken {
		w.t.Errorf("connected with %q", r.Header.Get("Authorization"))
	}
	return map[string]any{"ok": true, "url": "ws://" + w.server.ServerAddr + "/socket?ticket=t1ck3t"}
}

// A socket is one connection of the app.
type socket struct {
	*websocket.Conn
	t    *testing.T
	acks chan string
	gone chan struct{}
}

func (w *workspace) socket(rw http.ResponseWriter, r *http.Request) {
	slacktest.Websocket(func(c *websocket.Conn) {
		s := &socket{c, w.t, make(chan string, 100), make(chan struct{})}
		w.sockets <- s
		defer close(s.gone)
		for {
			_, text, err := c.ReadMessage()
			if err != nil {
				return
			}
			s.acks <- string(text)
		}
	})(rw, r)
}

// send sends an envelope and returns its acknowledgement.
func (s *socket) send(id string, payload any) string {
	s.t.Helper()
	if err := s.WriteJSON(map[string]any{"type": "interactive", "envelope_id": id, "payload": payload, "accepts_response_payload": true}); err != nil {
		s.t.Fatal(err)
	}
	return receiveFrom(s.t, s.acks)
}

// receiveFrom receives a value. It fails the test after a minute.
func receiveFrom[T any](t *testing.T, from chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-t.Context().Done():
	case <-time.After(time.Minute):
		t.Fatal("no value after a minute")
	}
	return got
}

// calledMethods returns the methods called since the last call of it, without
// apps.connections.open.
func (w *workspace) calledMethods() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := slices.DeleteFunc(slices.Clone(w.calls), func(c string) bool { return c == "apps.connections.open" })
	w.calls = nil
	return calls
}

// forms returns the forms that were opened.
func (w *workspace) forms() []slack.ModalViewRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.modals)
}

// all returns the messages in the channel.
func (w *workspace) all() []posted {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]posted, len(w.messages))
	for i, m := range w.messages {
		list[i] = *m
	}
	return list
}

func (w *workspace) deleteMessages() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages = nil
}

// settings are the settings of a receiver, by key.
type settings map[string]any

// settings returns the settings of a receiver of the workspace, overridden by more.
func (w *workspace) settings(more settings) settings {
	set := settings{"token_file": file(w.t, botToken), "channel": channel, "api_url": "http://" + w.server.ServerAddr, "pace": time.Duration(0)}
	for name, value := range more {
		set[name] = value
	}
	return set
}

// buttons is settings for a receiver with buttons.
func (w *workspace) buttons(more settings) settings {
	set := w.settings(settings{"app_token_file": file(w.t, appToken), "users": []string{alice}, "groups": []string{team}})
	for name, value := range more {
		set[name] = value
	}
	return set
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(content+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens the receiver "ops".
func open(definition notify.Definition, set settings, log *slog.Logger) (notify.Receiver, error) {
	return openAs("ops", definition, set, log)
}

// person returns the person of the table of people, which has one entry.
func person(user string) string {
	if user == carol {
		return "carol"
	}
	return ""
}

func openAs(name string, definition notify.Definition, set settings, log *slog.Logger) (notify.Receiver, error) {
	env := notify.Env{Name: name, Version: "1.2.3", URL: "https://driftd.example.org", Person: person, Now: time.Now, Log: log}
	return definition.Open(env, func(into any) error {
		config, ok := into.(*driftdslack.Config)
		if !ok {
			return fmt.Errorf("settings of type %T", into)
		}
		for name, value := range set {
			switch name {
			case "token_file":
				config.TokenFile = value.(string)
			case "channel":
				config.Channel = value.(string)
			case "webhook_url_file":
				config.WebhookURLFile = value.(string)
			case "app_token_file":
				config.AppTokenFile = value.(string)
			case "users":
				config.Users = value.([]string)
			case "groups":
				config.Groups = value.([]string)
			case "approvers":
				config.Approvers = value.([]string)
			case "api_url":
				config.APIURL = value.(string)
			case "timeout":
				config.Timeout = value.(time.Duration)
			case "pace":
				config.Pace = value.(time.Duration)
			default:
				return fmt.Errorf("unknown setting %s", name)
			}
		}
		return nil
	})
}

func mustOpen(t *testing.T, set settings) notify.Receiver {
	t.Helper()
	r, err := open(driftdslack.Definition(), set, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkNoSecrets fails the test if a text contains a secret.
func checkNoSecrets(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{"s3cr3t", "t1ck3t"} {
		if strings.Contains(text, secret) {
			t.Errorf("the text contains a secret: %s", text)
		}
	}
}
