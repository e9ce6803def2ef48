package notify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// monday is the time at which the tests begin.
var monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// A fixture holds the findings and the notices of the receiver "ops", as a store does.
type fixture struct {
	policy   Policy
	now      time.Time
	open     map[string]model.Finding
	recent   []model.Finding
	notices  model.Notices
	queued   map[string]int
	gone     map[string]Pacing
	messages []model.Message
}

func newFixture() *fixture {
	return &fixture{now: monday, open: map[string]model.Finding{}, notices: model.Notices{Paces: map[string]model.Pace{}},
		policy: Policy{Routes: []Route{{Receivers: []string{"ops"}, GroupBy: []string{"cause"}, Repeat: 24 * time.Hour}},
			Receivers: map[string]Pacing{"ops": {Digest: -1}}, UncheckedAfter: 30 * time.Minute, GroupWindow: 5 * time.Minute}}
}

// finding returns a finding with the given ID.
func finding(id string) model.Finding {
	v := model.StringOf("x")
	return model.Finding{ID: id, Key: model.Key{Source: "prod", Kind: "test/Thing", ID: id}, Name: id, Verdict: model.Changed,
		Severity: model.Medium, Basis: "1", Actor: model.UnknownActor("no log"), Changes: []model.Change{{Path: "a", Live: &v}}}
}

// setOpen opens findings, or changes the open findings with the same IDs.
func (d *fixture) setOpen(findings ...model.Finding) *fixture {
	for _, f := range findings {
		before, isOpen := d.open[f.ID]
		f.FirstSeen = d.now
		if isOpen {
			f.FirstSeen, f.Flips, f.Flapping = before.FirstSeen, before.Flips, before.Flapping
		} else {
			for _, r := range d.recent {
				if r.ID == f.ID {
					f.Flips, f.Flapping = r.Flips, r.Flapping
				}
			}
		}
		if !isOpen || before.Basis != f.Basis {
			f.Flipped(d.now, f.Basis)
		}
		f.Flapping = f.Flaps(d.now)
		d.open[f.ID] = f
	}
	return d
}

// resolve resolves open findings.
func (d *fixture) resolve(ids ...string) *fixture {
	for _, id := range ids {
		f := d.open[id]
		delete(d.open, id)
		f.Resolved = d.now
		f.Flipped(d.now, "")
		f.Flapping = f.Flaps(d.now)
		d.recent = slices.DeleteFunc(d.recent, func(r model.Finding) bool { return r.ID == id })
		d.recent = append(d.recent, f)
	}
	return d
}

// input returns the input of the planner.
func (d *fixture) input() Input {
	in := Input{Recent: d.recent, Notices: d.notices, Queued: d.queued, Now: d.now}
	for _, f := range d.open {
		in.Findings = append(in.Findings, f)
	}
	return in
}

// setUnconfigured removes the receiver from the configuration, or adds it again.
func (d *fixture) setUnconfigured(removed bool) *fixture {
	if removed {
		d.gone, d.policy.Receivers = d.policy.Receivers, nil
	} else {
		d.policy.Receivers = d.gone
	}
	return d
}

// plan plans messages, stores the plan, and returns a summary of each message.
func (d *fixture) plan() []string {
	change := d.policy.Plan(d.input())
	for id, pace := range change.Paces {
		d.notices.Paces[id] = pace
	}
	d.notices.Threads = slices.DeleteFunc(d.notices.Threads, func(t model.Thread) bool {
		changed := func(c model.Thread) bool { return c.ID == t.ID }
		return slices.Contains(change.Gone, t.ID) || slices.ContainsFunc(change.Threads, changed)
	})
	d.notices.Threads = append(d.notices.Threads, change.Threads...)
	d.messages = append(d.messages, change.Messages...)
	var summaries []string
	for _, m := range change.Messages {
		summaries = append(summaries, summarize(m))
	}
	return summaries
}

// summarize returns "kind: news id, news id (open/muted/resolved)".
func summarize(m model.Message) string {
	var parts []string
	for _, it := range m.News {
		parts = append(parts, string(it.News)+" "+it.Finding.ID)
	}
	if more := m.NewsCount - len(m.News); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s: %s (%d/%d/%d)", m.Kind, strings.Join(parts, ", "), m.OpenCount, m.MutedCount, m.ResolvedCount)
}

// advance moves the clock.
func (d *fixture) advance(withActor time.Duration) *fixture {
	d.now = d.now.Add(withActor)
	return d
}

// with returns f with a change.
func with(f model.Finding, change func(*model.Finding)) model.Finding {
	change(&f)
	return f
}

// flap lets a finding change between two states until it flaps.
func flap(d *fixture, f model.Finding) {
	for i := range 10 {
		d.advance(5 * time.Minute).setOpen(withBasis(f, fmt.Sprint(i%2))).plan()
	}
}

// withBasis returns f with the basis b.
func withBasis(f model.Finding, b string) model.Finding {
	return with(f, func(f *model.Finding) { f.Basis = b })
}

// withActor returns f with the actor name.
func withActor(f model.Finding, name string) model.Finding {
	return with(f, func(f *model.Finding) { f.Actor = model.Actor{Name: name, Confidence: model.Exact} })
}

// withDecision returns f with a decision.
func withDecision(f model.Finding, kind model.DecisionKind) model.Finding {
	return with(f, func(f *model.Finding) { f.Decision = &model.Decision{Kind: kind} })
}

func TestPlan(t *testing.T) {
	t.Parallel()
	type step struct {
		do   func(*fixture)
		want []string
	}
	tests := map[string]struct {
		reason string
		set    func(*Policy)
		steps  []step
	}{
		"once": {reason: "there is one message about a new finding, and one when it is resolved", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(10 * time.Minute) }, nil},
			{func(d *fixture) { d.advance(10 * time.Minute).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
			{func(d *fixture) { d.advance(10 * time.Minute) }, nil},
		}},
		"changed": {reason: "a change of a finding is news in its thread", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).setOpen(withBasis(finding("a"), "2")) }, []string{"changed: changed a (1/0/0)"}},
		}},
		"worse": {reason: "a worse severity is news", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) {
				d.setOpen(with(finding("a"), func(f *model.Finding) { f.Severity = model.Critical }))
			}, []string{"changed: changed a (1/0/0)"}},
		}},
		"grouped": {reason: "there is one message for each cause, the worst first", steps: []step{
			{func(d *fixture) {
				d.setOpen(withActor(finding("a"), "alice"), withActor(finding("b"), "alice"), withActor(finding("c"), "bob"), finding("d"))
				d.setOpen(with(withActor(finding("c"), "bob"), func(f *model.Finding) { f.Severity = model.High }))
			}, []string{"new: new c (1/0/0)", "new: new a, new b (2/0/0)", "new: new d (1/0/0)"}},
		}},
		"group window": {reason: "a finding joins a thread within the group window, and opens a new one later", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Minute).setOpen(finding("b")) }, []string{"new: new b (2/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).setOpen(finding("c")) }, []string{"new: new c (1/0/0)"}},
		}},
		"again": {reason: "a finding that is open again within a day continues its thread, and is new later", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(4 * time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
			{func(d *fixture) { d.advance(4 * time.Hour).setOpen(finding("a")) }, []string{"new: again a (1/0/0)"}},
			{func(d *fixture) { d.advance(4 * time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
			{func(d *fixture) { d.advance(25 * time.Hour) }, nil},
			{func(d *fixture) { d.advance(time.Hour).setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
		}},
		"reminder": {reason: "there is a reminder of an open finding a day after the last message", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(23 * time.Hour) }, nil},
			{func(d *fixture) { d.advance(time.Hour) }, []string{"reminder:  (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour) }, nil},
		}},
		"clock set back": {reason: "a clock that is set back delays reminders by at most one interval", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(-365 * 24 * time.Hour).setOpen(finding("b")) }, []string{"new: new b (2/0/0)"}},
			{func(d *fixture) { d.advance(24 * time.Hour) }, []string{"reminder:  (2/0/0)"}},
		}},
		"other receiver": {reason: "a receiver that no route selects any more gets a message when the finding is resolved", set: func(p *Policy) {
			p.Routes[0].Severities = []model.Severity{model.Medium}
		}, steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) {
				d.setOpen(with(finding("a"), func(f *model.Finding) { f.Severity, f.Basis = model.Critical, "2" }))
			}, nil},
			{func(d *fixture) { d.advance(time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"severe": {reason: "severe news is sent above the rate limit, in a thread of its own", set: func(p *Policy) {
			p.Receivers["ops"] = Pacing{Messages: 1, Per: time.Hour, Digest: -1}
		}, steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) {
				d.advance(time.Minute).setOpen(with(finding("b"), func(f *model.Finding) { f.Severity = model.High }))
			}, []string{"new: new b (1/0/0)"}},
			{func(d *fixture) {
				d.advance(time.Minute).setOpen(with(finding("c"), func(f *model.Finding) { f.Severity = model.High }))
			}, nil},
			{func(d *fixture) { d.advance(58 * time.Minute) }, []string{"new: new c (1/0/0)"}},
		}},
		"configured again": {reason: "a receiver that is configured again continues its threads", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a"), finding("b")) }, []string{"new: new a, new b (2/0/0)"}},
			{func(d *fixture) { d.setUnconfigured(true).resolve("a") }, nil},
			{func(d *fixture) { d.advance(time.Hour).setUnconfigured(false) }, []string{"resolved: resolved a (1/0/1)"}},
		}},
		"many states": {reason: "a finding that changes continually flaps, also if it never returns to a former state", steps: []step{
			{func(d *fixture) {
				for i := range 20 {
					d.advance(5 * time.Minute).setOpen(withBasis(finding("a"), fmt.Sprint(i))).plan()
				}
			}, nil},
			{func(d *fixture) { d.advance(5 * time.Minute).setOpen(withBasis(finding("a"), "x")) }, nil},
			{func(d *fixture) { d.advance(model.FlapWindow + time.Minute) }, []string{"changed: steady a (1/0/0)"}},
		}},
		"order": {reason: "severe news comes first, then news that the rate limit deferred for long", set: func(p *Policy) {
			p.Routes[0].GroupBy, p.Routes[0].Repeat = []string{"resource"}, 0
			p.Receivers["ops"] = Pacing{Messages: 1, Per: 10 * time.Minute, Digest: -1}
		}, steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) {
				d.advance(10 * time.Minute).setOpen(finding("b")).resolve("a")
				d.setOpen(finding("c"), finding("d"))
			},
				[]string{"new: new b, new c, new d (3/0/0)"}},
			{func(d *fixture) {
				d.advance(10 * time.Minute).setOpen(with(finding("e"), func(f *model.Finding) { f.Severity = model.High }))
			},
				[]string{"new: new e (1/0/0)"}},
			{func(d *fixture) { d.advance(10 * time.Minute).setOpen(finding("f")) }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"clock set back with a rate limit": {reason: "messages with a time in the future do not count", set: func(p *Policy) {
			p.Receivers["ops"] = Pacing{Messages: 1, Per: time.Hour, Digest: 9 * time.Hour}
			p.Routes[0].Repeat = 0
		}, steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(-365 * 24 * time.Hour).setOpen(withActor(finding("b"), "bob")) }, []string{"new: new b (1/0/0)"}},
			{func(d *fixture) { d.advance(24 * time.Hour) }, []string{"digest:  (2/0/0)"}},
		}},
		"accepted": {reason: "there is one message about an acceptance, and one when it ends", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a"), finding("b")) }, []string{"new: new a, new b (2/0/0)"}},
			{func(d *fixture) { d.setOpen(withDecision(finding("a"), model.Accept)) }, []string{"decided: accepted a (1/1/0)"}},
			{func(d *fixture) { d.advance(time.Hour) }, nil},
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: returned a (2/0/0)"}},
		}},
		"accepted before": {reason: "there is no message about a finding that was accepted before the first message", steps: []step{
			{func(d *fixture) { d.setOpen(withDecision(finding("a"), model.Accept)) }, nil},
			{func(d *fixture) { d.resolve("a") }, nil},
		}},
		"accepted and resolved": {reason: "there is no message when an accepted finding is resolved", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.setOpen(withDecision(finding("a"), model.Accept)) }, []string{"decided: accepted a (0/1/0)"}},
			{func(d *fixture) { d.resolve("a") }, nil},
		}},
		"acknowledged": {reason: "there is no reminder of an acknowledged finding, but a message when it is resolved", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.setOpen(withDecision(finding("a"), model.Acknowledge)) }, []string{"decided: acknowledged a (0/1/0)"}},
			{func(d *fixture) { d.advance(48 * time.Hour) }, nil},
			{func(d *fixture) { d.resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"unchecked": {reason: "there is a message about an unchecked finding after UncheckedAfter", steps: []step{
			{func(d *fixture) {
				d.setOpen(with(finding("a"), func(f *model.Finding) { f.Verdict = model.Unchecked }))
			}, nil},
			{func(d *fixture) { d.advance(29 * time.Minute) }, nil},
			{func(d *fixture) { d.advance(time.Minute) }, []string{"unchecked: new a (1/0/0)"}},
			{func(d *fixture) {
				d.advance(time.Minute).setOpen(with(finding("a"), func(f *model.Finding) { f.Verdict, f.Basis, f.Changes = model.Unchecked, "other reason", nil }))
			}, nil},
		}},
		"flapping": {reason: "there is one message about a flapping finding, and one when it is steady", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(10 * time.Minute).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
			{func(d *fixture) { d.advance(10 * time.Minute).setOpen(finding("a")) }, []string{"new: again a (1/0/0)"}},
			{func(d *fixture) { d.advance(10 * time.Minute).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
			{func(d *fixture) { d.advance(10 * time.Minute).setOpen(finding("a")) }, []string{"new: flapping a (1/0/0)"}},
			{func(d *fixture) { d.advance(10 * time.Minute).resolve("a") }, nil},
			{func(d *fixture) { d.advance(model.FlapWindow + time.Minute) }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"worse while flapping": {reason: "a field that changes to and fro must not hide another one that makes the finding worse, once for each severity", steps: []step{
			{func(d *fixture) { flap(d, finding("a")) }, nil},
			{func(d *fixture) { d.advance(5 * time.Minute).setOpen(withBasis(finding("a"), "w")) }, nil},
			{func(d *fixture) {
				d.advance(time.Minute).setOpen(withVerdict(withBasis(finding("a"), "w"), model.Changed, model.Critical))
			}, []string{"changed: changed a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Minute).setOpen(withVerdict(finding("a"), model.Changed, model.High)) }, nil},
			{func(d *fixture) {
				d.advance(time.Minute).setOpen(withVerdict(withBasis(finding("a"), "w"), model.Changed, model.Critical))
			}, nil},
		}},
		"hidden": {reason: "there is one message when a rule hides a finding", steps: []step{
			{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.setOpen(with(finding("a"), func(f *model.Finding) { f.Hidden = "noise" })) }, []string{"decided: ignored a (0/1/0)"}},
		}},
		"routes": {reason: "the first route that matches applies", set: func(p *Policy) {
			p.Routes = []Route{{Selector: model.Selector{Sources: []string{"pr*"}, Severities: []model.Severity{model.Medium}}, Receivers: []string{"others"}},
				{Receivers: []string{"ops"}, GroupBy: []string{"cause"}}}
		}, steps: []step{
			{func(d *fixture) {
				d.setOpen(finding("a"), with(finding("b"), func(f *model.Finding) { f.Severity = model.High }))
			}, []string{"new: new b (1/0/0)"}},
		}},
		"continue": {reason: "after a route with Continue the next one that matches applies too", set: func(p *Policy) {
			p.Routes = slices.Insert(p.Routes, 0, Route{Receivers: []string{"others"}, Continue: true})
		}, steps: []step{{func(d *fixture) { d.setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}}}},
		"group by": {reason: "the route selects the grouping", set: func(p *Policy) { p.Routes[0].GroupBy = []string{"resource"} }, steps: []step{
			{func(d *fixture) { d.setOpen(finding("a"), finding("b")) }, []string{"new: new a (1/0/0)", "new: new b (1/0/0)"}},
		}},
		"rate": {reason: "above the rate limit one message combines the new findings", set: func(p *Policy) {
			p.Routes[0].GroupBy = []string{"resource"}
			p.Receivers["ops"] = Pacing{Messages: 3, Per: 10 * time.Minute, Digest: -1}
		}, steps: []step{
			{func(d *fixture) { d.setOpen(finding("a"), finding("b"), finding("c"), finding("d"), finding("e")) },
				[]string{"new: new a (1/0/0)", "new: new b (1/0/0)", "new: new c, new d, new e (3/0/0)"}},
			{func(d *fixture) { d.advance(time.Minute).resolve("a") }, nil},
			{func(d *fixture) { d.advance(9 * time.Minute) }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"full": {reason: "no message is planned for a full queue, and the news is planned when there is room", steps: []step{
			{func(d *fixture) { d.queued = map[string]int{"ops": MaxQueued}; d.setOpen(finding("a")) }, nil},
			{func(d *fixture) { d.queued = nil; d.setOpen(withBasis(finding("a"), "2")) }, []string{"new: new a (1/0/0)"}},
		}},
		"quiet": {reason: "during quiet hours only the excepted severities are sent, and one digest at their end", set: func(p *Policy) {
			p.Receivers["ops"] = Pacing{Digest: -1, Quiet: QuietHours{From: 8 * time.Hour, To: 9 * time.Hour, Except: []model.Severity{model.High}}}
		}, steps: []step{
			{func(d *fixture) {
				d.setOpen(withActor(finding("a"), "alice"), withActor(finding("b"), "bob"), finding("gone"),
					with(finding("c"), func(f *model.Finding) { f.Severity = model.Critical }))
			}, []string{"new: new c (1/0/0)"}},
			{func(d *fixture) { d.advance(30 * time.Minute).resolve("gone") }, nil},
			{func(d *fixture) { d.advance(30 * time.Minute).resolve("c") }, []string{"resolved: resolved c (0/0/1)", "digest: new a, new b (2/0/0)"}},
			{func(d *fixture) { d.advance(time.Minute).setOpen(withActor(finding("d"), "alice")) }, []string{"new: new d (1/0/0)"}},
		}},
		"digest": {reason: "there is one digest a day, and none without findings", set: func(p *Policy) {
			p.Receivers["ops"] = Pacing{Digest: 9 * time.Hour}
			p.Routes[0].Repeat = 0
		}, steps: []step{
			{func(d *fixture) { d.advance(30 * time.Minute) }, nil},
			{func(d *fixture) { d.advance(30 * time.Minute) }, nil},
			{func(d *fixture) { d.advance(time.Hour).setOpen(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(23 * time.Hour) }, []string{"digest:  (1/0/0)"}},
			{func(d *fixture) { d.advance(23 * time.Hour) }, nil},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture()
			if tt.set != nil {
				tt.set(&d.policy)
			}
			for i, s := range tt.steps {
				s.do(d)
				if diff := cmp.Diff(s.want, d.plan()); diff != "" {
					t.Fatalf("%s: step %d (-want +got):\n%s", tt.reason, i, diff)
				}
				if again := d.plan(); len(again) > 0 {
					t.Fatalf("%s: step %d is planned twice: %q", tt.reason, i, again)
				}
			}
		})
	}
}

func TestQuietHours(t *testing.T) {
	t.Parallel()
	night := QuietHours{From: 22 * time.Hour, To: 7 * time.Hour, Days: []time.Weekday{time.Friday}}
	friday := time.Date(2026, 3, 6, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		reason string
		after  time.Duration
		want   bool
	}{
		"before":   {"they have not begun", 21*time.Hour + 59*time.Minute, false},
		"begun":    {"they begin on Friday", 22 * time.Hour, true},
		"next day": {"they continue on Saturday", 30 * time.Hour, true},
		"ended":    {"they end at seven", 31 * time.Hour, false},
		"saturday": {"they do not begin on Saturday", 46 * time.Hour, false},
		"early":    {"they did not begin on Thursday", time.Hour, false},
	}
	for name, tt := range tests {
		if got := night.contains(friday.Add(tt.after)); got != tt.want {
			t.Errorf("%s: %s: contains() = %t, want %t", name, tt.reason, got, tt.want)
		}
	}
}
