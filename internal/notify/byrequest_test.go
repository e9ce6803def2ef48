package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// renamed are findings on so many machines whose site priya renamed in one
// request.
func renamed(request string, n int) []model.Finding {
	old, now := model.StringOf("ber1"), model.StringOf("berlin")
	all := make([]model.Finding, n)
	for i := range all {
		f := finding(fmt.Sprintf("%s-%04d", request, i))
		f.Key, f.Name = model.Key{Source: "netbox", Kind: "netbox/virtualization.virtualmachine", ID: f.ID}, fmt.Sprintf("app-%d", i+1)
		f.Actor = model.Actor{Name: "priya", Via: "NetBox changelog", Evidence: "object-change " + f.ID, Request: request, Confidence: model.Exact}
		f.Changes = []model.Change{{Path: "site", Declared: &old, Live: &now}}
		all[i] = f
	}
	return all
}

func (d *desk) last() model.Message { return d.messages[len(d.messages)-1] }

// TestOneCause: what one request brought about is one finding in a message, and
// all of it in its counts.
func TestOneCause(t *testing.T) {
	t.Parallel()
	d := newDesk().show(renamed("r1", 5000)...)
	if said := d.tell(); len(said) != 1 || said[0] != "new: new r1-0000, and 4999 more (5000/0/0)" {
		t.Fatalf("said %q", said)
	}
	m := d.last()
	if want := "netbox: 5,000 resources changed by priya in one request"; m.Title != want || m.Subject != want {
		t.Errorf("title %q, subject %q, want %q", m.Title, m.Subject, want)
	}
	want := []string{"virtualmachine r1-0000 (app-1) and 4,999 more by the same request: virtualmachine app-2, app-3, app-4, app-5, …"}
	if diff := cmp.Diff(want, m.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if len(m.All) != 1 || m.OpenCount != 5000 || m.NewsCount != 5000 {
		t.Errorf("%d of all are listed, %d open, %d news", len(m.All), m.OpenCount, m.NewsCount)
	}

	seen := renamed("r1", 5)
	for i := range seen {
		seen[i] = decided(seen[i], model.Acknowledge)
	}
	d.later(time.Minute).show(seen...).resolve("r1-0010", "r1-0011", "r1-0012", "r1-0013")
	if said := d.tell(); len(said) != 1 || !strings.HasSuffix(said[0], "resolved r1-0010, and 3 more (4991/5/4)") {
		t.Errorf("said %q", said)
	}
	if want := "netbox: 4,991 resources changed by priya in one request"; d.last().Subject != want {
		t.Errorf("subject %q, want %q", d.last().Subject, want)
	}
	if n := strings.Count(inShort(d.last()), "acknowledged"); n != 5 {
		t.Errorf("%d of 5 that somebody looks after are told: %s", n, inShort(d.last()))
	}

	if said := d.later(25 * time.Hour).tell(); len(said) != 1 || d.last().Kind != model.ReminderMessage {
		t.Fatalf("said %q", said)
	}
	if notes := d.last().Notes; len(notes) != 1 || !strings.Contains(notes[0], " and 4,990 more by the same request: ") {
		t.Errorf("a reminder notes %q", notes)
	}
}

func TestTitle(t *testing.T) {
	t.Parallel()
	as := func(v model.Verdict, findings ...model.Finding) []model.Finding {
		for i := range findings {
			findings[i].Verdict = v
		}
		return findings
	}
	likely := func(findings []model.Finding) []model.Finding {
		for i := range findings {
			findings[i].Actor.Confidence = model.Likely
		}
		return findings
	}
	unasked := func(n int) []model.Finding { return renamed("", n) }
	unproven := as(model.Pending, unasked(1)...)
	unproven[0].Changes = []model.Change{{Path: "a"}, {Path: "b", Unproven: true}}
	twice := append(renamed("r1", 4), renamed("r1", 4)...)
	for i := range 4 {
		twice[i].Declaration = "other"
	}
	for name, tc := range map[string]struct {
		reason   string
		kind     model.MessageKind
		findings []model.Finding
		want     string
	}{
		"one":         {"who did it", model.NewMessage, unasked(1), "netbox: virtualmachine -0000 (app-1) changed by priya"},
		"few":         {"three are three", model.NewMessage, renamed("r", 3), "netbox: 3 findings changed by priya"},
		"enough":      {"four are one cause", model.NewMessage, renamed("r", 4), "netbox: 4 resources changed by priya in one request"},
		"some":        {"what else somebody did is counted", model.NewMessage, append(renamed("r", 4), unasked(2)...), "netbox: 6 findings changed by priya, 4 of them in one request"},
		"several":     {"requests are counted", model.NewMessage, append(renamed("r", 4), renamed("s", 5)...), "netbox: 9 findings changed by priya, 9 of them in 2 requests"},
		"two claims":  {"a resource counts once", model.NewMessage, twice, "netbox: 4 resources changed by priya in one request"},
		"two effects": {"one request that did two things is one", model.NewMessage, append(renamed("r", 4), as(model.Missing, renamed("r", 4)...)...), "netbox: 4 resources (4 missing, 4 changed) by priya in one request"},
		"missing":     {"who removes does not miss", model.NewMessage, as(model.Missing, renamed("r", 1200)...), "netbox: 1,200 resources missing, removed by priya in one request"},
		"wanted":      {"who enters what is not there removes nothing", model.NewMessage, likely(as(model.Missing, unasked(1)...)), "netbox: virtualmachine -0000 (app-1) missing, likely by priya"},
		"unmanaged":   {"who made it", model.NewMessage, as(model.Unmanaged, unasked(1)...), "netbox: virtualmachine -0000 (app-1) unmanaged, created by priya"},
		"disputed":    {"nobody disputes", model.NewMessage, as(model.Disputed, unasked(1)...), "netbox: virtualmachine -0000 (app-1) disputed, last changed by priya"},
		"pending":     {"who declared it", model.NewMessage, as(model.Pending, unasked(1)...), "netbox: virtualmachine -0000 (app-1) pending, declared by priya"},
		"bypassed":    {"who applied it", model.NewMessage, as(model.Bypassed, unasked(1)...), "netbox: virtualmachine -0000 (app-1) bypassed, applied by priya"},
		"unproven":    {"who applied it, not who declared it", model.NewMessage, unproven, "netbox: virtualmachine -0000 (app-1) pending, applied by priya"},
		"moved":       {"who moved it", model.NewMessage, as(model.Moved, unasked(1)...), "netbox: virtualmachine -0000 (app-1) moved by priya"},
		"conflict":    {"who changed it", model.NewMessage, as(model.Conflict, unasked(1)...), "netbox: virtualmachine -0000 (app-1) conflict, changed by priya"},
		"resolved":    {"who did it does not matter any more", model.ResolvedMessage, renamed("r", 4), "netbox: 4 resources resolved"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items := make([]item, len(tc.findings))
			for i := range items {
				items[i] = item{news: model.Appeared, finding: &tc.findings[i]}
			}
			if got := title(tc.kind, byRequest(items)); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestAlikeIsBounded: however many requests there are, and whatever things are
// called, a message has a few short lines beside its findings.
func TestAlikeIsBounded(t *testing.T) {
	t.Parallel()
	var items []item
	for r := range 30 {
		findings := renamed(fmt.Sprint(r), 10)
		for i := range findings {
			findings[i].Name, findings[i].Kind = strings.Repeat("@here ", 2000), strings.Repeat("x", 2000)
			items = append(items, item{news: model.Appeared, finding: &findings[i]})
		}
	}
	lines := alike(byRequest(items))
	if len(lines) != maxAlike+1 || !strings.HasPrefix(lines[maxAlike], "and 225 more by other requests") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > 300 {
			t.Errorf("a line has %d characters: %s", n, line)
		}
	}
}

// TestActorsAreShort: what somebody wrote beside a change does not fill a
// message, and stays whole in what is kept.
func TestActorsAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("界", 10_000)
	own := model.Actor{Name: "x", Message: long, Confidence: model.Exact}
	f := finding("a")
	f.Actor = model.Actor{Name: long, Via: long, Evidence: long, Reason: long, Message: long, Confidence: model.Exact}
	f.Changes[0].Actor = &own
	d := newDesk().show(f)
	d.tell()
	told := d.last().News[0].Finding
	for _, text := range []string{told.Actor.Name, told.Actor.Via, told.Actor.Evidence, told.Actor.Reason, told.Actor.Message, told.Changes[0].Actor.Message} {
		if n := len([]rune(text)); n != model.MaxValue {
			t.Errorf("a text has %d characters, want %d", n, model.MaxValue)
		}
	}
	if own.Message != long {
		t.Error("planning a message changed the finding")
	}
}

func BenchmarkOneCause(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := newDesk().show(renamed("r1", n)...)
			in := d.input()
			for b.Loop() {
				if change := d.policy.Plan(in); len(change.Messages) != 1 {
					b.Fatalf("%d messages", len(change.Messages))
				}
			}
		})
	}
}
