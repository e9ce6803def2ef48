// Package slack is a stand-in for a Slack workspace with one app, for the
// demonstration: it takes and keeps messages, and shows them.
package slack

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/driftd/driftd/internal/web"
)

const (
	// maxMessages bounds what is kept, and maxForm the body of a request.
	maxMessages = 200
	maxForm     = 1 << 20
	// pingEvery is how often a connection of the app is told that it stands.
	pingEvery = 10 * time.Second
)

// A Workspace takes what an app sends. It is safe for concurrent use.
type Workspace struct {
	// Channels are the names of the channels by their IDs.
	Channels map[string]string
	// Token is what the app shows with every request, AppToken what it shows to
	// be told of buttons.
	Token, AppToken string

	mu       sync.Mutex
	messages []*message
	sent     int
}

// A message is one in a channel.
type message struct {
	at       time.Time
	ts       string
	channel  string
	thread   string
	edited   bool
	text     string
	blocks   []block
	metadata json.RawMessage
}

// ServeHTTP answers those of Slack's methods that driftd calls.
func (w *Workspace) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	method := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if method == "socket" {
		hold(rw, r)
		return
	}
	r.Body = http.MaxBytesReader(rw, r.Body, maxForm)
	var answer map[string]any
	switch shown := shownToken(r); {
	case method == "apps.connections.open" && shown == w.AppToken:
		answer = map[string]any{"ok": true, "url": "ws://" + r.Host + "/socket"}
	case shown != w.Token:
		answer = refusal("invalid_auth")
	default:
		answer = w.answer(method, r)
	}
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	// A client that is gone takes no answer.
	_, _ = rw.Write(body)
}

// shownToken is the token that a request shows, in its header or its form.
func shownToken(r *http.Request) string {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return token
	}
	return r.PostFormValue("token")
}

func (w *Workspace) answer(method string, r *http.Request) map[string]any {
	switch method {
	case "chat.postMessage":
		return w.post(r)
	case "chat.update":
		return w.update(r)
	case "conversations.history", "conversations.replies":
		return w.history(r)
	}
	return refusal("unknown_method")
}

func refusal(code string) map[string]any { return map[string]any{"ok": false, "error": code} }

// post keeps a message.
func (w *Workspace) post(r *http.Request) map[string]any {
	blocks, err := readBlocks(r.PostFormValue("blocks"))
	if err != nil {
		return refusal("invalid_blocks")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.sent++
	m := &message{at: now, ts: fmt.Sprintf("%d.%06d", now.Unix(), w.sent), channel: r.PostFormValue("channel"), thread: r.PostFormValue("thread_ts"),
		text: r.PostFormValue("text"), blocks: blocks}
	if metadata := r.PostFormValue("metadata"); json.Valid([]byte(metadata)) {
		m.metadata = json.RawMessage(metadata)
	}
	w.messages = append(w.messages, m)
	if over := len(w.messages) - maxMessages; over > 0 {
		w.messages = w.messages[over:]
	}
	return map[string]any{"ok": true, "channel": m.channel, "ts": m.ts}
}

// update puts another message in a message's place.
func (w *Workspace) update(r *http.Request) map[string]any {
	blocks, err := readBlocks(r.PostFormValue("blocks"))
	if err != nil {
		return refusal("invalid_blocks")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.messages {
		if m.ts == r.PostFormValue("ts") && m.channel == r.PostFormValue("channel") {
			m.text, m.blocks, m.edited = r.PostFormValue("text"), blocks, true
			return map[string]any{"ok": true, "channel": m.channel, "ts": m.ts}
		}
	}
	return refusal("message_not_found")
}

// history lists the messages of a channel, or of a thread, on one page, the
// newest first.
func (w *Workspace) history(r *http.Request) map[string]any {
	oldest, err := strconv.ParseFloat(r.PostFormValue("oldest"), 64)
	if err != nil {
		oldest = 0
	}
	thread := r.PostFormValue("ts")
	w.mu.Lock()
	defer w.mu.Unlock()
	found := []any{}
	for i := len(w.messages) - 1; i >= 0; i-- {
		m := w.messages[i]
		at, err := strconv.ParseFloat(m.ts, 64)
		if err == nil && at >= oldest && m.channel == r.PostFormValue("channel") && (m.thread == thread || thread != "" && m.ts == thread) {
			found = append(found, map[string]any{"ts": m.ts, "text": m.text, "metadata": m.metadata})
		}
	}
	return map[string]any{"ok": true, "messages": found, "has_more": false}
}

// appOrigin is what an app's connection comes from; no page of a browser does.
const appOrigin = "https://api.slack.com"

// hold keeps a connection of the app open until the app closes it. Nobody
// presses a button here.
func hold(rw http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{HandshakeTimeout: pingEvery, CheckOrigin: func(r *http.Request) bool {
		return r.Header.Get("Origin") == appOrigin
	}}
	connection, err := upgrader.Upgrade(rw, r, nil)
	if err != nil {
		return // The answer has gone out.
	}
	connection.SetReadLimit(maxForm)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			if _, _, err := connection.ReadMessage(); err != nil {
				return
			}
		}
	}()
	// Whatever fails, the connection is gone.
	_ = connection.WriteJSON(map[string]any{"type": "hello", "num_connections": 1, "connection_info": map[string]any{"app_id": "A0DEMO0000"}})
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for err == nil {
		select {
		case <-ticker.C:
			err = connection.WriteControl(websocket.PingMessage, nil, time.Now().Add(pingEvery))
		case <-gone:
			err = net.ErrClosed
		case <-r.Context().Done():
			err = r.Context().Err()
		}
	}
	_ = connection.Close()
	<-gone
}

// Said are the messages as Slack would show them, the newest first.
func (w *Workspace) Said() []web.Said {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := make([]web.Said, 0, len(w.messages))
	for i := len(w.messages) - 1; i >= 0; i-- {
		m := w.messages[i]
		name := m.channel
		if known, ok := w.Channels[m.channel]; ok {
			name = known
		}
		s := web.Said{At: m.at, Channel: name, Edited: m.edited, Reply: m.thread != "", Parts: parts(m.blocks)}
		if len(s.Parts) == 0 {
			s.Parts = []web.Part{{Kind: web.Section, Text: escape(m.text)}}
		}
		said = append(said, s)
	}
	return said
}
