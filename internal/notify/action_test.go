package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// proposed returns an action for finding f that waits for an approval.
func proposed() model.ActionNotice {
	long, now := model.StringOf(strings.Repeat("x", 2*model.MaxValue)), model.StringOf("web:1")
	return model.ActionNotice{ID: "9b1c", State: "proposed", Waits: true, Digest: "d1", Finding: "f", Resource: model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/web"},
		Changes: []model.Change{{Path: "image", Recorded: &long, Live: &now}}, Fields: 3, Restarts: "3 pods", Endpoint: "https://k8s", Identity: "writer",
		Rule: "shop", Needed: 1, Expires: monday.Add(time.Hour), Step: 1}
}

func inState(state string, alarm bool) model.ActionNotice {
	n := proposed()
	n.State, n.Waits, n.Alarm, n.Known, n.Step = state, false, alarm, state == "declined", 5
	return n
}

func TestActionMessages(t *testing.T) {
	t.Parallel()
	member := func(receiver, id, finding string, opened time.Duration) model.Thread {
		return model.Thread{ID: id, Receiver: receiver, Opened: monday.Add(opened), Members: map[string]model.Notified{finding: {Severity: model.Low}}}
	}
	open := finding("f")
	open.Severity = model.Medium
	critical := open
	critical.Severity = model.Critical
	told := []model.Thread{member("ops", "t1", "f", 0), member("ops", "t2", "f", time.Minute), member("ops", "t3", "other", time.Hour), member("gone", "t4", "f", 0)}
	quiet := QuietHours{From: 7 * time.Hour, To: 10 * time.Hour, Except: []model.Severity{model.Critical}}
	for name, tc := range map[string]struct {
		reason  string
		n       model.ActionNotice
		f       *model.Finding
		threads []model.Thread
		quiet   QuietHours
		want    string
	}{
		"proposal":         {"in the newest thread of its finding", proposed(), &open, told, QuietHours{}, "ops t2 medium quiet=false"},
		"not told":         {"who does not know the finding hears nothing of the action", proposed(), &open, told[2:], QuietHours{}, ""},
		"alarm, not told":  {"unless a person has to look", inState("unknown", true), &open, nil, QuietHours{}, "ops  medium quiet=false"},
		"alarm, elsewhere": {"a finding that is gone has no route", inState("unknown", true), nil, nil, QuietHours{}, ""},
		"resolved":         {"the severity is that of the thread", inState("converged", false), nil, told, QuietHours{}, "ops t2 low quiet=false"},
		"declined":         {"people know it", inState("declined", false), &open, told, QuietHours{}, "ops t2 medium quiet=true"},
		"quiet hours":      {"a proposal does not interrupt them", proposed(), &open, told, quiet, "ops t2 medium quiet=true"},
		"quiet, critical":  {"the severity is excepted", proposed(), &critical, told, quiet, "ops t2 critical quiet=false"},
		"quiet, alarm":     {"an alarm is sent at any time", inState("not-converged", true), &open, told, quiet, "ops t2 medium quiet=false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newFixture().policy
			p.Receivers = map[string]Pacing{"ops": {Digest: -1, Quiet: tc.quiet}}
			var got []string
			for _, m := range p.ActionMessages(&tc.n, tc.f, tc.threads, monday) {
				got = append(got, fmt.Sprintf("%s %s %s quiet=%t", m.Receiver, m.Parent, m.Severity, m.Quiet))
			}
			if strings.Join(got, "; ") != tc.want {
				t.Errorf("got %q, want %q: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestActionMessage(t *testing.T) {
	t.Parallel()
	n := proposed()
	m := actionMessage(&n, monday)
	if m.Key != "action-9b1c.1" || m.Thread != "action-9b1c" || !m.First || m.Sequence != 1 {
		t.Errorf("got %+v", m)
	}
	if want := "prod: put Deployment shop/web back: waits for an approval"; m.Title != want {
		t.Errorf("title %q, want %q", m.Title, want)
	}
	notes := strings.Join(m.Notes, "\n")
	for _, want := range []string{"… → web:1", "and 2 more fields", "Restarts 3 pods", "Asked for by rule shop", "Expires at", "driftd approve 9b1c --digest d1"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
	if long := m.Action.Changes[0].Recorded.String(); len([]rune(long)) != model.MaxValue || len(n.Changes[0].Recorded.String()) != 2*model.MaxValue {
		t.Errorf("a long value has %d characters", len(long))
	}
	over := inState("converged", false)
	if notes := actionMessage(&over, monday).Notes; notes[len(notes)-1] != "driftd actions show 9b1c" {
		t.Errorf("the notes of an action that is over: %q", notes)
	}
}
