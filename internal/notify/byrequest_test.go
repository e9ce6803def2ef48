package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// renamedSites returns n findings: virtual machines whose site priya changed in one
// request.
func renamedSites(request string, n int) []model.Finding {
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

// lastMessage returns the message that was planned last.
func (d *fixture) lastMessage() model.Message { return d.messages[len(d.messages)-1] }

// TestManyFindingsOfOneRequest checks that a message lists one of the findings that one
// request caused, and counts all of them.
func TestManyFindingsOfOneRequest(t *testing.T) {
	t.Parallel()
	d := newFixture().setOpen(renamedSites("r1", 5000)...)
	if got := d.plan(); len(got) != 1 || got[0] != "new: new r1-0000, and 4999 more (5000/0/0)" {
		t.Fatalf("got messages %q", got)
	}
	m := d.lastMessage()
	if want := "netbox: 5,000 resources changed by priya in one request"; m.Title != want || m.Subject != want {
		t.Errorf("title %q, subject %q, want %q", m.Title, m.Subject, want)
	}
	want := []string{"virtualmachine r1-0000 (app-1) and 4,999 more by the same request: virtualmachine app-2, app-3, app-4, app-5, …"}
	if diff := cmp.Diff(want, m.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if len(m.All) != 1 || m.OpenCount != 5000 || m.NewsCount != 5000 {
		t.Errorf("%d listed, %d open, %d news, want 1, 5000, 5000", len(m.All), m.OpenCount, m.NewsCount)
	}

	seen := renamedSites("r1", 5)
	for i := range seen {
		seen[i] = withDecision(seen[i], model.Acknowledge)
	}
	d.advance(time.Minute).setOpen(seen...).resolve("r1-0010", "r1-0011", "r1-0012", "r1-0013")
	if got := d.plan(); len(got) != 1 || !strings.HasSuffix(got[0], "resolved r1-0010, and 3 more (4991/5/4)") {
		t.Errorf("got messages %q", got)
	}
	if want := "netbox: 4,991 resources changed by priya in one request"; d.lastMessage().Subject != want {
		t.Errorf("subject %q, want %q", d.lastMessage().Subject, want)
	}
	if n := strings.Count(summarize(d.lastMessage()), "acknowledged"); n != 5 {
		t.Errorf("%d of 5 acknowledged findings are in the message, want all: %s", n, summarize(d.lastMessage()))
	}

	if got := d.advance(25 * time.Hour).plan(); len(got) != 1 || d.lastMessage().Kind != model.ReminderMessage {
		t.Fatalf("got messages %q", got)
	}
	if notes := d.lastMessage().Notes; len(notes) != 1 || !strings.Contains(notes[0], " and 4,990 more by the same request: ") {
		t.Errorf("got notes %q of a reminder", notes)
	}
}

func TestTitle(t *testing.T) {
	t.Parallel()
	withVerdict := func(v model.Verdict, findings ...model.Finding) []model.Finding {
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
	withoutRequest := func(n int) []model.Finding { return renamedSites("", n) }
	unproven := withVerdict(model.Pending, withoutRequest(1)...)
	unproven[0].Changes = []model.Change{{Path: "a"}, {Path: "b", Unproven: true}}
	twice := append(renamedSites("r1", 4), renamedSites("r1", 4)...)
	for i := range 4 {
		twice[i].Declaration = "other"
	}
	for name, tc := range map[string]struct {
		reason   string
		kind     model.MessageKind
		findings []model.Finding
		want     string
	}{
		"one":         {"the actor is named", model.NewMessage, withoutRequest(1), "netbox: virtualmachine -0000 (app-1) changed by priya"},
		"few":         {"three findings of one request are listed one by one", model.NewMessage, renamedSites("r", 3), "netbox: 3 findings changed by priya"},
		"enough":      {"four findings of one request are summarized", model.NewMessage, renamedSites("r", 4), "netbox: 4 resources changed by priya in one request"},
		"some":        {"findings without the request are counted", model.NewMessage, append(renamedSites("r", 4), withoutRequest(2)...), "netbox: 6 findings changed by priya, 4 of them in one request"},
		"several":     {"the requests are counted", model.NewMessage, append(renamedSites("r", 4), renamedSites("s", 5)...), "netbox: 9 findings changed by priya, 9 of them in 2 requests"},
		"two claims":  {"a resource with two findings counts once", model.NewMessage, twice, "netbox: 4 resources changed by priya in one request"},
		"two effects": {"a request may cause two verdicts", model.NewMessage, append(renamedSites("r", 4), withVerdict(model.Missing, renamedSites("r", 4)...)...), "netbox: 4 resources (4 missing, 4 changed) by priya in one request"},
		"missing":     {"the actor removed the resource", model.NewMessage, withVerdict(model.Missing, renamedSites("r", 1200)...), "netbox: 1,200 resources missing, removed by priya in one request"},
		"declared":    {"the actor may have declared the resource", model.NewMessage, likely(withVerdict(model.Missing, withoutRequest(1)...)), "netbox: virtualmachine -0000 (app-1) missing, likely by priya"},
		"unmanaged":   {"the actor created the resource", model.NewMessage, withVerdict(model.Unmanaged, withoutRequest(1)...), "netbox: virtualmachine -0000 (app-1) unmanaged, created by priya"},
		"disputed":    {"the actor made the last change", model.NewMessage, withVerdict(model.Disputed, withoutRequest(1)...), "netbox: virtualmachine -0000 (app-1) disputed, last changed by priya"},
		"pending":     {"the actor declared the change", model.NewMessage, withVerdict(model.Pending, withoutRequest(1)...), "netbox: virtualmachine -0000 (app-1) pending, declared by priya"},
		"bypassed":    {"the actor applied the change", model.NewMessage, withVerdict(model.Bypassed, withoutRequest(1)...), "netbox: virtualmachine -0000 (app-1) bypassed, applied by priya"},
		"unproven":    {"the actor of an unproven change applied it", model.NewMessage, unproven, "netbox: virtualmachine -0000 (app-1) pending, applied by priya"},
		"moved":       {"the actor moved the resource", model.NewMessage, withVerdict(model.Moved, withoutRequest(1)...), "netbox: virtualmachine -0000 (app-1) moved by priya"},
		"conflict":    {"the actor changed the resource", model.NewMessage, withVerdict(model.Conflict, withoutRequest(1)...), "netbox: virtualmachine -0000 (app-1) conflict, changed by priya"},
		"resolved":    {"the title of resolved findings names no actor", model.ResolvedMessage, renamedSites("r", 4), "netbox: 4 resources resolved"},
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

// TestRequestLinesAreBounded checks that the number and the length of the lines about
// requests are bounded, for any number of requests and any names.
func TestRequestLinesAreBounded(t *testing.T) {
	t.Parallel()
	var items []item
	for r := range 30 {
		findings := renamedSites(fmt.Sprint(r), 10)
		for i := range findings {
			findings[i].Name, findings[i].Kind = strings.Repeat("@here ", 2000), strings.Repeat("x", 2000)
			items = append(items, item{news: model.Appeared, finding: &findings[i]})
		}
	}
	lines := requestLines(byRequest(items))
	if len(lines) != maxRequestLines+1 || !strings.HasPrefix(lines[maxRequestLines], "and 225 more by other requests") {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > 300 {
			t.Errorf("a line has %d characters: %s", n, line)
		}
	}
}

// TestActorTextsAreShortened checks that long texts of an actor are shortened in a
// message, and not in the finding.
func TestActorTextsAreShortened(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("界", 10_000)
	own := model.Actor{Name: "x", Message: long, Confidence: model.Exact}
	f := finding("a")
	f.Actor = model.Actor{Name: long, Via: long, Evidence: long, Reason: long, Message: long, Confidence: model.Exact}
	f.Changes[0].Actor = &own
	d := newFixture().setOpen(f)
	d.plan()
	published := d.lastMessage().News[0].Finding
	for _, text := range []string{published.Actor.Name, published.Actor.Via, published.Actor.Evidence, published.Actor.Reason, published.Actor.Message, published.Changes[0].Actor.Message} {
		if n := len([]rune(text)); n != model.MaxValue {
			t.Errorf("a text has %d characters, want %d", n, model.MaxValue)
		}
	}
	if own.Message != long {
		t.Error("planning a message changed the finding")
	}
}

func BenchmarkManyFindingsOfOneRequest(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := newFixture().setOpen(renamedSites("r1", n)...)
			in := d.input()
			for b.Loop() {
				if change := d.policy.Plan(in); len(change.Messages) != 1 {
					b.Fatalf("%d messages", len(change.Messages))
				}
			}
		})
	}
}
