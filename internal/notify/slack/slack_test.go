package slack_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	driftdslack "github.com/driftd/driftd/internal/notify/slack"
)

// deliver delivers a message and returns its receipt.
func deliver(t *testing.T, to notify.Receiver, m model.Message, receipt string) string {
	t.Helper()
	got, err := to.Notifier.Notify(t.Context(), model.Parcel{Message: m, Receipt: receipt})
	if err != nil {
		t.Fatal(err)
	}
	if got == "" {
		return receipt
	}
	return got
}

func first() model.Message {
	return message(model.NewMessage, item(model.Standing, changed("101")), item(model.Standing, changed("102")))
}

// next is a later message: one of the two is over.
func next() model.Message {
	over := with(changed("101"), func(f *model.Finding) { f.Resolved = at(10) })
	m := message(model.ResolvedMessage, item(model.Standing, changed("102")), item(model.Over, over))
	m.Key, m.First, m.News, m.NewsCount, m.Title = "abc123.2", false, m.All[1:], 1, "pve: qemu pve/101 resolved"
	m.Subject = "pve: qemu pve/102 changed by root@pam"
	return m
}

func last() model.Message {
	over := func(id string) model.Item {
		return item(model.Over, with(changed(id), func(f *model.Finding) { f.Resolved = at(11) }))
	}
	m := message(model.ResolvedMessage, over("101"), over("102"))
	m.Key, m.First, m.News, m.NewsCount, m.Title = "abc123.3", false, m.All[1:], 1, "pve: qemu pve/102 resolved"
	m.Subject = "pve: 2 findings changed by root@pam"
	return m
}

// TestThread: a thread's life in a channel.
func TestThread(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, w.buttons(nil))

	receipt := deliver(t, to, first(), "")
	root := w.all()[0]
	if root.Channel != channel || root.Thread != "" || root.Metadata.EventType != "driftd_message" || root.Metadata.EventPayload["key"] != "abc123.1" {
		t.Errorf("the first message is %+v", root)
	}
	if got := read(t, root.Blocks); !strings.Contains(got, "(Acknowledge)") || strings.Contains(got, "~") {
		t.Errorf("the first message reads:\n%s", got)
	}
	if !strings.Contains(receipt, root.TS) || !strings.Contains(receipt, channel) {
		t.Errorf("receipt %q", receipt)
	}

	deliver(t, to, next(), receipt)
	list := w.all()
	if len(list) != 2 || list[1].Thread != root.TS || list[1].Broadcast || list[1].Metadata.EventPayload["key"] != "abc123.2" {
		t.Fatalf("after the second message: %+v", list)
	}
	if got := read(t, list[1].Blocks); !strings.Contains(got, "RESOLVED") || !strings.Contains(got, "pve/101") || strings.Contains(got, "102") {
		t.Errorf("the reply reads:\n%s", got)
	}
	got := read(t, list[0].Blocks)
	for _, want := range []string{"🟠 *HIGH*  *pve: qemu pve/102 changed by root@pam*", "1 open · 1 resolved", "~changed qemu ~", "(Acknowledge)"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the edited message:\n%s", want, got)
		}
	}

	deliver(t, to, last(), receipt)
	got = read(t, w.all()[0].Blocks)
	if w.all()[0].Edits != 2 || !strings.Contains(got, "✅ *RESOLVED*  ~*pve: 2 findings changed by root@pam*~") || strings.Contains(got, "(Acknowledge)") {
		t.Errorf("the message of what is over reads:\n%s", got)
	}
	if diff := cmp.Diff([]string{"chat.postMessage", "chat.update", "chat.postMessage", "chat.update", "chat.postMessage"}, w.called()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestLoud: a reply that somebody has to see is shown in the channel too.
func TestLoud(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason   string
		kind     model.MessageKind
		news     model.News
		severity model.Severity
		want     bool
		head     string
	}{
		"reminder":      {"who is to be reminded does not look into threads", model.ReminderMessage, "", model.High, true, "STILL OPEN · HIGH"},
		"back":          {"who closed it does not look there again", model.NewMessage, model.Again, model.Low, true, "CAME BACK · LOW"},
		"open again":    {"nobody acts on it any more", model.NewMessage, model.Returned, model.Low, true, "OPEN AGAIN · LOW"},
		"worse":         {"the channel was told of something milder", model.ChangedMessage, model.Altered, model.Critical, true, "CHANGED · CRITICAL"},
		"as bad":        {"the channel knows", model.ChangedMessage, model.Altered, model.High, false, "CHANGED · HIGH"},
		"one more":      {"the channel knows", model.NewMessage, model.Appeared, model.High, false, "NEW · HIGH"},
		"flapping":      {"it is said in order to say less", model.NewMessage, model.StartsToFlap, model.High, false, "FLAPPING · HIGH"},
		"worse is over": {"good news can wait", model.ResolvedMessage, model.Over, model.Critical, false, "RESOLVED"},
		"worse is seen": {"somebody is on it", model.DecidedMessage, model.WasAcknowledged, model.Critical, false, "DECIDED"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.settings(nil))
			receipt := deliver(t, to, first(), "")
			m := message(test.kind, item(model.Standing, changed("101")))
			m.First, m.Severity = false, test.severity
			if test.news != "" {
				m.News, m.NewsCount = []model.Item{item(test.news, changed("101"))}, 1
			}
			deliver(t, to, m, receipt)
			if got := w.all()[1]; got.Broadcast != test.want || !strings.Contains(read(t, got.Blocks), "*"+test.head+"*") {
				t.Errorf("%s: shown in the channel: %t, want %t:\n%s", test.reason, got.Broadcast, test.want, read(t, got.Blocks))
			}
		})
	}
}

// TestBare: what Slack will not take with blocks is said without them.
func TestBare(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"invalid_blocks", "msg_blocks_too_long"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.buttons(nil))
			w.fails("chat.postMessage", says(code))
			receipt := deliver(t, to, first(), "")
			root := w.all()[0]
			want := "[high] pve: qemu pve/101 changed by root＠pam\nchanged: web-101\nchanged: web-102\nMore: driftd findings list"
			if root.Text != want || root.Blocks != "[]" || root.Metadata.EventPayload["key"] != "abc123.1" {
				t.Errorf("the message is %+v", root)
			}
			w.fails("chat.update", says(code))
			w.fails("chat.postMessage", says(code))
			deliver(t, to, next(), receipt)
			list := w.all()
			if root := list[0]; root.Edits != 1 || root.Blocks != "[]" || !strings.HasPrefix(root.Text, "[high] pve: qemu pve/102 changed") {
				t.Errorf("the edited message is %+v", root)
			}
			if reply := list[1]; reply.Thread != root.TS || !strings.HasPrefix(reply.Text, "[high] pve: qemu pve/101 resolved\nresolved changed: web-101\n") {
				t.Errorf("the reply is %+v", reply)
			}
		})
	}
}

// TestThreadGrows: the first message says that there is more now.
func TestThreadGrows(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, w.settings(nil))
	receipt := deliver(t, to, first(), "")
	m := message(model.NewMessage, item(model.Standing, changed("103")), item(model.Standing, changed("101")), item(model.Standing, changed("102")))
	m.First, m.Key, m.News, m.NewsCount = false, "abc123.2", m.All[:1], 1
	m.News[0].News, m.Subject = model.Appeared, "pve: 3 findings changed by root@pam"
	deliver(t, to, m, receipt)
	if got := read(t, w.all()[0].Blocks); !strings.Contains(got, "*pve: 3 findings changed by root@pam*") {
		t.Errorf("the first message reads:\n%s", got)
	}
	if got := read(t, w.all()[1].Blocks); !strings.Contains(got, "*NEW · HIGH*") || !strings.Contains(got, "web-103") {
		t.Errorf("the reply reads:\n%s", got)
	}
}

// TestGone: what somebody deleted, or what is in another channel, is begun anew.
func TestGone(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason  string
		before  func(*workspace) settings
		receipt func(string) string
	}{
		"deleted": {"somebody deleted the first message", func(w *workspace) settings { w.forget(); return nil }, nil},
		"deleted meanwhile": {"somebody deleted it between the edit and the reply", func(w *workspace) settings {
			w.fails("chat.postMessage", says("thread_not_found"))
			return nil
		}, nil},
		"other channel": {"the channel is another one now", func(*workspace) settings { return settings{"channel": "C0OTHER00"} }, nil},
		"garbage":       {"the receipt is none", func(*workspace) settings { return nil }, func(string) string { return "{" }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			receipt := deliver(t, mustOpen(t, w.settings(nil)), first(), "")
			set := w.settings(test.before(w))
			if test.receipt != nil {
				receipt = test.receipt(receipt)
			}
			got := deliver(t, mustOpen(t, set), next(), receipt)
			list := w.all()
			root := list[len(list)-1]
			if root.Thread != "" || !strings.Contains(got, root.TS) || !strings.Contains(read(t, root.Blocks), "1 open · 1 resolved") {
				t.Errorf("%s: receipt %s for %+v", test.reason, got, root)
			}
		})
	}
}

// TestStaysUnedited: an edit that Slack does not allow keeps nothing back.
func TestStaysUnedited(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"edit_window_closed", "cant_update_message"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.settings(nil))
			receipt := deliver(t, to, first(), "")
			w.fails("chat.update", says(code))
			deliver(t, to, next(), receipt)
			if list := w.all(); len(list) != 2 || list[1].Thread != list[0].TS {
				t.Errorf("messages %+v", list)
			}
		})
	}
}

// TestSaidHere: what was decided with a button was answered already.
func TestSaidHere(t *testing.T) {
	t.Parallel()
	for via, want := range map[string]int{"ops": 1, "command line": 2} {
		w := newWorkspace(t)
		to := mustOpen(t, w.settings(nil))
		receipt := deliver(t, to, first(), "")
		seen := decided(changed("101"), model.Decision{Kind: model.Acknowledge, By: "Alice", Via: via})
		m := message(model.ChangedMessage, item(model.WasAcknowledged, seen))
		m.First, m.News, m.NewsCount = false, m.All, 1
		deliver(t, to, m, receipt)
		if list := w.all(); len(list) != want || list[0].Edits != 1 || !strings.Contains(read(t, list[0].Blocks), "by Alice") {
			t.Errorf("decided via %s: %+v", via, list)
		}
	}
}

// TestOnce: what may have arrived is looked for before it is posted again.
func TestOnce(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		// begin delivers as much as was delivered before, and returns the receipt.
		begin func(*testing.T, *workspace, notify.Receiver) string
		m     model.Message
		want  int
		calls []string
	}{
		"arrived": {"the first message is there", func(t *testing.T, w *workspace, to notify.Receiver) string {
			w.lost = true
			if _, err := to.Notifier.Notify(t.Context(), model.Parcel{Message: first()}); err == nil {
				t.Error("an answer that is lost is no error")
			}
			return ""
		}, first(), 1, []string{"chat.postMessage", "conversations.history"}},
		"not arrived": {"it is not there", func(*testing.T, *workspace, notify.Receiver) string { return "" },
			first(), 1, []string{"conversations.history", "chat.postMessage"}},
		"arrived long ago": {"it is there, on a later page", func(t *testing.T, w *workspace, to notify.Receiver) string {
			deliver(t, to, first(), "")
			for i := range 4 {
				deliver(t, to, with(first(), func(m *model.Message) { m.Key = fmt.Sprint("other.", i) }), "")
			}
			w.called()
			return ""
		}, first(), 5, []string{"conversations.history", "conversations.history", "conversations.history"}},
		"reply arrived": {"a reply is there, and the edit is made again", func(t *testing.T, w *workspace, to notify.Receiver) string {
			receipt := deliver(t, to, first(), "")
			deliver(t, to, next(), receipt)
			w.called()
			return receipt
		}, next(), 2, []string{"chat.update", "conversations.replies"}},
		"reply not arrived": {"a reply is not there", func(t *testing.T, w *workspace, to notify.Receiver) string {
			receipt := deliver(t, to, first(), "")
			w.called()
			return receipt
		}, next(), 2, []string{"chat.update", "conversations.replies", "chat.postMessage"}},
		"may not look": {"the app has no right to look: better twice than never", func(t *testing.T, w *workspace, to notify.Receiver) string {
			deliver(t, to, first(), "")
			w.called()
			w.fails("conversations.history", says("missing_scope"))
			return ""
		}, first(), 2, []string{"conversations.history", "chat.postMessage"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.settings(nil))
			test.m.At = time.Now()
			receipt := test.begin(t, w, to)
			got, err := to.Notifier.Notify(t.Context(), model.Parcel{Message: test.m, Begun: true, Receipt: receipt})
			if err != nil {
				t.Fatal(err)
			}
			list := w.all()
			if len(list) != test.want {
				t.Errorf("%s: %d messages, want %d", test.reason, len(list), test.want)
			}
			if receipt == "" && !strings.Contains(got, list[0].TS) && !strings.Contains(got, list[len(list)-1].TS) {
				t.Errorf("%s: receipt %q", test.reason, got)
			}
			if diff := cmp.Diff(test.calls, w.called()); diff != "" {
				t.Errorf("%s: calls (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestFailures: what each failure means for the message, and what is said of it.
func TestFailures(t *testing.T) {
	t.Parallel()
	plain := func(err error) bool {
		return err != nil && !errors.Is(err, notify.ErrPermanent) && !errors.Is(err, notify.ErrRefused) && !errors.As(err, new(*notify.Later))
	}
	permanent := func(err error) bool { return errors.Is(err, notify.ErrPermanent) }
	refused := func(err error) bool { return errors.Is(err, notify.ErrRefused) }
	after := func(d time.Duration) func(error) bool {
		return func(err error) bool {
			var later *notify.Later
			return errors.As(err, &later) && later.After == d
		}
	}
	tests := map[string]struct {
		reason string
		fault  http.HandlerFunc
		is     func(error) bool
		want   string
		// twice tells that bare text is not taken either.
		twice bool
	}{
		"revoked":        {"the app was taken out of the workspace", says("token_revoked"), permanent, "install the app", false},
		"inactive":       {"the same", says("account_inactive"), permanent, "install the app", false},
		"expired":        {"the same", says("token_expired"), permanent, "install the app", false},
		"invalid":        {"a wrong token", says("invalid_auth"), permanent, "the token is not valid", false},
		"none":           {"no token", says("not_authed"), permanent, "the token is not valid", false},
		"no channel":     {"the channel was deleted", says("channel_not_found"), permanent, "/invite @driftd", false},
		"outside":        {"the app is not in the channel", says("not_in_channel"), permanent, "invite the app to the channel: /invite @driftd", false},
		"archived":       {"nobody may post there", says("is_archived"), permanent, "unarchive", false},
		"restricted":     {"administrators say so", says("restricted_action_read_only_channel"), permanent, "administrators", false},
		"too long":       {"this message only", says("msg_blocks_too_long"), refused, "msg_blocks_too_long", true},
		"invalid blocks": {"this message only", says("invalid_blocks"), refused, "invalid_blocks", true},
		"slack is ill":   {"another try may do", says("internal_error"), plain, "internal_error", false},
		"unknown":        {"a word that nobody knows may pass", says("some_new_word"), plain, "some_new_word", false},
		"no word":        {"what is no word of Slack's is not repeated", says("s3cr3t \u202e <!here>"), plain, "an error that it does not name", false},
		"limited":        {"Slack says how long to wait", answers(429, "Retry-After", "7"), after(7 * time.Second), "429", false},
		"limited long":   {"but not for ever", answers(429, "Retry-After", "99999999"), after(time.Hour), "429", false},
		"limited a word": {"in a word, without how long", says("ratelimited"), after(time.Minute), "ratelimited", false},
		"500":            {"another try may do", answers(500), plain, "500", false},
		"401":            {"a proxy wants something", answers(401), permanent, "401", false},
		"redirect":       {"a token goes nowhere else", answers(302, "Location", "/elsewhere"), plain, "redirects are not followed", false},
		"no json":        {"a page of a proxy", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>s3cr3t") }, plain, "none of Slack's", false},
		"broken off":     {"the connection ended", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, plain, "unexpected EOF", false},
		"no message":     {"an answer that names nothing", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"ok":true}`) }, plain, "names no message", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.settings(nil))
			w.fails("chat.postMessage", test.fault)
			if test.twice {
				w.fails("chat.postMessage", test.fault)
			}
			_, err := to.Notifier.Notify(t.Context(), model.Parcel{Message: first()})
			if !test.is(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %v", test.reason, err)
			}
			if err != nil {
				hides(t, err.Error())
			}
			deliver(t, to, first(), "") // and then all is well
		})
	}
}

// TestMissingScope: the error names the scope.
func TestMissingScope(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.fails("chat.postMessage", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"ok":false,"error":"missing_scope","needed":"chat:write","provided":"x"}`)
	})
	_, err := mustOpen(t, w.settings(nil)).Notifier.Notify(t.Context(), model.Parcel{Message: first()})
	if !errors.Is(err, notify.ErrPermanent) || !strings.Contains(err.Error(), "missing_scope (needed: chat:write)") {
		t.Errorf("error %v", err)
	}
}

func TestSlow(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.fails("chat.postMessage", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err := mustOpen(t, w.settings(settings{"timeout": 50 * time.Millisecond})).Notifier.Notify(t.Context(), model.Parcel{Message: first()})
	if err == nil || !strings.Contains(err.Error(), "no full answer within 50ms; ") {
		t.Errorf("error %v", err)
	}
}

// TestPace: Slack takes one message a second in a channel; edits count.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wait := driftdslack.NewPace(time.Second)
		began := time.Now()
		var turns []time.Duration
		for range 3 {
			if err := wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			turns = append(turns, time.Since(began))
		}
		time.Sleep(10 * time.Second)
		if err := wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		turns = append(turns, time.Since(began))
		if diff := cmp.Diff([]time.Duration{0, time.Second, 2 * time.Second, 12 * time.Second}, turns); diff != "" {
			t.Errorf("turns (-want +got):\n%s", diff)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// TestPaced: posting and editing wait for their turn.
func TestPaced(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, w.settings(settings{"pace": time.Hour}))
	receipt := deliver(t, to, first(), "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := to.Notifier.Notify(ctx, model.Parcel{Message: next(), Receipt: receipt}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n := len(w.called()); n != 1 {
		t.Errorf("%d calls", n)
	}
}
