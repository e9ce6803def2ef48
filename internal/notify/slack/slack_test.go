package slack_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// deliver delivers a message and returns its receipt.
func deliver(t *testing.T, to notify.Receiver, m model.Message, receipt string) string {
	t.Helper()
	got, err := to.Notifier.Notify(t.Context(), model.OutboxEntry{Message: m, Receipt: receipt})
	if err != nil {
		t.Fatal(err)
	}
	if got == "" {
		return receipt
	}
	return got
}

// firstMessage returns the first message of a thread, with two open findings.
func firstMessage() model.Message {
	return message(model.NewMessage, item(model.Standing, changed("101")), item(model.Standing, changed("102")))
}

// nextMessage returns the second message: one of the findings is resolved.
func nextMessage() model.Message {
	over := with(changed("101"), func(f *model.Finding) { f.Resolved = at(10) })
	m := message(model.ResolvedMessage, item(model.Standing, changed("102")), item(model.Over, over))
	m.Key, m.First, m.News, m.NewsCount, m.Title = "abc123.2", false, m.All[1:], 1, "pve: qemu pve/101 resolved"
	m.Subject = "pve: qemu pve/102 changed by root@pam"
	return m
}

// lastMessage returns the third message: both findings are resolved.
func lastMessage() model.Message {
	over := func(id string) model.Item {
		return item(model.Over, with(changed(id), func(f *model.Finding) { f.Resolved = at(11) }))
	}
	m := message(model.ResolvedMessage, over("101"), over("102"))
	m.Key, m.First, m.News, m.NewsCount, m.Title = "abc123.3", false, m.All[1:], 1, "pve: qemu pve/102 resolved"
	m.Subject = "pve: 2 findings changed by root@pam"
	return m
}

// TestThread checks the messages of a thread until all findings are resolved.
func TestThread(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, w.buttons(nil))

	receipt := deliver(t, to, firstMessage(), "")
	root := w.all()[0]
	if root.Channel != channel || root.Thread != "" || root.Metadata.EventType != "driftd_message" || root.Metadata.EventPayload["key"] != "abc123.1" {
		t.Errorf("got first message %+v", root)
	}
	if got := render(t, root.Blocks); !strings.Contains(got, "(Acknowledge)") || strings.Contains(got, "~") {
		t.Errorf("first message:\n%s", got)
	}
	if !strings.Contains(receipt, root.TS) || !strings.Contains(receipt, channel) {
		t.Errorf("receipt %q", receipt)
	}

	deliver(t, to, nextMessage(), receipt)
	list := w.all()
	if len(list) != 2 || list[1].Thread != root.TS || list[1].Broadcast || list[1].Metadata.EventPayload["key"] != "abc123.2" {
		t.Fatalf("after the second message: %+v", list)
	}
	if got := render(t, list[1].Blocks); !strings.Contains(got, "RESOLVED") || !strings.Contains(got, "pve/101") || strings.Contains(got, "102") {
		t.Errorf("reply:\n%s", got)
	}
	got := render(t, list[0].Blocks)
	for _, want := range []string{"🟠 *HIGH*  *pve: qemu pve/102 changed by root@pam*", "1 open · 1 resolved", "~changed: qemu ~", "(Acknowledge)"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the edited message:\n%s", want, got)
		}
	}

	deliver(t, to, lastMessage(), receipt)
	got = render(t, w.all()[0].Blocks)
	if w.all()[0].Edits != 2 || !strings.Contains(got, "✅ *RESOLVED*  ~*pve: 2 findings changed by root@pam*~") || strings.Contains(got, "(Acknowledge)") {
		t.Errorf("first message without open findings:\n%s", got)
	}
	if diff := cmp.Diff([]string{"chat.postMessage", "chat.update", "chat.postMessage", "chat.update", "chat.postMessage"}, w.calledMethods()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestBroadcast checks which replies are also shown in the channel.
func TestBroadcast(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason   string
		kind     model.MessageKind
		news     model.News
		severity model.Severity
		want     bool
		head     string
	}{
		"reminder":      {"a reminder is for all readers of the channel", model.ReminderMessage, "", model.High, true, "STILL OPEN · HIGH"},
		"back":          {"the participants of a resolved thread do not expect news", model.NewMessage, model.Again, model.Low, true, "RECURRED · LOW"},
		"open again":    {"the finding was accepted and needs a new decision", model.NewMessage, model.Returned, model.Low, true, "REOPENED · LOW"},
		"worse":         {"the first message was less severe", model.ChangedMessage, model.Altered, model.Critical, true, "CHANGED · CRITICAL"},
		"same severity": {"the first message was as severe", model.ChangedMessage, model.Altered, model.High, false, "CHANGED · HIGH"},
		"new finding":   {"the first message was as severe", model.NewMessage, model.Appeared, model.High, false, "NEW · HIGH"},
		"flapping":      {"a flapping finding must not cause more messages", model.NewMessage, model.StartsToFlap, model.High, false, "FLAPPING · HIGH"},
		"resolved":      {"a resolved finding needs no action", model.ResolvedMessage, model.Over, model.Critical, false, "RESOLVED"},
		"acknowledged":  {"an acknowledged finding needs no action", model.DecidedMessage, model.WasAcknowledged, model.Critical, false, "DECIDED"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.settings(nil))
			receipt := deliver(t, to, firstMessage(), "")
			m := message(test.kind, item(model.Standing, changed("101")))
			m.First, m.Severity = false, test.severity
			if test.news != "" {
				m.News, m.NewsCount = []model.Item{item(test.news, changed("101"))}, 1
			}
			deliver(t, to, m, receipt)
			if got := w.all()[1]; got.Broadcast != test.want || !strings.Contains(render(t, got.Blocks), "*"+test.head+"*") {
				t.Errorf("%s: broadcast %t, want %t:\n%s", test.reason, got.Broadcast, test.want, render(t, got.Blocks))
			}
		})
	}
}

// TestBroadcastReclassified checks that a finding that became more severe is shown in the
// channel, also if the first message of the thread was as severe.
func TestBroadcastReclassified(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		was  model.Severity
		want bool
	}{"worse": {model.Info, true}, "same": {model.High, false}, "milder": {model.Critical, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.settings(nil))
			receipt := deliver(t, to, firstMessage(), "")
			m := message(model.ChangedMessage, item(model.Standing, changed("101")))
			it := item(model.Reclassified, changed("101"))
			it.Why, it.WasVerdict, it.WasSeverity = "was pending", model.Pending, test.was
			m.First, m.News, m.NewsCount = false, []model.Item{it}, 1
			deliver(t, to, m, receipt)
			got := w.all()[1]
			if text := render(t, got.Blocks); got.Broadcast != test.want || !strings.Contains(text, "*now changed*: was pending · changed: qemu") {
				t.Errorf("broadcast %t, want %t:\n%s", got.Broadcast, test.want, text)
			}
		})
	}
}

// TestQuiet checks that a quiet message edits the first message of its thread and posts no
// reply.
func TestQuiet(t *testing.T) {
	t.Parallel()
	pending := with(changed("101"), func(f *model.Finding) { f.Verdict, f.Severity = model.Pending, model.Info })
	merged := item(model.WasMerged, with(changed("101"), func(f *model.Finding) { f.MergedInto, f.Resolved = "102", at(10) }))
	over := item(model.Over, with(changed("103"), func(f *model.Finding) { f.Resolved = at(10) }))
	for name, test := range map[string]struct {
		reason string
		all    []model.Item
		news   model.News
		want   []string
		not    []string
	}{
		"milder":              {"the message has the new severity", []model.Item{item(model.Standing, pending)}, model.Reclassified, []string{"⚪ *INFO*", "pending: qemu"}, []string{"HIGH"}},
		"merged":              {"the message names the finding that it was merged into", []model.Item{item(model.Standing, changed("102")), merged}, model.WasMerged, []string{"🟠 *HIGH*", "1 open · 1 merged", "merged into ", "102"}, []string{"RESOLVED", "resolved"}},
		"all merged":          {"a thread of merged findings is not resolved", []model.Item{merged}, model.WasMerged, []string{"⚪ *MERGED*", "merged into "}, []string{"RESOLVED", "resolved", "(Acknowledge)"}},
		"merged and resolved": {"a thread of merged and resolved findings is closed", []model.Item{merged, over}, model.WasMerged, []string{"⚪ *CLOSED*", "1 resolved · 1 merged"}, []string{"RESOLVED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.buttons(nil))
			receipt := deliver(t, to, firstMessage(), "")
			m := message(model.ChangedMessage, test.all...)
			m.Key, m.First, m.Quiet, m.News, m.NewsCount = "abc123.2", false, true, []model.Item{item(test.news, test.all[0].Finding)}, 1
			deliver(t, to, m, receipt)
			list := w.all()
			if len(list) != 1 || list[0].Edits != 1 {
				t.Fatalf("%d messages, the first one edited %d times; want 1 and 1", len(list), list[0].Edits)
			}
			got := render(t, list[0].Blocks)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s: no %q in:\n%s", test.reason, want, got)
				}
			}
			for _, not := range test.not {
				if strings.Contains(got, not) {
					t.Errorf("%s: unexpected %q in:\n%s", test.reason, not, got)
				}
			}
		})
	}
}

// TestQuietWithoutAMessage checks that a quiet message is not posted if there is no message to
// edit.
func TestQuietWithoutAMessage(t *testing.T) {
	t.Parallel()
	m := message(model.ChangedMessage, item(model.Standing, changed("101")))
	m.First, m.Quiet = false, true
	w := newWorkspace(t)
	to := mustOpen(t, w.settings(nil))
	deliver(t, to, m, "")
	receipt := deliver(t, to, firstMessage(), "")
	w.setFaults("chat.update", slackError("message_not_found"))
	deliver(t, to, m, receipt)
	if n := len(w.all()); n != 1 {
		t.Errorf("got %d messages, want only the first one", n)
	}
}

// TestFallbackWithoutBlocks checks that a message is sent without blocks if Slack refuses them.
func TestFallbackWithoutBlocks(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"invalid_blocks", "msg_blocks_too_long"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.buttons(nil))
			w.setFaults("chat.postMessage", slackError(code))
			receipt := deliver(t, to, firstMessage(), "")
			root := w.all()[0]
			want := "[high] pve: qemu pve/101 changed by root＠pam\nchanged: web-101\nchanged: web-102\nMore: driftd findings list"
			if root.Text != want || root.Blocks != "[]" || root.Metadata.EventPayload["key"] != "abc123.1" {
				t.Errorf("got message %+v", root)
			}
			w.setFaults("chat.update", slackError(code))
			w.setFaults("chat.postMessage", slackError(code))
			deliver(t, to, nextMessage(), receipt)
			list := w.all()
			if root := list[0]; root.Edits != 1 || root.Blocks != "[]" || !strings.HasPrefix(root.Text, "[high] pve: qemu pve/102 changed") {
				t.Errorf("got edited message %+v", root)
			}
			if reply := list[1]; reply.Thread != root.TS || !strings.HasPrefix(reply.Text, "[high] pve: qemu pve/101 resolved\nresolved · changed: web-101\n") {
				t.Errorf("got reply %+v", reply)
			}
		})
	}
}

// TestThreadGrows checks that the first message has the number of findings of a later one.
func TestThreadGrows(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, w.settings(nil))
	receipt := deliver(t, to, firstMessage(), "")
	m := message(model.NewMessage, item(model.Standing, changed("103")), item(model.Standing, changed("101")), item(model.Standing, changed("102")))
	m.First, m.Key, m.News, m.NewsCount = false, "abc123.2", m.All[:1], 1
	m.News[0].News, m.Subject = model.Appeared, "pve: 3 findings changed by root@pam"
	deliver(t, to, m, receipt)
	if got := render(t, w.all()[0].Blocks); !strings.Contains(got, "*pve: 3 findings changed by root@pam*") {
		t.Errorf("first message:\n%s", got)
	}
	if got := render(t, w.all()[1].Blocks); !strings.Contains(got, "*NEW · HIGH*") || !strings.Contains(got, "web-103") {
		t.Errorf("reply:\n%s", got)
	}
}

// TestDeletedMessage checks that a new first message is posted if the old one was deleted or is in
// another channel.
func TestDeletedMessage(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason  string
		before  func(*workspace) settings
		receipt func(string) string
	}{
		"deleted": {"the first message was deleted", func(w *workspace) settings { w.deleteMessages(); return nil }, nil},
		"deleted before the reply": {"the first message was deleted between the edit and the reply", func(w *workspace) settings {
			w.setFaults("chat.postMessage", slackError("thread_not_found"))
			return nil
		}, nil},
		"other channel":   {"another channel is configured", func(*workspace) settings { return settings{"channel": "C0OTHER00"} }, nil},
		"invalid receipt": {"the receipt cannot be parsed", func(*workspace) settings { return nil }, func(string) string { return "{" }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			receipt := deliver(t, mustOpen(t, w.settings(nil)), firstMessage(), "")
			set := w.settings(test.before(w))
			if test.receipt != nil {
				receipt = test.receipt(receipt)
			}
			got := deliver(t, mustOpen(t, set), nextMessage(), receipt)
			list := w.all()
			root := list[len(list)-1]
			if root.Thread != "" || !strings.Contains(got, root.TS) || !strings.Contains(render(t, root.Blocks), "1 open · 1 resolved") {
				t.Errorf("%s: receipt %s for %+v", test.reason, got, root)
			}
		})
	}
}

// TestEditNotAllowed checks that the reply is posted if Slack does not allow to edit the first
// message.
func TestEditNotAllowed(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"edit_window_closed", "cant_update_message"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.settings(nil))
			receipt := deliver(t, to, firstMessage(), "")
			w.setFaults("chat.update", slackError(code))
			deliver(t, to, nextMessage(), receipt)
			if list := w.all(); len(list) != 2 || list[1].Thread != list[0].TS {
				t.Errorf("messages %+v", list)
			}
		})
	}
}

// TestAnsweredHere checks that there is no reply about a decision that was made with a button.
func TestAnsweredHere(t *testing.T) {
	t.Parallel()
	for via, want := range map[string]int{"ops": 1, "command line": 2} {
		w := newWorkspace(t)
		to := mustOpen(t, w.settings(nil))
		receipt := deliver(t, to, firstMessage(), "")
		acknowledged := withDecision(changed("101"), model.Decision{Kind: model.Acknowledge, By: "Alice", Via: via})
		m := message(model.ChangedMessage, item(model.WasAcknowledged, acknowledged))
		m.First, m.News, m.NewsCount = false, m.All, 1
		deliver(t, to, m, receipt)
		if list := w.all(); len(list) != want || list[0].Edits != 1 || !strings.Contains(render(t, list[0].Blocks), "by Alice") {
			t.Errorf("decided via %s: %+v", via, list)
		}
	}
}

// TestMessageIsPostedOnce checks that a message that may have arrived is searched for before it is
// posted again.
func TestMessageIsPostedOnce(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		// before makes the earlier deliveries, and returns the receipt.
		before func(*testing.T, *workspace, notify.Receiver) string
		m      model.Message
		want   int
		calls  []string
	}{
		"arrived": {"the first message was posted", func(t *testing.T, w *workspace, to notify.Receiver) string {
			w.loseResponse = true
			if _, err := to.Notifier.Notify(t.Context(), model.OutboxEntry{Message: firstMessage()}); err == nil {
				t.Error("no error for a lost response")
			}
			return ""
		}, firstMessage(), 1, []string{"chat.postMessage", "conversations.history"}},
		"not arrived": {"the first message was not posted", func(*testing.T, *workspace, notify.Receiver) string { return "" },
			firstMessage(), 1, []string{"conversations.history", "chat.postMessage"}},
		"arrived long ago": {"the message is on a later page", func(t *testing.T, w *workspace, to notify.Receiver) string {
			deliver(t, to, firstMessage(), "")
			for i := range 4 {
				deliver(t, to, with(firstMessage(), func(m *model.Message) { m.Key = fmt.Sprint("other.", i) }), "")
			}
			w.calledMethods()
			return ""
		}, firstMessage(), 5, []string{"conversations.history", "conversations.history", "conversations.history"}},
		"reply arrived": {"the reply was posted, and the edit is repeated", func(t *testing.T, w *workspace, to notify.Receiver) string {
			receipt := deliver(t, to, firstMessage(), "")
			deliver(t, to, nextMessage(), receipt)
			w.calledMethods()
			return receipt
		}, nextMessage(), 2, []string{"chat.update", "conversations.replies"}},
		"reply not arrived": {"the reply was not posted", func(t *testing.T, w *workspace, to notify.Receiver) string {
			receipt := deliver(t, to, firstMessage(), "")
			w.calledMethods()
			return receipt
		}, nextMessage(), 2, []string{"chat.update", "conversations.replies", "chat.postMessage"}},
		"not permitted": {"a message is posted again if the app is not permitted to search", func(t *testing.T, w *workspace, to notify.Receiver) string {
			deliver(t, to, firstMessage(), "")
			w.calledMethods()
			w.setFaults("conversations.history", slackError("missing_scope"))
			return ""
		}, firstMessage(), 2, []string{"conversations.history", "chat.postMessage"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.settings(nil))
			test.m.At = time.Now()
			receipt := test.before(t, w, to)
			got, err := to.Notifier.Notify(t.Context(), model.OutboxEntry{Message: test.m, Begun: true, Receipt: receipt})
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
			if diff := cmp.Diff(test.calls, w.calledMethods()); diff != "" {
				t.Errorf("%s: calls (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
