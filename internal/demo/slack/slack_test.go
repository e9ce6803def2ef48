package slack_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/gorilla/websocket"

	"github.com/driftd/driftd/internal/demo/slack"
	"github.com/driftd/driftd/internal/web"
)

func newWorkspace() *slack.Workspace {
	return &slack.Workspace{Channels: map[string]string{"C1": "#ops"}, Token: "xoxb-a", AppToken: "xapp-a"}
}

// call calls a method with the bot token.
func call(t *testing.T, w *slack.Workspace, method string, form url.Values) map[string]any {
	t.Helper()
	form.Set("token", w.Token)
	return send(t, w, method, form)
}

// send calls a method with the token in form, and returns its response.
func send(t *testing.T, w *slack.Workspace, method string, form url.Values) map[string]any {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/api/"+method, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	recorder := httptest.NewRecorder()
	w.ServeHTTP(recorder, r)
	var got map[string]any
	if err := json.Unmarshal(recorder.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestMessages(t *testing.T) {
	t.Parallel()
	w := newWorkspace()
	first := call(t, w, "chat.postMessage", url.Values{"channel": {"C1"}, "text": {"one < two"}, "metadata": {`{"event_type":"e"}`}})
	ts, ok := first["ts"].(string)
	if first["ok"] != true || !ok {
		t.Fatalf("chat.postMessage: %v", first)
	}
	if got := call(t, w, "chat.postMessage", url.Values{"channel": {"C1"}, "text": {"reply"}, "thread_ts": {ts}}); got["ok"] != true {
		t.Errorf("chat.postMessage in a thread: %v", got)
	}
	if got := call(t, w, "chat.update", url.Values{"channel": {"C1"}, "ts": {ts}, "text": {"uno"}}); got["ok"] != true {
		t.Errorf("chat.update: %v", got)
	}
	want := []web.Message{
		{Channel: "#ops", Reply: true, Parts: []web.Part{{Kind: web.Section, Text: "reply"}}},
		{Channel: "#ops", Edited: true, Parts: []web.Part{{Kind: web.Section, Text: "uno"}}},
	}
	if diff := cmp.Diff(want, w.Messages(), cmpopts.IgnoreFields(web.Message{}, "At")); diff != "" {
		t.Errorf("Messages() (-want +got):\n%s", diff)
	}
	for _, tc := range []struct {
		reason, method string
		form           url.Values
		want           string
	}{
		{"unknown message", "chat.update", url.Values{"channel": {"C1"}, "ts": {"1.1"}}, "message_not_found"},
		{"message of another channel", "chat.update", url.Values{"channel": {"C2"}, "ts": {ts}}, "message_not_found"},
		{"invalid blocks", "chat.postMessage", url.Values{"channel": {"C1"}, "blocks": {"{"}}, "invalid_blocks"},
		{"unsupported method", "users.list", url.Values{}, "unknown_method"},
	} {
		if got := call(t, w, tc.method, tc.form); got["error"] != tc.want {
			t.Errorf("%s: %v, want %s", tc.reason, got, tc.want)
		}
	}
	for reason, form := range map[string]url.Values{"no token": {}, "another token": {"token": {"xoxb-b"}}, "the app's token": {"token": {"xapp-a"}}} {
		if got := send(t, w, "chat.postMessage", form); got["error"] != "invalid_auth" {
			t.Errorf("%s: %v", reason, got)
		}
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	w := newWorkspace()
	ts, _ := call(t, w, "chat.postMessage", url.Values{"channel": {"C1"}, "text": {"root"}, "metadata": {`{"event_type":"e","event_payload":{"key":"k"}}`}})["ts"].(string)
	call(t, w, "chat.postMessage", url.Values{"channel": {"C1"}, "text": {"reply"}, "thread_ts": {ts}})
	for reason, tc := range map[string]struct {
		method string
		form   url.Values
		want   []string
	}{
		"channel":            {"conversations.history", url.Values{"channel": {"C1"}, "oldest": {"0"}}, []string{"root"}},
		"thread":             {"conversations.replies", url.Values{"channel": {"C1"}, "ts": {ts}}, []string{"reply", "root"}},
		"another channel":    {"conversations.history", url.Values{"channel": {"C2"}}, nil},
		"no recent messages": {"conversations.history", url.Values{"channel": {"C1"}, "oldest": {"99999999999"}}, nil},
	} {
		var got []string
		messages, _ := call(t, w, tc.method, tc.form)["messages"].([]any)
		for _, m := range messages {
			text, _ := m.(map[string]any)["text"].(string)
			got = append(got, text)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestParts checks the conversion of blocks to parts of a page.
func TestParts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, blocks string
		want           []web.Part
	}{
		{"rich text", `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[
			{"type":"text","text":"🟠 "},{"type":"text","text":"HIGH","style":{"bold":true}},{"type":"text","text":" <!channel> & co\n"},
			{"type":"text","text":" gone ","style":{"strike":true,"bold":true}},{"type":"text","text":"x y","style":{"code":true}},
			{"type":"link","url":"http://a/b","text":"de|tails"},{"type":"link","url":"http://a"},
			{"type":"date","timestamp":1,"format":"{date}","fallback":"1970-01-01"},{"type":"user","user_id":"U1"},{"type":"usergroup","usergroup_id":"S1"},{"type":"new"}]},
			{"type":"rich_text_preformatted","elements":[{"type":"text","text":"a: 1 → 2"}]}]}]`,
			[]web.Part{
				{Kind: web.Section, Text: "🟠 *HIGH* &lt;!channel&gt; &amp; co\n ~*gone*~ `x y`<http://a/b|de|tails><http://a>1970-01-01<@U1><!subteam^S1>"},
				{Kind: web.Section, Text: "```\na: 1 → 2\n```"}}},
		{"other blocks", `[{"type":"header","text":{"type":"plain_text","text":"*Drift* <now>"}},{"type":"divider"},
			{"type":"section","text":{"type":"mrkdwn","text":"*a*"},"fields":[{"type":"plain_text","text":"<b>"},{"type":"mrkdwn","text":"_c_"}]},
			{"type":"context","elements":[{"type":"mrkdwn","text":"*x*"},{"type":"plain_text","text":"<y>"}]}]`,
			[]web.Part{{Kind: web.Header, Text: "*Drift* <now>"}, {Kind: web.Divider}, {Kind: web.Section, Text: "*a*\n&lt;b&gt;\n_c_"},
				{Kind: web.Context, Text: "*x* &lt;y&gt;"}}},
		{"buttons", `[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Acknowledge"},"style":"primary"},
			{"type":"static_select","placeholder":{"type":"plain_text","text":"Snooze"}}]}]`,
			[]web.Part{{Kind: web.Buttons, Buttons: []string{"Acknowledge", "Snooze"}}}},
		{"only a block of an unknown type", `[{"type":"video"}]`, []web.Part{{Kind: web.Section, Text: "as &lt;text&gt;"}}},
	} {
		w := newWorkspace()
		if got := call(t, w, "chat.postMessage", url.Values{"channel": {"C1"}, "text": {"as <text>"}, "blocks": {tc.blocks}}); got["ok"] != true {
			t.Errorf("%s: %v", tc.reason, got)
			continue
		}
		if diff := cmp.Diff(tc.want, w.Messages()[0].Parts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// TestSocketMode checks the connection for button events.
func TestSocketMode(t *testing.T) {
	t.Parallel()
	w := newWorkspace()
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/api/apps.connections.open", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer xapp-a")
	recorder, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	var open struct{ URL string }
	if err := json.NewDecoder(recorder.Body).Decode(&open); err != nil || recorder.Body.Close() != nil {
		t.Fatal(err)
	}
	connection, response, err := websocket.DefaultDialer.DialContext(t.Context(), open.URL, http.Header{"Origin": {"https://api.slack.com"}})
	if err != nil {
		t.Fatal(err)
	}
	if response.Body.Close() != nil || connection.WriteMessage(websocket.TextMessage, []byte(`{}`)) != nil {
		t.Error("cannot write to the connection")
	}
	var hello struct{ Type string }
	if err := connection.ReadJSON(&hello); err != nil || hello.Type != "hello" {
		t.Errorf("first message = %q, %v", hello.Type, err)
	}
	if err := connection.Close(); err != nil {
		t.Error(err)
	}
	_, refused, err := websocket.DefaultDialer.DialContext(t.Context(), open.URL, http.Header{"Origin": {"https://evil.example.org"}})
	if err == nil || refused.StatusCode != http.StatusForbidden || refused.Body.Close() != nil {
		t.Errorf("connection with another Origin: error %v, want status 403", err)
	}
}

func TestMaxMessages(t *testing.T) {
	t.Parallel()
	w := newWorkspace()
	for range 205 {
		call(t, w, "chat.postMessage", url.Values{"channel": {"C1"}, "text": {"x"}})
	}
	call(t, w, "chat.postMessage", url.Values{"channel": {"C1"}, "text": {"last"}})
	got := w.Messages()
	if len(got) != 200 || got[0].Parts[0].Text != "last" {
		t.Errorf("%d messages, the newest %v", len(got), got[0].Parts)
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add(`[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"a","style":{"bold":true}}]}]}]`)
	f.Add(`[{"type":"section","text":"x","style":"y"}]`)
	f.Fuzz(func(t *testing.T, blocks string) {
		w := newWorkspace()
		call(t, w, "chat.postMessage", url.Values{"channel": {"C1"}, "text": {"t"}, "blocks": {blocks}})
		for _, got := range w.Messages() {
			if len(got.Parts) == 0 {
				t.Error("a message has no parts")
			}
		}
	})
}
