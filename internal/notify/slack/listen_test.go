package slack_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	driftdslack "github.com/driftd/driftd/internal/notify/slack"
)

// A desk carries out what people ask for with buttons.
type desk struct {
	mu    sync.Mutex
	asked []notify.Request
	err   error
	done  chan struct{}
}

func newDesk() *desk { return &desk{done: make(chan struct{}, 100)} }

func (d *desk) decide(_ context.Context, r notify.Request) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer func() { d.done <- struct{}{} }()
	d.asked = append(d.asked, r)
	return r.By + " did " + string(r.Kind) + " <!channel>", d.err
}

func (d *desk) requests() []notify.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

// listen listens until the test ends, and then sees that nothing is left.
func listen(t *testing.T, to notify.Receiver, d *desk) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go pprof.Do(ctx, pprof.Labels("listens", t.Name()), func(ctx context.Context) { ended <- to.Listener.Listen(ctx, d.decide) })
	stop = sync.OnceValue(func() error {
		cancel()
		return await(t, ended)
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("listening ended with %v", err)
		}
	})
	return stop
}

// pressed is what Slack sends when somebody presses a button of a message.
func pressed(m posted, user string, action map[string]any) map[string]any {
	action["block_id"] = "b"
	return map[string]any{
		"type": "block_actions", "trigger_id": rand.Text(), "user": map[string]any{"id": user, "username": "u", "name": "alice.doe"},
		"channel": map[string]any{"id": m.Channel}, "container": map[string]any{"type": "message", "message_ts": m.TS, "channel_id": m.Channel},
		"actions": []any{action},
	}
}

// button returns what Slack sends of a button, as the message has it.
func button(t *testing.T, m posted, id string) map[string]any {
	t.Helper()
	var blocks []map[string]any
	if err := json.Unmarshal([]byte(m.Blocks), &blocks); err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		for _, e := range b["elements"].([]any) {
			e := e.(map[string]any)
			if e["action_id"] != id {
				continue
			}
			action := map[string]any{"action_id": id, "type": e["type"], "value": e["value"]}
			if options, ok := e["options"].([]any); ok {
				action["selected_option"] = options[1]
			}
			return action
		}
	}
	t.Fatalf("no button %s", id)
	return nil
}

// settled waits until the workspace has what is looked for.
func (w *workspace) settled(what string, is func() bool) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); runtime.Gosched() {
		if is() {
			return
		}
	}
	w.t.Fatalf("%s did not come", what)
}

func (w *workspace) ephemeral() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.ephemerals)
}

func TestButtons(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, action, user string
		want                 notify.Request
	}{
		"acknowledge": {"a configured user", "driftd_acknowledge", alice,
			notify.Request{Kind: model.Acknowledge, By: "Alice ‹!channel› Doe (U0ALICE00)"}},
		"snooze": {"the second choice is four hours", "driftd_snooze", alice,
			notify.Request{Kind: model.Snooze, By: "Alice ‹!channel› Doe (U0ALICE00)", Until: "4h"}},
		"a member of a group": {"who has no name is called as the press says", "driftd_acknowledge", bob,
			notify.Request{Kind: model.Acknowledge, By: "alice.doe (U0BOB0000)"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.buttons(nil))
			deliver(t, to, first(), "")
			d := newDesk()
			listen(t, to, d)
			s := await(t, w.sockets)
			m := w.all()[0]
			if ack := s.send("e1", pressed(m, test.user, button(t, m, test.action))); !strings.Contains(ack, `"e1"`) {
				t.Errorf("acknowledged with %s", ack)
			}
			await(t, d.done)
			w.settled("an answer", func() bool { return len(w.all()) == 2 })
			test.want.Receiver, test.want.Thread, test.want.Sequence = "ops", "abc123", 1
			if diff := cmp.Diff([]notify.Request{test.want}, d.requests()); diff != "" {
				t.Errorf("%s: asked (-want +got):\n%s", test.reason, diff)
			}
			answer := w.all()[1]
			if answer.Thread != m.TS || !strings.Contains(read(t, answer.Blocks), "did "+string(test.want.Kind)+" ‹!channel›") {
				t.Errorf("the answer is %+v", answer)
			}
		})
	}
}

// TestNotDone: what does not count is said to who pressed, and to nobody else.
func TestNotDone(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		change func(*workspace, *desk, map[string]any)
		press  func(*posted)
		user   string
		want   string
		asked  int
	}{
		"a stranger": {reason: "who may is named", user: "U0MALLORY", want: "You are not allowed to decide here. Allowed: @U0ALICE00 and @S0CREW000"},
		"a refusal": {reason: "the reason is said", user: alice, asked: 1, want: "The decision failed: no ‹!here›",
			change: func(_ *workspace, d *desk, _ map[string]any) { d.err = errors.New("no <!here>") }},
		"another channel": {reason: "a press in another channel is none of ours", user: alice, want: "does not handle that message",
			press: func(m *posted) { m.Channel = "C0OTHER00" }},
		"another receiver": {reason: "nobody has that name", user: alice, want: "does not handle that message",
			change: func(_ *workspace, _ *desk, action map[string]any) { action["value"] = "others/abc123.1" }},
		"nobody knows": {reason: "Slack does not tell who is in the group", user: "U0MALLORY", want: "permission could not be checked: list members of S0CREW000: missing_scope",
			change: func(w *workspace, _ *desk, _ map[string]any) { w.fails("usergroups.users.list", says("missing_scope")) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.buttons(nil))
			deliver(t, to, first(), "")
			d := newDesk()
			listen(t, to, d)
			s := await(t, w.sockets)
			m := w.all()[0]
			action := button(t, m, "driftd_acknowledge")
			if test.change != nil {
				test.change(w, d, action)
			}
			if test.press != nil {
				test.press(&m)
			}
			s.send("e1", pressed(m, test.user, action))
			w.settled("an answer", func() bool { return len(w.ephemeral()) == 1 })
			if got := w.ephemeral()[0]; !strings.HasPrefix(got, test.user+": ") || !strings.Contains(got, test.want) {
				t.Errorf("%s: %s", test.reason, got)
			}
			if n := len(d.requests()); n != test.asked {
				t.Errorf("%s: %d decisions", test.reason, n)
			}
			if n := len(w.all()); n != 1 {
				t.Errorf("%s: %d messages", test.reason, n)
			}
		})
	}
}

// TestTwice: a press counts once, also when Slack sends it again; one that was
// refused counts not at all.
func TestTwice(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, w.buttons(nil))
	deliver(t, to, first(), "")
	d := newDesk()
	d.err = errors.New("the store is full")
	listen(t, to, d)
	s := await(t, w.sockets)
	m := w.all()[0]
	press := pressed(m, alice, button(t, m, "driftd_acknowledge"))
	s.send("e1", press)
	w.settled("a refusal", func() bool { return len(w.ephemeral()) == 1 })
	d.mu.Lock()
	d.err = nil
	d.mu.Unlock()
	s.send("e2", press)
	w.settled("an answer", func() bool { return len(w.all()) == 2 })
	s.send("e2", press)
	w.settled("an answer", func() bool { return len(w.ephemeral()) == 2 })
	if got := w.ephemeral()[1]; !strings.Contains(got, "repeated click") {
		t.Errorf("answered with %q", got)
	}
	if n := len(d.requests()); n != 2 {
		t.Errorf("%d decisions", n)
	}
	s.send("e3", pressed(m, alice, button(t, m, "driftd_snooze"))) // something else
	w.settled("an answer", func() bool { return len(w.all()) == 3 })
}

// TestReconnect: a connection that breaks, or that Slack ends, is made again,
// and what comes over it is heard.
func TestReconnect(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	var log bytes.Buffer
	to, err := open(driftdslack.Definition(), w.buttons(nil), slog.New(slog.NewTextHandler(&locked{w: &log}, nil)))
	if err != nil {
		t.Fatal(err)
	}
	deliver(t, to, first(), "")
	d := newDesk()
	w.fails("apps.connections.open", answers(http.StatusBadGateway), says("internal_error"))
	stop := listen(t, to, d)
	s := await(t, w.sockets)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = await(t, w.sockets)
	if err := s.WriteJSON(map[string]any{"type": "disconnect", "reason": "refresh_requested"}); err != nil {
		t.Fatal(err)
	}
	s = await(t, w.sockets)
	for _, noise := range []string{`{`, `{"type":"hello"}`, `{"type":"what is this","envelope_id":"x"}`, `{"type":"slash_commands","envelope_id":"x","payload":{}}`,
		`{"type":"interactive","envelope_id":"x","payload":{"type":"shortcut"}}`, `{"type":"interactive","envelope_id":"x","payload":[]}`} {
		if err := s.WriteMessage(1, []byte(noise)); err != nil {
			t.Fatal(err)
		}
	}
	m := w.all()[0]
	if err := s.WriteJSON(map[string]any{"type": "interactive", "envelope_id": "e1", "payload": pressed(m, alice, button(t, m, "driftd_acknowledge"))}); err != nil {
		t.Fatal(err)
	}
	await(t, d.done)
	w.settled("an answer", func() bool { return len(w.all()) == 2 })
	if err := stop(); err != nil {
		t.Errorf("listening ended with %v", err)
	}
	await(t, s.gone)
	w.settled("the end of all that was started", func() bool { return !strings.Contains(goroutines(t), t.Name()+`"`) })
	hides(t, log.String())
	if got := log.String(); !strings.Contains(got, "connection for buttons lost") || !strings.Contains(got, "listening to buttons") {
		t.Errorf("the log says:\n%s", got)
	}
}

// goroutines lists what runs, with whom it was started for.
func goroutines(t *testing.T) string {
	t.Helper()
	var list bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&list, 1); err != nil {
		t.Fatal(err)
	}
	return list.String()
}

// A locked writer is one that two may write to.
type locked struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

// Write writes.
func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// TestRefusedToken: what no repetition mends ends the listening, and says which
// token it is about. Messages go out all the same, and have no buttons that
// nobody hears.
func TestRefusedToken(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"invalid_auth", "token_revoked", "account_inactive", "missing_scope", "not_allowed_token_type"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			w.fails("apps.connections.open", says(code))
			to := mustOpen(t, w.buttons(nil))
			receipt := deliver(t, to, first(), "")
			err := to.Listener.Listen(t.Context(), newDesk().decide)
			want := "connect: " + code + "; create an app-level token (xapp-…) with the scope connections:write in the app's settings in Slack, and write it into app_token_file"
			if !errors.Is(err, notify.ErrPermanent) || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
			if got := read(t, w.all()[0].Blocks); !strings.Contains(got, "(Acknowledge)") {
				t.Errorf("before that, the message reads:\n%s", got)
			}
			deliver(t, to, next(), receipt)
			if got := read(t, w.all()[0].Blocks); !strings.Contains(got, "1 open") || strings.Contains(got, "(Acknowledge)") {
				t.Errorf("after that, the message reads:\n%s", got)
			}
		})
	}
}

// TestPeers: two receivers share one app, and either hears of the other's
// buttons; each has its own people.
func TestPeers(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	definition := driftdslack.Definition()
	quiet := slog.New(slog.DiscardHandler)
	one, err := open(definition, w.buttons(settings{"users": []string{alice}, "groups": []string{}}), quiet)
	if err != nil {
		t.Fatal(err)
	}
	// The other has its own name, channel and people.
	other, err := openAs("other", definition, w.buttons(settings{"users": []string{bob}, "groups": []string{}, "channel": "C0OTHER00"}), quiet)
	if err != nil {
		t.Fatal(err)
	}
	deliver(t, one, first(), "")
	m := w.all()[0]
	press := func(user string) map[string]any { return pressed(m, user, button(t, m, "driftd_acknowledge")) }

	d := newDesk()
	listen(t, other, newDesk())
	s := await(t, w.sockets)
	s.send("e0", press(alice)) // nobody listens who has that name
	w.settled("an answer", func() bool { return len(w.ephemeral()) == 1 })

	listen(t, one, d)
	await(t, w.sockets)
	s.send("e1", press(bob))
	w.settled("an answer", func() bool { return len(w.ephemeral()) == 2 })
	s.send("e2", press(alice))
	await(t, d.done)
	if got := d.requests(); len(got) != 1 || got[0].Receiver != "ops" {
		t.Errorf("asked %+v", got)
	}
	if got := w.ephemeral()[1]; !strings.Contains(got, bob+": You are not allowed to decide") {
		t.Errorf("answered with %q", got)
	}
}

// FuzzInteraction: whatever comes is read without harm, and means nothing that it does
// not say.
func FuzzInteraction(f *testing.F) {
	for _, payload := range []any{
		pressed(posted{Channel: channel, TS: "1.2"}, alice, map[string]any{"action_id": "driftd_acknowledge", "value": "ops/abc.1"}),
		pressed(posted{Channel: channel, TS: "1.2"}, alice, map[string]any{"action_id": "driftd_snooze", "selected_option": map[string]any{"value": "4h:ops/abc.1"}}),
		sent(slack.ModalViewRequest{CallbackID: "driftd_accept_form", PrivateMetadata: `{"ref":"ops/abc.1"}`}, "V1", "x", "y", "forever", ""),
	} {
		raw, err := json.Marshal(payload)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var callback slack.InteractionCallback
		if json.Unmarshal(raw, &callback) != nil {
			return
		}
		request, thread, ok := driftdslack.Read(callback, at(1))
		if ok && (thread == "" || request.Kind == model.Accept && (request.Reason == "" || request.Owner == "") ||
			request.Until == "" && (request.Kind == model.Accept || request.Kind == model.Snooze)) {
			t.Errorf("%s asks for %+v of %q", raw, request, thread)
		}
	})
}
