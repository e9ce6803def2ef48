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

// monday is the morning on which the tests begin.
var monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// A desk is what the receiver "ops" was told, as a store would keep it.
type desk struct {
	policy   Policy
	now      time.Time
	open     map[string]model.Finding
	recent   []model.Finding
	notices  model.Notices
	queued   map[string]int
	gone     map[string]Pacing
	messages []model.Message
}

func newDesk() *desk {
	return &desk{now: monday, open: map[string]model.Finding{}, notices: model.Notices{Paces: map[string]model.Pace{}},
		policy: Policy{Routes: []Route{{Receivers: []string{"ops"}, GroupBy: []string{"cause"}, Repeat: 24 * time.Hour}},
			Receivers: map[string]Pacing{"ops": {Digest: -1}}, UncheckedAfter: 30 * time.Minute, GroupWindow: 5 * time.Minute}}
}

func finding(id string) model.Finding {
	v := model.StringOf("x")
	return model.Finding{ID: id, Key: model.Key{Source: "prod", Kind: "test/Thing", ID: id}, Name: id, Verdict: model.Changed,
		Severity: model.Medium, Basis: "1", Actor: model.UnknownActor("no log"), Changes: []model.Change{{Path: "a", Live: &v}}}
}

// show opens findings, or shows something else of them.
func (d *desk) show(findings ...model.Finding) *desk {
	for _, f := range findings {
		before, known := d.open[f.ID]
		f.FirstSeen = d.now
		if known {
			f.FirstSeen, f.Flips, f.Flapping = before.FirstSeen, before.Flips, before.Flapping
		} else {
			for _, r := range d.recent {
				if r.ID == f.ID {
					f.Flips, f.Flapping = r.Flips, r.Flapping
				}
			}
		}
		if !known || before.Basis != f.Basis {
			f.Flipped(d.now, f.Basis)
		}
		f.Flapping = f.Flaps(d.now)
		d.open[f.ID] = f
	}
	return d
}

func (d *desk) resolve(ids ...string) *desk {
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

func (d *desk) input() Input {
	in := Input{Recent: d.recent, Notices: d.notices, Queued: d.queued, Now: d.now}
	for _, f := range d.open {
		in.Findings = append(in.Findings, f)
	}
	return in
}

// away takes the receiver out of the configuration, or puts it back.
func (d *desk) away(is bool) *desk {
	if is {
		d.gone, d.policy.Receivers = d.policy.Receivers, nil
	} else {
		d.policy.Receivers = d.gone
	}
	return d
}

// tell plans, keeps what was planned and returns the messages in short.
func (d *desk) tell() []string {
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
	var said []string
	for _, m := range change.Messages {
		said = append(said, inShort(m))
	}
	return said
}

// inShort is "kind: news id, news id (open/muted/resolved)".
func inShort(m model.Message) string {
	var parts []string
	for _, it := range m.News {
		parts = append(parts, string(it.News)+" "+it.Finding.ID)
	}
	if more := m.NewsCount - len(m.News); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s: %s (%d/%d/%d)", m.Kind, strings.Join(parts, ", "), m.OpenCount, m.MutedCount, m.ResolvedCount)
}

func (d *desk) later(by time.Duration) *desk {
	d.now = d.now.Add(by)
	return d
}

func with(f model.Finding, change func(*model.Finding)) model.Finding {
	change(&f)
	return f
}

func basis(f model.Finding, b string) model.Finding {
	return with(f, func(f *model.Finding) { f.Basis = b })
}

func by(f model.Finding, name string) model.Finding {
	return with(f, func(f *model.Finding) { f.Actor = model.Actor{Name: name, Confidence: model.Exact} })
}

func decided(f model.Finding, kind model.DecisionKind) model.Finding {
	return with(f, func(f *model.Finding) { f.Decision = &model.Decision{Kind: kind} })
}

func TestPlan(t *testing.T) {
	t.Parallel()
	type step struct {
		do   func(*desk)
		said []string
	}
	tests := map[string]struct {
		reason string
		set    func(*Policy)
		steps  []step
	}{
		"once": {reason: "a finding is told once, and once that it is over", steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(10 * time.Minute) }, nil},
			{func(d *desk) { d.later(10 * time.Minute).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
			{func(d *desk) { d.later(10 * time.Minute) }, nil},
		}},
		"changed": {reason: "what shows something else is news in its thread", steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(basis(finding("a"), "2")) }, []string{"changed: changed a (1/0/0)"}},
		}},
		"worse": {reason: "what became worse is news", steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) {
				d.show(with(finding("a"), func(f *model.Finding) { f.Severity = model.Critical }))
			}, []string{"changed: changed a (1/0/0)"}},
		}},
		"grouped": {reason: "one cause is one message, two causes are two, the worst first", steps: []step{
			{func(d *desk) {
				d.show(by(finding("a"), "alice"), by(finding("b"), "alice"), by(finding("c"), "bob"), finding("d"))
				d.show(with(by(finding("c"), "bob"), func(f *model.Finding) { f.Severity = model.High }))
			}, []string{"new: new c (1/0/0)", "new: new a, new b (2/0/0)", "new: new d (1/0/0)"}},
		}},
		"growing": {reason: "what comes soon after joins the thread, what comes later begins one", steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(time.Minute).show(finding("b")) }, []string{"new: new b (2/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(finding("c")) }, []string{"new: new c (1/0/0)"}},
		}},
		"again": {reason: "what comes back soon comes back in its thread, and long after as new", steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(4 * time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
			{func(d *desk) { d.later(4 * time.Hour).show(finding("a")) }, []string{"new: again a (1/0/0)"}},
			{func(d *desk) { d.later(4 * time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
			{func(d *desk) { d.later(25 * time.Hour) }, nil},
			{func(d *desk) { d.later(time.Hour).show(finding("a")) }, []string{"new: new a (1/0/0)"}},
		}},
		"reminder": {reason: "what stays open is called to mind, a day after the last word", steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(23 * time.Hour) }, nil},
			{func(d *desk) { d.later(time.Hour) }, []string{"reminder:  (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour) }, nil},
		}},
		"clock set back": {reason: "a clock that was set back silences nobody for longer than an interval", steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(-365 * 24 * time.Hour).show(finding("b")) }, []string{"new: new b (2/0/0)"}},
			{func(d *desk) { d.later(24 * time.Hour) }, []string{"reminder:  (2/0/0)"}},
		}},
		"elsewhere now": {reason: "what others are told of from now on is said to be over here all the same", set: func(p *Policy) {
			p.Routes[0].Severities = []model.Severity{model.Medium}
		}, steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) {
				d.show(with(finding("a"), func(f *model.Finding) { f.Severity, f.Basis = model.Critical, "2" }))
			}, nil},
			{func(d *desk) { d.later(time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"severe": {reason: "what is severe gets through where the rate is used up, and does not hide in the thread of something milder", set: func(p *Policy) {
			p.Receivers["ops"] = Pacing{Messages: 1, Per: time.Hour, Digest: -1}
		}, steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) {
				d.later(time.Minute).show(with(finding("b"), func(f *model.Finding) { f.Severity = model.High }))
			}, []string{"new: new b (1/0/0)"}},
			{func(d *desk) {
				d.later(time.Minute).show(with(finding("c"), func(f *model.Finding) { f.Severity = model.High }))
			}, nil},
			{func(d *desk) { d.later(58 * time.Minute) }, []string{"new: new c (1/0/0)"}},
		}},
		"away for a while": {reason: "a receiver that is configured again knows what it was told", steps: []step{
			{func(d *desk) { d.show(finding("a"), finding("b")) }, []string{"new: new a, new b (2/0/0)"}},
			{func(d *desk) { d.away(true).resolve("a") }, nil},
			{func(d *desk) { d.later(time.Hour).away(false) }, []string{"resolved: resolved a (1/0/1)"}},
		}},
		"counting": {reason: "what changes on and on flaps too, however many states it has", steps: []step{
			{func(d *desk) {
				for i := range 20 {
					d.later(5 * time.Minute).show(basis(finding("a"), fmt.Sprint(i))).tell()
				}
			}, nil},
			{func(d *desk) { d.later(5 * time.Minute).show(basis(finding("a"), "x")) }, nil},
			{func(d *desk) { d.later(model.FlapWindow + time.Minute) }, []string{"changed: steady a (1/0/0)"}},
		}},
		"one at a time": {reason: "what is severe comes first, then what waited for long", set: func(p *Policy) {
			p.Routes[0].GroupBy, p.Routes[0].Repeat = []string{"resource"}, 0
			p.Receivers["ops"] = Pacing{Messages: 1, Per: 10 * time.Minute, Digest: -1}
		}, steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) {
				d.later(10 * time.Minute).show(finding("b")).resolve("a")
				d.show(finding("c"), finding("d"))
			},
				[]string{"new: new b, new c, new d (3/0/0)"}},
			{func(d *desk) {
				d.later(10 * time.Minute).show(with(finding("e"), func(f *model.Finding) { f.Severity = model.High }))
			},
				[]string{"new: new e (1/0/0)"}},
			{func(d *desk) { d.later(10 * time.Minute).show(finding("f")) }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"clock set back at the rate": {reason: "what was sent in a future that is not any more does not count", set: func(p *Policy) {
			p.Receivers["ops"] = Pacing{Messages: 1, Per: time.Hour, Digest: 9 * time.Hour}
			p.Routes[0].Repeat = 0
		}, steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(-365 * 24 * time.Hour).show(by(finding("b"), "bob")) }, []string{"new: new b (1/0/0)"}},
			{func(d *desk) { d.later(24 * time.Hour) }, []string{"digest:  (2/0/0)"}},
		}},
		"accepted": {reason: "what is accepted is said once, and is back when that ends", steps: []step{
			{func(d *desk) { d.show(finding("a"), finding("b")) }, []string{"new: new a, new b (2/0/0)"}},
			{func(d *desk) { d.show(decided(finding("a"), model.Accept)) }, []string{"decided: accepted a (1/1/0)"}},
			{func(d *desk) { d.later(time.Hour) }, nil},
			{func(d *desk) { d.show(finding("a")) }, []string{"new: returned a (2/0/0)"}},
		}},
		"accepted before": {reason: "what was accepted before anybody was told is not told", steps: []step{
			{func(d *desk) { d.show(decided(finding("a"), model.Accept)) }, nil},
			{func(d *desk) { d.resolve("a") }, nil},
		}},
		"accepted and over": {reason: "nobody wants to hear that what was accepted is over", steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.show(decided(finding("a"), model.Accept)) }, []string{"decided: accepted a (0/1/0)"}},
			{func(d *desk) { d.resolve("a") }, nil},
		}},
		"acknowledged": {reason: "what somebody is on is not called to mind, but its end is told", steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.show(decided(finding("a"), model.Acknowledge)) }, []string{"decided: acknowledged a (0/1/0)"}},
			{func(d *desk) { d.later(48 * time.Hour) }, nil},
			{func(d *desk) { d.resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"unchecked": {reason: "what could not be compared is told when it lasts", steps: []step{
			{func(d *desk) {
				d.show(with(finding("a"), func(f *model.Finding) { f.Verdict = model.Unchecked }))
			}, nil},
			{func(d *desk) { d.later(29 * time.Minute) }, nil},
			{func(d *desk) { d.later(time.Minute) }, []string{"unchecked: new a (1/0/0)"}},
			{func(d *desk) {
				d.later(time.Minute).show(with(finding("a"), func(f *model.Finding) { f.Verdict, f.Basis, f.Changes = model.Unchecked, "other reason", nil }))
			}, nil},
		}},
		"flapping": {reason: "what goes back and forth is said to, and then nothing until it stays", steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(10 * time.Minute).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
			{func(d *desk) { d.later(10 * time.Minute).show(finding("a")) }, []string{"new: again a (1/0/0)"}},
			{func(d *desk) { d.later(10 * time.Minute).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
			{func(d *desk) { d.later(10 * time.Minute).show(finding("a")) }, []string{"new: flapping a (1/0/0)"}},
			{func(d *desk) { d.later(10 * time.Minute).resolve("a") }, nil},
			{func(d *desk) { d.later(model.FlapWindow + time.Minute) }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"rules": {reason: "what a rule hides from now on is over for the receiver", steps: []step{
			{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.show(with(finding("a"), func(f *model.Finding) { f.Hidden = "noise" })) }, []string{"decided: ignored a (0/1/0)"}},
		}},
		"routes": {reason: "the first route that fits counts", set: func(p *Policy) {
			p.Routes = []Route{{Selector: model.Selector{Sources: []string{"pr*"}, Severities: []model.Severity{model.Medium}}, Receivers: []string{"others"}},
				{Receivers: []string{"ops"}, GroupBy: []string{"cause"}}}
		}, steps: []step{
			{func(d *desk) {
				d.show(finding("a"), with(finding("b"), func(f *model.Finding) { f.Severity = model.High }))
			}, []string{"new: new b (1/0/0)"}},
		}},
		"continue": {reason: "a route that continues leaves the rest to others", set: func(p *Policy) {
			p.Routes = slices.Insert(p.Routes, 0, Route{Receivers: []string{"others"}, Continue: true})
		}, steps: []step{{func(d *desk) { d.show(finding("a")) }, []string{"new: new a (1/0/0)"}}}},
		"group by": {reason: "groups are what the route says", set: func(p *Policy) { p.Routes[0].GroupBy = []string{"resource"} }, steps: []step{
			{func(d *desk) { d.show(finding("a"), finding("b")) }, []string{"new: new a (1/0/0)", "new: new b (1/0/0)"}},
		}},
		"rate": {reason: "beyond its rate a receiver gets one message for all the rest", set: func(p *Policy) {
			p.Routes[0].GroupBy = []string{"resource"}
			p.Receivers["ops"] = Pacing{Messages: 3, Per: 10 * time.Minute, Digest: -1}
		}, steps: []step{
			{func(d *desk) { d.show(finding("a"), finding("b"), finding("c"), finding("d"), finding("e")) },
				[]string{"new: new a (1/0/0)", "new: new b (1/0/0)", "new: new c, new d, new e (3/0/0)"}},
			{func(d *desk) { d.later(time.Minute).resolve("a") }, nil},
			{func(d *desk) { d.later(9 * time.Minute) }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"full": {reason: "a receiver that takes nothing is told how it stands when it does again", steps: []step{
			{func(d *desk) { d.queued = map[string]int{"ops": MaxQueued}; d.show(finding("a")) }, nil},
			{func(d *desk) { d.queued = nil; d.show(basis(finding("a"), "2")) }, []string{"new: new a (1/0/0)"}},
		}},
		"quiet": {reason: "in quiet hours only what is bad enough is told, the rest at their end in one", set: func(p *Policy) {
			p.Receivers["ops"] = Pacing{Digest: -1, Quiet: QuietHours{From: 8 * time.Hour, To: 9 * time.Hour, Except: []model.Severity{model.High}}}
		}, steps: []step{
			{func(d *desk) {
				d.show(by(finding("a"), "alice"), by(finding("b"), "bob"), finding("gone"),
					with(finding("c"), func(f *model.Finding) { f.Severity = model.Critical }))
			}, []string{"new: new c (1/0/0)"}},
			{func(d *desk) { d.later(30 * time.Minute).resolve("gone") }, nil},
			{func(d *desk) { d.later(30 * time.Minute).resolve("c") }, []string{"resolved: resolved c (0/0/1)", "digest: new a, new b (2/0/0)"}},
			{func(d *desk) { d.later(time.Minute).show(by(finding("d"), "alice")) }, []string{"new: new d (1/0/0)"}},
		}},
		"digest": {reason: "the daily digest comes once a day, and not when nothing is to say", set: func(p *Policy) {
			p.Receivers["ops"] = Pacing{Digest: 9 * time.Hour}
			p.Routes[0].Repeat = 0
		}, steps: []step{
			{func(d *desk) { d.later(30 * time.Minute) }, nil},
			{func(d *desk) { d.later(30 * time.Minute) }, nil},
			{func(d *desk) { d.later(time.Hour).show(finding("a")) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(23 * time.Hour) }, []string{"digest:  (1/0/0)"}},
			{func(d *desk) { d.later(23 * time.Hour) }, nil},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk()
			if tt.set != nil {
				tt.set(&d.policy)
			}
			for i, s := range tt.steps {
				s.do(d)
				if diff := cmp.Diff(s.said, d.tell()); diff != "" {
					t.Fatalf("%s: step %d (-want +got):\n%s", tt.reason, i, diff)
				}
				if again := d.tell(); len(again) > 0 {
					t.Fatalf("%s: step %d is told twice: %q", tt.reason, i, again)
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
		"before": {"it has not begun", 21*time.Hour + 59*time.Minute, false},
		"begun":  {"it begins on Friday", 22 * time.Hour, true},
		"over":   {"and goes on on Saturday", 30 * time.Hour, true},
		"ended":  {"until seven", 31 * time.Hour, false},
		"next":   {"it does not begin on Saturday", 46 * time.Hour, false},
		"early":  {"nor on Thursday", time.Hour, false},
	}
	for name, tt := range tests {
		if got := night.hold(friday.Add(tt.after)); got != tt.want {
			t.Errorf("%s: %s: hold() = %t", name, tt.reason, got)
		}
	}
}
