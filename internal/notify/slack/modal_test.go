package slack_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	driftdslack "github.com/driftd/driftd/internal/notify/slack"
)

// submissionEvent returns the event of a submitted form.
func submissionEvent(form slack.ModalViewRequest, id, reason, owner, until, date string) map[string]any {
	input := func(kind string, value any) any { return map[string]any{"value": map[string]any{kind: value}} }
	return map[string]any{"type": "view_submission", "user": map[string]any{"id": alice, "name": "alice.doe"}, "view": map[string]any{
		"id": id, "type": "modal", "callback_id": form.CallbackID, "private_metadata": form.PrivateMetadata,
		"state": map[string]any{"values": map[string]any{
			"reason": input("value", reason), "owner": input("value", owner), "until": input("selected_option", map[string]any{"value": until}), "date": input("selected_date", date),
		}},
	}}
}

func TestModal(t *testing.T) {
	t.Parallel()
	tomorrow := time.Now().UTC().Add(24 * time.Hour).Format(time.DateOnly)
	tests := map[string]struct {
		reason                     string
		because, owner, until, day string
		want                       notify.Request
		wrong                      []string
	}{
		"duration":   {"30 days from now", " a lab ", "net-team", "30d", "", notify.Request{Until: "30d"}, nil},
		"day":        {"until the end of the day", " a lab ", "net-team", "date", tomorrow, notify.Request{Until: tomorrow}, nil},
		"forever":    {"without an end", " a lab ", "net-team", "forever", "", notify.Request{Until: "forever"}, nil},
		"empty":      {"all inputs are required", " ", "", "", "", notify.Request{}, []string{"reason", "owner", "until"}},
		"no day":     {"a day is required for this choice", "x", "y", "date", "", notify.Request{}, []string{"date"}},
		"past day":   {"the day must not be in the past", "x", "y", "date", "2020-01-01", notify.Request{}, []string{"date"}},
		"no choice":  {"a choice that the form does not have is an error", "x", "y", "100y", "", notify.Request{}, []string{"until"}},
		"no reasons": {"an acceptance requires a reason", "", "y", "forever", "", notify.Request{}, []string{"reason"}},
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
			s.send("e1", clickEvent(m, alice, buttonAction(t, m, "driftd_accept")))
			w.waitUntil("a form", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.modals) == 1 })
			ack := s.send("e2", submissionEvent(w.modals[0], "V1", test.because, test.owner, test.until, test.day))
			if len(test.wrong) > 0 {
				for _, name := range test.wrong {
					if !strings.Contains(ack, `"response_action":"errors"`) || !strings.Contains(ack, `"`+name+`":`) || strings.Count(ack, `."`) != len(test.wrong) {
						t.Errorf("%s: acknowledgement %s", test.reason, ack)
					}
				}
				if n := len(d.requests()); n != 0 {
					t.Errorf("%s: got %d decisions, want none", test.reason, n)
				}
				return
			}
			s.send("e2", submissionEvent(w.modals[0], "V1", test.because, test.owner, test.until, test.day)) // repeated by Slack
			w.waitUntil("answers", func() bool { return len(w.all()) == 2 && len(w.ephemeral()) == 1 })
			want := test.want
			want.Kind, want.Receiver, want.Thread, want.Sequence, want.Reason, want.Owner, want.By = model.Accept, "ops", "abc123", 1, "a lab", test.owner, "Alice ‹!channel› Doe (U0ALICE00)"
			if diff := cmp.Diff([]notify.Request{want}, d.requests()); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", test.reason, diff)
			}
			if got := w.all()[1]; got.Thread != m.TS {
				t.Errorf("%s: answer %+v, want a reply to %s", test.reason, got, m.TS)
			}
		})
	}
}

// TestSpans checks that the value of each choice is the duration in its label.
func TestSpans(t *testing.T) {
	t.Parallel()
	hours := map[string]int{"1 hour": 1, "4 hours": 4, "1 day": 24, "1 week": 7 * 24, "30 days": 30 * 24, "90 days": 90 * 24}
	for value, words := range driftdslack.Spans() {
		want := at(0).Add(time.Duration(hours[words]) * time.Hour)
		if end, err := decide.ParseUntil(value, at(0)); err != nil || !end.Equal(want) {
			t.Errorf("%q, labelled %s, ends at %v, error %v; want %v", value, words, end, err, want)
		}
	}
}

// TestModalShape checks the form against the golden file, and that it can be opened twice.
func TestModalShape(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, w.buttons(nil))
	deliver(t, to, firstMessage(), "")
	listen(t, to, newFakeDecider())
	s := receiveFrom(t, w.sockets)
	m := w.all()[0]
	for i := range 2 {
		s.send(fmt.Sprint("e", i), clickEvent(m, alice, buttonAction(t, m, "driftd_accept")))
		w.waitUntil("a form", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.modals) == i+1 })
	}
	w.mu.Lock()
	form, err := json.MarshalIndent(w.modals[0], "", "  ")
	w.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "form.json", strings.ReplaceAll(string(form), m.TS, "TS")+"\n")
	w.setFaults("views.open", slackError("expired_trigger_id"))
	s.send("e9", clickEvent(m, alice, buttonAction(t, m, "driftd_accept")))
	w.waitUntil("an answer", func() bool { return len(w.ephemeral()) == 1 })
	if got := w.ephemeral()[0]; !strings.Contains(got, "could not be shown: open form: expired_trigger_id") {
		t.Errorf("got answer %q", got)
	}
}
