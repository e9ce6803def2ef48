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

// sent is what Slack sends when the form is sent.
func sent(form slack.ModalViewRequest, id, reason, owner, until, date string) map[string]any {
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
		"a span":     {"30 days from now", " a lab ", "net-team", "30d", "", notify.Request{Until: "30d"}, nil},
		"a day":      {"until its end", " a lab ", "net-team", "date", tomorrow, notify.Request{Until: tomorrow}, nil},
		"forever":    {"somebody said so", " a lab ", "net-team", "forever", "", notify.Request{Until: "forever"}, nil},
		"nothing":    {"all is wanted", " ", "", "", "", notify.Request{}, []string{"reason", "owner", "until"}},
		"no day":     {"the day is wanted then", "x", "y", "date", "", notify.Request{}, []string{"date"}},
		"over":       {"the day must not be over", "x", "y", "date", "2020-01-01", notify.Request{}, []string{"date"}},
		"no choice":  {"what the form does not offer is nothing", "x", "y", "100y", "", notify.Request{}, []string{"until"}},
		"no reasons": {"forever only with a reason", "", "y", "forever", "", notify.Request{}, []string{"reason"}},
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
			s.send("e1", pressed(m, alice, button(t, m, "driftd_accept")))
			w.settled("a form", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.modals) == 1 })
			ack := s.send("e2", sent(w.modals[0], "V1", test.because, test.owner, test.until, test.day))
			if len(test.wrong) > 0 {
				for _, name := range test.wrong {
					if !strings.Contains(ack, `"response_action":"errors"`) || !strings.Contains(ack, `"`+name+`":`) || strings.Count(ack, `."`) != len(test.wrong) {
						t.Errorf("%s: acknowledged with %s", test.reason, ack)
					}
				}
				if n := len(d.requests()); n != 0 {
					t.Errorf("%s: %d decisions", test.reason, n)
				}
				return
			}
			s.send("e2", sent(w.modals[0], "V1", test.because, test.owner, test.until, test.day)) // Slack sends it again
			w.settled("answers", func() bool { return len(w.all()) == 2 && len(w.ephemeral()) == 1 })
			want := test.want
			want.Kind, want.Receiver, want.Thread, want.Sequence, want.Reason, want.Owner, want.By = model.Accept, "ops", "abc123", 1, "a lab", test.owner, "Alice ‹!channel› Doe (U0ALICE00)"
			if diff := cmp.Diff([]notify.Request{want}, d.requests()); diff != "" {
				t.Errorf("%s: asked (-want +got):\n%s", test.reason, diff)
			}
			if got := w.all()[1]; got.Thread != m.TS {
				t.Errorf("%s: the answer is %+v", test.reason, got)
			}
		})
	}
}

// TestSpans: a choice means what it says.
func TestSpans(t *testing.T) {
	t.Parallel()
	hours := map[string]int{"1 hour": 1, "4 hours": 4, "1 day": 24, "1 week": 7 * 24, "30 days": 30 * 24, "90 days": 90 * 24}
	for value, words := range driftdslack.Spans() {
		want := at(0).Add(time.Duration(hours[words]) * time.Hour)
		if end, err := decide.ParseUntil(value, at(0)); err != nil || !end.Equal(want) {
			t.Errorf("%q, which says %s, ends at %v, %v; want %v", value, words, end, err, want)
		}
	}
}

// TestModalShape: what the form asks for is within Slack's limits, and it can be
// opened again.
func TestModalShape(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, w.buttons(nil))
	deliver(t, to, first(), "")
	listen(t, to, newDesk())
	s := await(t, w.sockets)
	m := w.all()[0]
	for i := range 2 {
		s.send(fmt.Sprint("e", i), pressed(m, alice, button(t, m, "driftd_accept")))
		w.settled("a form", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.modals) == i+1 })
	}
	w.mu.Lock()
	form, err := json.MarshalIndent(w.modals[0], "", "  ")
	w.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "form.json", strings.ReplaceAll(string(form), m.TS, "TS")+"\n")
	w.fails("views.open", says("expired_trigger_id"))
	s.send("e9", pressed(m, alice, button(t, m, "driftd_accept")))
	w.settled("an answer", func() bool { return len(w.ephemeral()) == 1 })
	if got := w.ephemeral()[0]; !strings.Contains(got, "could not be shown: open form: expired_trigger_id") {
		t.Errorf("answered with %q", got)
	}
}
