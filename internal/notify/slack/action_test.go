package slack_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	driftdslack "github.com/driftd/driftd/internal/notify/slack"
)

const planDigest = "5d41402abc4b2a76b9719d911017c592"

// waiting returns an action that waits for an approval.
func waiting() model.ActionNotice {
	before, after := model.StringOf("web:1.5 <!channel>"), model.StringOf("web:1.4")
	return model.ActionNotice{ID: "9b1c", State: "proposed", Waits: true, Digest: planDigest, Finding: "f1nd1ng",
		Resource: model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/web"}, Name: "web",
		Changes: []model.Change{{Path: "spec.template.spec.containers[name=web].image", Recorded: &before, Live: &after}}, Fields: 1,
		Restarts: "3 pods", Endpoint: "https://k8s.example.org", Identity: "system:serviceaccount:driftd:writer", Rule: "shop", By: "bob", Reason: "the sale is over",
		Needed: 1, Expires: at(70), Step: 1}
}

// many returns an action that changes more fields and puts back more findings than a message has.
func many(fields, others int) model.ActionNotice {
	n := waiting()
	n.Fields, n.Others = n.Fields+fields, others
	return n
}

// about returns the message about an action.
func about(n model.ActionNotice) model.Message {
	return model.Message{Key: "action-9b1c." + strconv.Itoa(n.Step), Receiver: "ops", Kind: model.ActionMessage, At: at(9), Thread: "action-9b1c", First: n.Step == 1,
		Sequence: n.Step, Title: "prod: put Deployment shop/web back", Severity: model.High, URL: "https://driftd.example.org", Action: &n, Parent: "abc123"}
}

// ended returns the action with a state after it was approved.
func ended(state, outcome string, alarm bool) model.ActionNotice {
	n := waiting()
	n.State, n.Outcome, n.Waits, n.Converged, n.Alarm, n.Approvers, n.Step = state, outcome, false, state == "converged", alarm, []string{"carol"}, 6
	return n
}

// announce delivers the message about an action and returns its receipt.
func announce(t *testing.T, to notify.Receiver, m model.Message, receipt, parent string) string {
	t.Helper()
	got, err := to.Notifier.Notify(t.Context(), model.OutboxEntry{Message: m, Receipt: receipt, Parent: parent})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// approvers are settings of a receiver at which carol may approve.
func approvers(w *workspace) settings { return w.buttons(settings{"approvers": []string{carol}}) }

// proposal posts the message about an action that waits for an approval, and listens for clicks. change, if it is not
// nil, is called before.
func proposal(t *testing.T, change func(*fakeDecider)) (*workspace, *fakeDecider, *socket, posted) {
	t.Helper()
	w := newWorkspace(t)
	to := mustOpen(t, approvers(w))
	announce(t, to, about(waiting()), "", "")
	d := newFakeDecider()
	if d.action = waiting(); change != nil {
		change(d)
	}
	listen(t, to, d)
	return w, d, receiveFrom(t, w.sockets), w.all()[0]
}

// TestAction verifies the messages about an action in the thread of its finding.
func TestAction(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, approvers(w))
	root := deliver(t, to, firstMessage(), "")
	receipt := announce(t, to, about(waiting()), "", root)
	list := w.all()
	if len(list) != 2 || list[1].Thread != list[0].TS || list[1].Broadcast || !strings.Contains(receipt, list[1].TS) {
		t.Fatalf("the proposal: %+v, receipt %s", list, receipt)
	}
	got := render(t, list[1].Blocks)
	for _, want := range []string{"APPROVE", "put Deployment shop/web back", "containers[name=web].image: web:1.5 ‹!channel› → web:1.4", "Restarts 3 pods", "Asked for by bob: the sale is over",
		"driftd approve 9b1c --digest " + planDigest, "(Approve…)", "(Decline"} {
		if !strings.Contains(got, want) {
			t.Errorf("the proposal lacks %q:\n%s", want, got)
		}
	}

	if again := announce(t, to, about(ended("converged", "the resource is as declared", false)), receipt, root); again != "" {
		t.Errorf("the receipt is replaced by %q", again)
	}
	list = w.all()
	if len(list) != 2 || list[1].Edits != 1 {
		t.Fatalf("after convergence: %+v", list)
	}
	got = render(t, list[1].Blocks)
	if !strings.Contains(got, "✅ *CONVERGED*") || !strings.Contains(got, "Approved by carol") || strings.Contains(got, "(Approve…)") {
		t.Errorf("after convergence:\n%s", got)
	}

	announce(t, to, about(ended("unknown", "the answer was lost", true)), receipt, root)
	if list = w.all(); len(list) != 3 || list[2].Thread != list[0].TS || !list[2].Broadcast || list[1].Edits != 2 {
		t.Errorf("after an alarm: %+v", list)
	}
}

// TestActionWithoutThread verifies the messages where the first message of the finding, or of the
// action, is not there.
func TestActionWithoutThread(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, approvers(w))
	quiet := about(ended("declined", "", false))
	quiet.Quiet = true
	if receipt := announce(t, to, quiet, "", ""); receipt != "" || len(w.all()) != 0 {
		t.Errorf("a quiet message is posted: %q, %v", receipt, w.all())
	}
	root := deliver(t, to, firstMessage(), "")
	w.deleteMessages()
	receipt := announce(t, to, about(waiting()), "", root)
	if list := w.all(); len(list) != 1 || list[0].Thread != "" || receipt == "" {
		t.Fatalf("the finding's message was deleted: %+v, receipt %q", list, receipt)
	}
	w.deleteMessages()
	if receipt = announce(t, to, about(ended("converged", "", false)), receipt, root); receipt == "" || len(w.all()) != 1 {
		t.Errorf("the action's message was deleted: %+v, receipt %q", w.all(), receipt)
	}
}

// TestApprove verifies an approval with the form.
func TestApprove(t *testing.T) {
	t.Parallel()
	w, d, s, m := proposal(t, nil)
	s.send("e1", clickEvent(m, carol, buttonAction(t, m, "driftd_approve")))
	w.waitUntil("form", func() bool { return len(w.forms()) == 1 })
	form := w.forms()[0]
	if got := shown(t, form); !strings.Contains(got, "web:1.5 ‹!channel› → web:1.4") || !strings.Contains(got, "Restarts 3 pods") {
		t.Errorf("the form shows:\n%s", got)
	}
	submit := func(id, reason string) string {
		return s.send(id, map[string]any{"type": "view_submission", "user": map[string]any{"id": carol, "name": "c"},
			"view": map[string]any{"id": id, "callback_id": form.CallbackID, "private_metadata": form.PrivateMetadata,
				"state": map[string]any{"values": map[string]any{"reason": map[string]any{"value": map[string]any{"type": "plain_text_input", "value": reason}}}}}})
	}
	if ack := submit("v1", "  "); !strings.Contains(ack, "Enter a reason.") {
		t.Errorf("without a reason: %s", ack)
	}
	submit("v2", "seen with bob")
	receiveFrom(t, d.done)
	want := []notify.ActionAnswer{{Action: "9b1c", Approve: true, Digest: planDigest, Receiver: "ops", By: "carol", Reason: "seen with bob"}}
	if diff := cmp.Diff(want, d.given()); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	s.send("e2", clickEvent(m, alice, buttonAction(t, m, "driftd_decline")))
	receiveFrom(t, d.done)
	if got := d.given(); len(got) != 2 || got[1].Approve || got[1].By != "Alice ‹!channel› Doe (U0ALICE00)" {
		t.Errorf("a declining: %+v", got)
	}
}

// TestApprovalRefused verifies that nothing is approved that the person may not approve, or that is not as
// the message shows it.
func TestApprovalRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		user, want string
		change     func(*fakeDecider)
	}{
		"no approver":  {user: alice, want: "You are not allowed to approve here. Allowed: @U0CAROL00"},
		"another plan": {user: carol, want: "What would be done changed since: look again", change: func(d *fakeDecider) { d.action.Digest = "0000" }},
		"over":         {user: carol, want: "does not wait for an approval any more: declined", change: func(d *fakeDecider) { d.action.Waits, d.action.State = false, "declined" }},
		"gone":         {user: carol, want: "there is no action 9b1c", change: func(d *fakeDecider) { d.action.ID = "other" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, d, s, m := proposal(t, tc.change)
			s.send("e1", clickEvent(m, tc.user, buttonAction(t, m, "driftd_approve")))
			w.waitUntil("answer", func() bool { return len(w.ephemeral()) == 1 })
			if got := w.ephemeral()[0]; !strings.Contains(got, tc.want) || len(w.forms()) != 0 || len(d.given()) != 0 {
				t.Errorf("got %q, %d forms, %d answers; want %q", got, len(w.forms()), len(d.given()), tc.want)
			}
		})
	}
}

// TestForgedApproval verifies that the submission of a form by a member who may not approve is refused:
// the form may have been opened before the configuration changed.
func TestForgedApproval(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, approvers(w))
	d := newFakeDecider()
	d.action = waiting()
	listen(t, to, d)
	s := receiveFrom(t, w.sockets)
	from := `{"ref":"ops/9b1c.1","channel":"` + channel + `","ts":"1.0","digest":"` + planDigest + `"}`
	s.send("e1", map[string]any{"type": "view_submission", "user": map[string]any{"id": alice, "name": "a"},
		"view": map[string]any{"id": "V1", "callback_id": "driftd_approve_form", "private_metadata": from,
			"state": map[string]any{"values": map[string]any{"reason": map[string]any{"value": map[string]any{"value": "mine"}}}}}})
	w.waitUntil("answer", func() bool { return len(w.ephemeral()) == 1 })
	if got := w.ephemeral()[0]; !strings.Contains(got, "not allowed to approve") || len(d.given()) != 0 {
		t.Errorf("got %q and the answers %v", got, d.given())
	}
}

// TestFailedAnswer verifies that the person sees why an answer was refused.
func TestFailedAnswer(t *testing.T) {
	t.Parallel()
	w, _, s, m := proposal(t, func(d *fakeDecider) { d.err = errors.New("alice froze actions until Monday (guard frozen)") })
	s.send("e1", clickEvent(m, alice, buttonAction(t, m, "driftd_decline")))
	w.waitUntil("answer", func() bool { return len(w.ephemeral()) == 1 })
	if got := w.ephemeral()[0]; !strings.Contains(got, "Not done: alice froze actions") {
		t.Errorf("got %q", got)
	}
}

// TestActionButtons verifies which buttons the message about an action has.
func TestActionButtons(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		set  func(*workspace) settings
		n    model.ActionNotice
		want []string
	}{
		"all":                       {approvers, waiting(), []string{"(Approve…)", "(Decline"}},
		"more fields than shown":    {approvers, many(10, 0), []string{"(Decline"}},
		"more resources than shown": {approvers, many(0, 10), []string{"(Decline"}},
		"no approvers":              {func(w *workspace) settings { return w.buttons(nil) }, waiting(), []string{"(Decline"}},
		"no connection":             {func(w *workspace) settings { return w.settings(nil) }, waiting(), nil},
		"over":                      {approvers, ended("expired", "", false), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			announce(t, mustOpen(t, tc.set(w)), about(tc.n), "", "")
			got := render(t, w.all()[0].Blocks)
			for _, button := range []string{"(Approve…)", "(Decline"} {
				if strings.Contains(got, button) != slices.Contains(tc.want, button) {
					t.Errorf("want the buttons %v:\n%s", tc.want, got)
				}
			}
		})
	}
}

// TestApproverIsPerson verifies that an approver who is no person is an error of the configuration.
func TestApproverIsPerson(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	_, err := open(driftdslack.Definition(), w.buttons(settings{"approvers": []string{alice}}), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "setting approvers has \"U0ALICE00\", who is no person: add slack: U0ALICE00") {
		t.Errorf("got %v", err)
	}
}

// TestWebhookAction verifies that an incoming webhook gets the action without buttons.
func TestWebhookAction(t *testing.T) {
	t.Parallel()
	h := newFakeWebhook(t)
	announce(t, h.open(t), about(waiting()), "", "")
	if got := h.received[0]; !strings.Contains(got, "driftd approve 9b1c") || strings.Contains(got, "(Approve…") {
		t.Errorf("got %s", got)
	}
}

// shown returns the text of the blocks of a form before its inputs.
func shown(t *testing.T, form slack.ModalViewRequest) string {
	t.Helper()
	blocks := slices.DeleteFunc(slices.Clone(form.Blocks.BlockSet), func(b slack.Block) bool { return b.BlockType() == slack.MBTInput })
	raw, err := json.Marshal(blocks)
	if err != nil {
		t.Fatal(err)
	}
	return render(t, string(raw))
}
