package phrase

import (
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

func TestWho(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 7, 30, 0, 0, time.UTC)
	at := now.Add(-5 * time.Minute)
	mara := model.Actor{Name: "mara", At: at, Via: "NetBox changelog", Evidence: "object-change 5695", Confidence: model.Exact}
	likely := model.Actor{Name: "ann", At: at, Via: "git", Evidence: "commit 5ac1", Confidence: model.Likely, Message: "web: 1.5"}
	unknown := model.UnknownActor("no record")
	for name, tc := range map[string]struct {
		reason  string
		verdict model.Verdict
		actor   model.Actor
		want    string
	}{
		"none":         {"no actor was looked for", model.Changed, model.Actor{}, ""},
		"unchecked":    {"nothing was done to what was not compared", model.Unchecked, unknown, ""},
		"unchecked by": {"an actor that is known is named", model.Unchecked, mara, "by mara 5 minutes ago via NetBox changelog, object-change 5695"},
		"changed":      {"who, when and by what evidence", model.Changed, mara, "changed by mara 5 minutes ago via NetBox changelog, object-change 5695"},
		"conflict":     {"some verdicts are no deeds", model.Conflict, mara, "changed by mara 5 minutes ago via NetBox changelog, object-change 5695"},
		"created":      {"the verb is that of the verdict", model.Unmanaged, mara, "created by mara 5 minutes ago via NetBox changelog, object-change 5695"},
		"removed":      {"the evidence names the object", model.Missing, mara, "removed by mara 5 minutes ago via NetBox changelog, object-change 5695"},
		"missing":      {"a likely actor may be who declared it", model.Missing, likely, `by ann 5 minutes ago via git, commit 5ac1 (likely): "web: 1.5"`},
		"pending":      {"the confidence comes before the message", model.Pending, likely, `declared by ann 5 minutes ago via git, commit 5ac1 (likely): "web: 1.5"`},
		"bypassed":     {"somebody applied it", model.Bypassed, model.Actor{Name: "ann", Evidence: "x", Confidence: model.Exact}, "applied by ann via x"},
		"disputed":     {"others may have changed it before", model.Disputed, model.Actor{Name: "ann", Confidence: model.Likely, Reason: "the last entry"}, "last changed by ann (likely: the last entry)"},
		"unknown":      {"the reason is given", model.Changed, unknown, "actor unknown (no record)"},
		"creator":      {"a resource was created", model.Unmanaged, unknown, "creator unknown (no record)"},
		"creation":     {"the time of the creation is known", model.Unmanaged, model.Actor{Name: "unknown", At: now.AddDate(0, 0, -83), Via: model.ViaCreation, Confidence: model.Unknown}, "created 83 days ago; creator unknown"},
		"last change":  {"the change may be older than the last one", model.Changed, model.Actor{Name: "unknown", At: at, Via: model.ViaLastChange, Confidence: model.Unknown, Reason: "no log"}, "last changed 5 minutes ago; actor unknown (no log)"},
		"another":      {"any other event is named", model.Changed, model.Actor{Name: "unknown", At: at, Via: "its import", Confidence: model.Unknown}, "actor unknown; its import 5 minutes ago"},
		"at":           {"a time without an event", model.Changed, model.Actor{Name: "unknown", At: at, Confidence: model.Unknown}, "actor unknown, 5 minutes ago"},
		"quoted":       {"nothing ends a message but its end", model.Changed, model.Actor{Name: "x", Message: `a", first seen at "b\`}, `changed by x: "a\", first seen at \"b\"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := model.Finding{Verdict: tc.verdict, Actor: tc.actor}
			if got := (Clock{Now: now, Relative: true}).ActorOf(&f).String(); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
	unproven := model.Finding{Verdict: model.Pending, Unproven: true, Actor: mara}
	if got := (Clock{}).ActorOf(&unproven).String(); !strings.HasPrefix(got, "applied by mara 2026-11-20T07:25:00Z") {
		t.Errorf("unproven: got %s", got)
	}
}

func TestActorIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("@here `|\x1b[31m\n", 1000)
	said := Clock{}.Actor("", model.Actor{Name: long, Via: long, Evidence: long, Reason: long, Message: long, Confidence: model.Likely}).String()
	if !isVisible(strings.ReplaceAll(said, Ellipsis, "")) || len(said) > 1000 {
		t.Errorf("a long name makes a line of %d bytes: %s", len(said), said)
	}
}
