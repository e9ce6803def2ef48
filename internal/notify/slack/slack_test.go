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
	for _, want := range []string{"🟠 *HIGH*  *pve: qemu pve/102 changed by root@pam*", "1 open · 1 resolved", "~changed: qemu ~", "(Acknowledge)"} {
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
		"back":          {"who closed it does not look there again", model.NewMessage, model.Again, model.Low, true, "RECURRED · LOW"},
		"open again":    {"nobody acts on it any more", model.NewMessage, model.Returned, model.Low, true, "REOPENED · LOW"},
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

// TestLoudReclassified: a finding that became worse is shown in the channel, also
// where the thread began with something as bad.
func TestLoudReclassified(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		was  model.Severity
		want bool
	}{"worse": {model.Info, true}, "as bad": {model.High, false}, "milder": {model.Critical, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.settings(nil))
			receipt := deliver(t, to, first(), "")
			m := message(model.ChangedMessage, item(model.Standing, changed("101")))
			it := item(model.Reclassified, changed("101"))
			it.Why, it.WasVerdict, it.WasSeverity = "was pending", model.Pending, test.was
			m.First, m.News, m.NewsCount = false, []model.Item{it}, 1
			deliver(t, to, m, receipt)
			got := w.all()[1]
			if text := read(t, got.Blocks); got.Broadcast != test.want || !strings.Contains(text, "*now changed*: was pending · changed: qemu") {
				t.Errorf("shown in the channel: %t, want %t:\n%s", got.Broadcast, test.want, text)
			}
		})
	}
}

// TestQuiet: a quiet message edits the first message of its thread, and posts
// nothing.
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
		"milder":              {"how bad it is now", []model.Item{item(model.Standing, pending)}, model.Reclassified, []string{"⚪ *INFO*", "pending: qemu"}, []string{"HIGH"}},
		"merged":              {"a line says into what", []model.Item{item(model.Standing, changed("102")), merged}, model.WasMerged, []string{"🟠 *HIGH*", "1 open · 1 merged", "merged into ", "102"}, []string{"RESOLVED", "resolved"}},
		"all merged":          {"a thread of what was merged is not resolved", []model.Item{merged}, model.WasMerged, []string{"⚪ *MERGED*", "merged into "}, []string{"RESOLVED", "resolved", "(Acknowledge)"}},
		"merged and resolved": {"nor is one of which a part was", []model.Item{merged, over}, model.WasMerged, []string{"⚪ *CLOSED*", "1 resolved · 1 merged"}, []string{"RESOLVED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.buttons(nil))
			receipt := deliver(t, to, first(), "")
			m := message(model.ChangedMessage, test.all...)
			m.Key, m.First, m.Quiet, m.News, m.NewsCount = "abc123.2", false, true, []model.Item{item(test.news, test.all[0].Finding)}, 1
			deliver(t, to, m, receipt)
			list := w.all()
			if len(list) != 1 || list[0].Edits != 1 {
				t.Fatalf("%d messages, the first edited %d times", len(list), list[0].Edits)
			}
			got := read(t, list[0].Blocks)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s: no %q in:\n%s", test.reason, want, got)
				}
			}
			for _, not := range test.not {
				if strings.Contains(got, not) {
					t.Errorf("%s: %q in:\n%s", test.reason, not, got)
				}
			}
		})
	}
}

// TestQuietWithoutAMessage: where there is no message to edit, nothing is posted.
func TestQuietWithoutAMessage(t *testing.T) {
	t.Parallel()
	m := message(model.ChangedMessage, item(model.Standing, changed("101")))
	m.First, m.Quiet = false, true
	w := newWorkspace(t)
	to := mustOpen(t, w.settings(nil))
	deliver(t, to, m, "")
	receipt := deliver(t, to, first(), "")
	w.fails("chat.update", says("message_not_found"))
	deliver(t, to, m, receipt)
	if n := len(w.all()); n != 1 {
		t.Errorf("%d messages, want the first alone", n)
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
			if reply := list[1]; reply.Thread != root.TS || !strings.HasPrefix(reply.Text, "[high] pve: qemu pve/101 resolved\nresolved · changed: web-101\n") {
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
			if _, err := to.Notifier.Notify(t.Context(), model.OutboxEntry{Message: first()}); err == nil {
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
			if diff := cmp.Diff(test.calls, w.called()); diff != "" {
				t.Errorf("%s: calls (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
