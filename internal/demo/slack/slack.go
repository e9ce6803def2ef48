// Package slack simulates a Slack workspace with one app, for the demonstration. It stores
// messages and returns them for display.
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
	// maxMessages is the maximum number of stored messages. maxForm is the maximum size of a
	// request body in bytes.
	maxMessages = 200
	maxForm     = 1 << 20
	// pingEvery is the interval of pings on a connection of the app.
	pingEvery = 10 * time.Second
)

// A Workspace is a simulated Slack workspace. It is safe for concurrent use.
type Workspace struct {
	// Channels maps the IDs of the channels to their names.
	Channels map[string]string
	// Token is the bot token of the app. AppToken is its token for Socket Mode, which delivers
	// button events.
	Token, AppToken string

	mu       sync.Mutex
	messages []*message
	posted   int
}

// A message is a message in a channel.
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

// ServeHTTP serves the Slack methods that driftd calls.
func (w *Workspace) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	method := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if method == "socket" {
		holdSocket(rw, r)
		return
	}
	r.Body = http.MaxBytesReader(rw, r.Body, maxForm)
	var response map[string]any
	switch token := requestToken(r); {
	case method == "apps.connections.open" && token == w.AppToken:
		response = map[string]any{"ok": true, "url": "ws://" + r.Host + "/socket"}
	case token != w.Token:
		response = errorResponse("invalid_auth")
	default:
		response = w.call(method, r)
	}
	body, err := json.Marshal(response)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	// An error means that the client has disconnected.
	_, _ = rw.Write(body)
}

// requestToken returns the token in the header or the form of r.
func requestToken(r *http.Request) string {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return token
	}
	return r.PostFormValue("token")
}

// call returns the response of a method.
func (w *Workspace) call(method string, r *http.Request) map[string]any {
	switch method {
	case "chat.postMessage":
		return w.post(r)
	case "chat.update":
		return w.update(r)
	case "conversations.history", "conversations.replies":
		return w.history(r)
	}
	return errorResponse("unknown_method")
}

// errorResponse returns a response with an error code.
func errorResponse(code string) map[string]any { return map[string]any{"ok": false, "error": code} }

// post stores a message.
func (w *Workspace) post(r *http.Request) map[string]any {
	blocks, err := readBlocks(r.PostFormValue("blocks"))
	if err != nil {
		return errorResponse("invalid_blocks")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.posted++
	m := &message{at: now, ts: fmt.Sprintf("%d.%06d", now.Unix(), w.posted), channel: r.PostFormValue("channel"), thread: r.PostFormValue("thread_ts"),
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

// update replaces a message.
func (w *Workspace) update(r *http.Request) map[string]any {
	blocks, err := readBlocks(r.PostFormValue("blocks"))
	if err != nil {
		return errorResponse("invalid_blocks")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.messages {
		if m.ts == r.PostFormValue("ts") && m.channel == r.PostFormValue("channel") {
			m.text, m.blocks, m.edited = r.PostFormValue("text"), blocks, true
			return map[string]any{"ok": true, "channel": m.channel, "ts": m.ts}
		}
	}
	return errorResponse("message_not_found")
}

// history returns all messages of a channel or a thread, the newest first.
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

// appOrigin is the Origin of the app's connections. Browsers send another one.
const appOrigin = "https://api.slack.com"

// holdSocket keeps a Socket Mode connection open until the app closes it. It sends no button
// events.
func holdSocket(rw http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{HandshakeTimeout: pingEvery, CheckOrigin: func(r *http.Request) bool {
		return r.Header.Get("Origin") == appOrigin
	}}
	connection, err := upgrader.Upgrade(rw, r, nil)
	if err != nil {
		return // Upgrade has sent the response.
	}
	connection.SetReadLimit(maxForm)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for {
			if _, _, err := connection.ReadMessage(); err != nil {
				return
			}
		}
	}()
	// An error means that the connection is closed.
	_ = connection.WriteJSON(map[string]any{"type": "hello", "num_connections": 1, "connection_info": map[string]any{"app_id": "A0DEMO0000"}})
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for err == nil {
		select {
		case <-ticker.C:
			err = connection.WriteControl(websocket.PingMessage, nil, time.Now().Add(pingEvery))
		case <-closed:
			err = net.ErrClosed
		case <-r.Context().Done():
			err = r.Context().Err()
		}
	}
	_ = connection.Close()
	<-closed
}

// Messages returns the messages as Slack would show them, the newest first.
func (w *Workspace) Messages() []web.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	messages := make([]web.Message, 0, len(w.messages))
	for i := len(w.messages) - 1; i >= 0; i-- {
		m := w.messages[i]
		name := m.channel
		if known, ok := w.Channels[m.channel]; ok {
			name = known
		}
		s := web.Message{At: m.at, Channel: name, Edited: m.edited, Reply: m.thread != "", Parts: parts(m.blocks)}
		if len(s.Parts) == 0 {
			s.Parts = []web.Part{{Kind: web.Section, Text: escape(m.text)}}
		}
		messages = append(messages, s)
	}
	return messages
}
