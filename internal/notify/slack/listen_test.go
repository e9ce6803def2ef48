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

// A fakeDecider records requests and answers.
type fakeDecider struct {
	mu       sync.Mutex
	received []notify.Request
	answers  []notify.ActionAnswer
	action   model.ActionNotice
	err      error
	done     chan struct{}
}

func (d *fakeDecider) Action(id string) (model.ActionNotice, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id != d.action.ID {
		return d.action, errors.New("there is no action " + id)
	}
	return d.action, nil
}

func (d *fakeDecider) AnswerAction(_ context.Context, a notify.ActionAnswer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer func() { d.done <- struct{}{} }()
	d.answers = append(d.answers, a)
	return d.err
}

func newFakeDecider() *fakeDecider { return &fakeDecider{done: make(chan struct{}, 100)} }

func (d *fakeDecider) Decide(_ context.Context, r notify.Request) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer func() { d.done <- struct{}{} }()
	d.received = append(d.received, r)
	return r.By + " did " + string(r.Kind) + " <!channel>", d.err
}

func (d *fakeDecider) given() []notify.ActionAnswer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.answers)
}

func (d *fakeDecider) requests() []notify.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.received)
}

// listen runs the Listener until stop is called or the test ends. It fails the test if Listen
// returns an error.
func listen(t *testing.T, to notify.Receiver, d *fakeDecider) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go pprof.Do(ctx, pprof.Labels("listens", t.Name()), func(ctx context.Context) { ended <- to.Listener.Listen(ctx, d) })
	stop = sync.OnceValue(func() error {
		cancel()
		return receiveFrom(t, ended)
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("Listen() = %v", err)
		}
	})
	return stop
}

// clickEvent returns the event of a click on a button of m.
func clickEvent(m posted, user string, action map[string]any) map[string]any {
	action["block_id"] = "b"
	return map[string]any{
		"type": "block_actions", "trigger_id": rand.Text(), "user": map[string]any{"id": user, "username": "u", "name": "alice.doe"},
		"channel": map[string]any{"id": m.Channel}, "container": map[string]any{"type": "message", "message_ts": m.TS, "channel_id": m.Channel},
		"actions": []any{action},
	}
}

// buttonAction returns the action in the event of a click on the button id of m. Of a menu, it
// selects the second option.
func buttonAction(t *testing.T, m posted, id string) map[string]any {
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

// waitUntil waits until is returns true. what is the condition in the failure.
func (w *workspace) waitUntil(what string, is func() bool) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); runtime.Gosched() {
		if is() {
			return
		}
	}
	w.t.Fatalf("no %s after a minute", what)
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
		"a member of a group": {"the name in the event is used for a user without a name", "driftd_acknowledge", bob,
			notify.Request{Kind: model.Acknowledge, By: "alice.doe (U0BOB0000)"}},
		"a person": {"a person has the same name everywhere", "driftd_acknowledge", carol,
			notify.Request{Kind: model.Acknowledge, By: "carol"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.buttons(nil))
			deliver(t, to, firstMessage(), "")
			d := newFakeDecider()
			listen(t, to, d)
			s := receiveFrom(t, w.sockets)
			m := w.all()[0]
			if ack := s.send("e1", clickEvent(m, test.user, buttonAction(t, m, test.action))); !strings.Contains(ack, `"e1"`) {
				t.Errorf("got acknowledgement %s", ack)
			}
			receiveFrom(t, d.done)
			w.waitUntil("answer", func() bool { return len(w.all()) == 2 })
			test.want.Receiver, test.want.Thread, test.want.Sequence = "ops", "abc123", 1
			if diff := cmp.Diff([]notify.Request{test.want}, d.requests()); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", test.reason, diff)
			}
			answer := w.all()[1]
			if answer.Thread != m.TS || !strings.Contains(render(t, answer.Blocks), "did "+string(test.want.Kind)+" ‹!channel›") {
				t.Errorf("got answer %+v", answer)
			}
		})
	}
}

// TestRejectedClicks checks that only the person who clicked sees why a click is rejected.
func TestRejectedClicks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason    string
		change    func(*workspace, *fakeDecider, map[string]any)
		move      func(*posted)
		user      string
		want      string
		decisions int
	}{
		"not allowed": {reason: "the answer names the allowed users and groups", user: "U0MALLORY", want: "You are not allowed to decide here. Allowed: @U0ALICE00 and @S0CREW000"},
		"failed decision": {reason: "the answer has the error of the decision", user: alice, decisions: 1, want: "The decision failed: no ‹!here›",
			change: func(_ *workspace, d *fakeDecider, _ map[string]any) { d.err = errors.New("no <!here>") }},
		"another channel": {reason: "the message is in a channel without a receiver", user: alice, want: "does not handle that message",
			move: func(m *posted) { m.Channel = "C0OTHER00" }},
		"another receiver": {reason: "no receiver has the name", user: alice, want: "does not handle that message",
			change: func(_ *workspace, _ *fakeDecider, action map[string]any) { action["value"] = "others/abc123.1" }},
		"unknown members": {reason: "the members of the group cannot be read", user: "U0MALLORY", want: "permission could not be checked: list members of S0CREW000: missing_scope",
			change: func(w *workspace, _ *fakeDecider, _ map[string]any) {
				w.setFaults("usergroups.users.list", slackError("missing_scope"))
			}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.buttons(nil))
			deliver(t, to, firstMessage(), "")
			d := newFakeDecider()
			listen(t, to, d)
			s := receiveFrom(t, w.sockets)
			m := w.all()[0]
			action := buttonAction(t, m, "driftd_acknowledge")
			if test.change != nil {
				test.change(w, d, action)
			}
			if test.move != nil {
				test.move(&m)
			}
			s.send("e1", clickEvent(m, test.user, action))
			w.waitUntil("answer", func() bool { return len(w.ephemeral()) == 1 })
			if got := w.ephemeral()[0]; !strings.HasPrefix(got, test.user+": ") || !strings.Contains(got, test.want) {
				t.Errorf("%s: got answer %q, want %q", test.reason, got, test.want)
			}
			if n := len(d.requests()); n != test.decisions {
				t.Errorf("%s: got %d decisions, want %d", test.reason, n, test.decisions)
			}
			if n := len(w.all()); n != 1 {
				t.Errorf("%s: got %d messages, want 1", test.reason, n)
			}
		})
	}
}

// TestRepeatedClick checks that a repeated event counts once, and that a click can be repeated
// if the decision failed.
func TestRepeatedClick(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, w.buttons(nil))
	deliver(t, to, firstMessage(), "")
	d := newFakeDecider()
	d.err = errors.New("the store is full")
	listen(t, to, d)
	s := receiveFrom(t, w.sockets)
	m := w.all()[0]
	press := clickEvent(m, alice, buttonAction(t, m, "driftd_acknowledge"))
	s.send("e1", press)
	w.waitUntil("refusal", func() bool { return len(w.ephemeral()) == 1 })
	d.mu.Lock()
	d.err = nil
	d.mu.Unlock()
	s.send("e2", press)
	w.waitUntil("answer", func() bool { return len(w.all()) == 2 })
	s.send("e2", press)
	w.waitUntil("answer", func() bool { return len(w.ephemeral()) == 2 })
	if got := w.ephemeral()[1]; !strings.Contains(got, "repeated click") {
		t.Errorf("got answer %q", got)
	}
	if n := len(d.requests()); n != 2 {
		t.Errorf("got %d decisions, want 2", n)
	}
	s.send("e3", clickEvent(m, alice, buttonAction(t, m, "driftd_snooze"))) // another button
	w.waitUntil("answer", func() bool { return len(w.all()) == 3 })
}

// TestReconnect checks that a connection that fails or that Slack ends is opened again, and that
// unknown events are ignored.
func TestReconnect(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	var log bytes.Buffer
	to, err := open(driftdslack.Definition(), w.buttons(nil), slog.New(slog.NewTextHandler(&syncBuffer{w: &log}, nil)))
	if err != nil {
		t.Fatal(err)
	}
	deliver(t, to, firstMessage(), "")
	d := newFakeDecider()
	w.setFaults("apps.connections.open", httpResponse(http.StatusBadGateway), slackError("internal_error"))
	stop := listen(t, to, d)
	s := receiveFrom(t, w.sockets)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = receiveFrom(t, w.sockets)
	if err := s.WriteJSON(map[string]any{"type": "disconnect", "reason": "refresh_requested"}); err != nil {
		t.Fatal(err)
	}
	s = receiveFrom(t, w.sockets)
	for _, unknown := range []string{`{`, `{"type":"hello"}`, `{"type":"new_type","envelope_id":"x"}`, `{"type":"slash_commands","envelope_id":"x","payload":{}}`,
		`{"type":"interactive","envelope_id":"x","payload":{"type":"shortcut"}}`, `{"type":"interactive","envelope_id":"x","payload":[]}`} {
		if err := s.WriteMessage(1, []byte(unknown)); err != nil {
			t.Fatal(err)
		}
	}
	m := w.all()[0]
	if err := s.WriteJSON(map[string]any{"type": "interactive", "envelope_id": "e1", "payload": clickEvent(m, alice, buttonAction(t, m, "driftd_acknowledge"))}); err != nil {
		t.Fatal(err)
	}
	receiveFrom(t, d.done)
	w.waitUntil("answer", func() bool { return len(w.all()) == 2 })
	if err := stop(); err != nil {
		t.Errorf("Listen() = %v", err)
	}
	receiveFrom(t, s.gone)
	w.waitUntil("end of all goroutines", func() bool { return !strings.Contains(goroutines(t), t.Name()+`"`) })
	checkNoSecrets(t, log.String())
	if got := log.String(); !strings.Contains(got, "connection for buttons lost") || !strings.Contains(got, "connection for buttons established") {
		t.Errorf("log:\n%s", got)
	}
}

// goroutines returns the profile of goroutines with their labels.
func goroutines(t *testing.T) string {
	t.Helper()
	var list bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&list, 1); err != nil {
		t.Fatal(err)
	}
	return list.String()
}

// A syncBuffer is a writer that is safe for concurrent use.
type syncBuffer struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

// Write appends p to the buffer.
func (l *syncBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// TestRefusedToken checks that Listen returns an error if Slack refuses the app-level token, and
// that later messages are sent without buttons.
func TestRefusedToken(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"invalid_auth", "token_revoked", "account_inactive", "missing_scope", "not_allowed_token_type"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			w.setFaults("apps.connections.open", slackError(code))
			to := mustOpen(t, w.buttons(nil))
			receipt := deliver(t, to, firstMessage(), "")
			err := to.Listener.Listen(t.Context(), newFakeDecider())
			want := "connect: " + code + "; create an app-level token (xapp-…) with the scope connections:write in the app's settings in Slack, and write it into app_token_file"
			if !errors.Is(err, notify.ErrPermanent) || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
			if got := render(t, w.all()[0].Blocks); !strings.Contains(got, "(Acknowledge)") {
				t.Errorf("message before the error:\n%s", got)
			}
			deliver(t, to, nextMessage(), receipt)
			if got := render(t, w.all()[0].Blocks); !strings.Contains(got, "1 open") || strings.Contains(got, "(Acknowledge)") {
				t.Errorf("message after the error:\n%s", got)
			}
		})
	}
}

// TestSharedApp checks that two receivers can share one app: each receives the events of both,
// and each has its own users.
func TestSharedApp(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	definition := driftdslack.Definition()
	quiet := slog.New(slog.DiscardHandler)
	one, err := open(definition, w.buttons(settings{"users": []string{alice}, "groups": []string{}}), quiet)
	if err != nil {
		t.Fatal(err)
	}
	// The other receiver has its own name, channel and users.
	other, err := openAs("other", definition, w.buttons(settings{"users": []string{bob}, "groups": []string{}, "channel": "C0OTHER00"}), quiet)
	if err != nil {
		t.Fatal(err)
	}
	deliver(t, one, firstMessage(), "")
	m := w.all()[0]
	click := func(user string) map[string]any { return clickEvent(m, user, buttonAction(t, m, "driftd_acknowledge")) }

	d := newFakeDecider()
	listen(t, other, newFakeDecider())
	s := receiveFrom(t, w.sockets)
	s.send("e0", click(alice)) // the receiver of the message does not listen
	w.waitUntil("answer", func() bool { return len(w.ephemeral()) == 1 })

	listen(t, one, d)
	receiveFrom(t, w.sockets)
	s.send("e1", click(bob))
	w.waitUntil("answer", func() bool { return len(w.ephemeral()) == 2 })
	s.send("e2", click(alice))
	receiveFrom(t, d.done)
	if got := d.requests(); len(got) != 1 || got[0].Receiver != "ops" {
		t.Errorf("got requests %+v, want one", got)
	}
	if got := w.ephemeral()[1]; !strings.Contains(got, bob+": You are not allowed to decide") {
		t.Errorf("got answer %q", got)
	}
}

// FuzzInteraction checks that any event is either ignored or a complete request.
func FuzzInteraction(f *testing.F) {
	for _, payload := range []any{
		clickEvent(posted{Channel: channel, TS: "1.2"}, alice, map[string]any{"action_id": "driftd_acknowledge", "value": "ops/abc.1"}),
		clickEvent(posted{Channel: channel, TS: "1.2"}, alice, map[string]any{"action_id": "driftd_snooze", "selected_option": map[string]any{"value": "4h:ops/abc.1"}}),
		submissionEvent(slack.ModalViewRequest{CallbackID: "driftd_accept_form", PrivateMetadata: `{"ref":"ops/abc.1"}`}, "V1", "x", "y", "forever", ""),
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
			t.Errorf("%s: incomplete request %+v for thread %q", raw, request, thread)
		}
	})
}
