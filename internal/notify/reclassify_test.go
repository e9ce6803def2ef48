package notify

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// as gives a finding another verdict.
func as(f model.Finding, v model.Verdict, s model.Severity) model.Finding {
	return with(f, func(f *model.Finding) { f.Verdict, f.Severity, f.Basis = v, s, string(v) })
}

// merge ends one open finding as merged into another.
func (d *desk) merge(id, into string) *desk {
	d.resolve(id)
	d.recent[len(d.recent)-1].MergedInto = into
	f := d.open[into]
	f.Merged = append(f.Merged, id)
	d.open[into] = f
	return d
}

// tellQuiet tells, and marks quiet messages.
func (d *desk) tellQuiet() []string {
	before := len(d.messages)
	said := d.tell()
	for i, m := range d.messages[before:] {
		if m.Quiet {
			said[i] = "quiet " + said[i]
		}
	}
	return said
}

func TestReclassified(t *testing.T) {
	t.Parallel()
	type step struct {
		do   func(*desk)
		said []string
	}
	a := finding("a")
	quietHours := func(p *Policy) {
		p.Receivers["ops"] = Pacing{Digest: -1, Quiet: QuietHours{From: 9 * time.Hour, To: 17 * time.Hour}}
	}
	noInfo := func(p *Policy) {
		p.Routes[0].Severities = []model.Severity{model.Critical, model.High, model.Medium, model.Low}
	}
	for name, test := range map[string]struct {
		reason string
		set    func(*Policy)
		steps  []step
	}{
		"there and back": {"each change of verdict is one message in the thread, and the end is told once", nil, []step{
			{func(d *desk) { d.show(a) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(as(a, model.Disputed, model.Medium)) }, []string{"changed: reclassified a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour) }, nil},
			{func(d *desk) { d.later(time.Hour).show(a) }, []string{"changed: reclassified a (1/0/0)"}},
			{func(d *desk) { d.later(4 * time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"milder": {"a milder verdict only brings up to date what was told, a worse one is news", nil, []step{
			{func(d *desk) { d.show(as(a, model.Bypassed, model.High)) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(as(a, model.Pending, model.Info)) }, []string{"quiet changed: reclassified a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour) }, nil},
			{func(d *desk) { d.later(time.Hour).show(as(a, model.Bypassed, model.High)) }, []string{"changed: reclassified a (1/0/0)"}},
		}},
		"not for this receiver any more": {"what a receiver does not want to hear of still takes back what it was told", noInfo, []step{
			{func(d *desk) { d.show(as(a, model.Bypassed, model.High)) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(as(a, model.Pending, model.Info)) }, []string{"quiet changed: reclassified a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(as(a, model.Codified, model.Info)) }, nil},
			{func(d *desk) { d.later(time.Hour).show(as(a, model.Bypassed, model.High)) }, []string{"changed: reclassified a (1/0/0)"}},
		}},
		"not for this receiver before": {"a receiver that was not told of the milder verdict gets it as new", noInfo, []step{
			{func(d *desk) { d.show(as(a, model.Pending, model.Info)) }, nil},
			{func(d *desk) { d.later(time.Hour).show(as(a, model.Bypassed, model.High)) }, []string{"new: new a (1/0/0)"}},
		}},
		"accepted meanwhile": {"nothing is said of what is accepted, and what is no more is open again", noInfo, []step{
			{func(d *desk) { d.show(as(a, model.Bypassed, model.High)) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(decided(as(a, model.Bypassed, model.High), model.Accept)) }, []string{"decided: accepted a (0/1/0)"}},
			{func(d *desk) { d.later(time.Hour).show(decided(as(a, model.Pending, model.Info), model.Accept)) }, nil},
			{func(d *desk) { d.later(time.Hour).show(as(a, model.Bypassed, model.High)) }, []string{"new: returned a (1/0/0)"}},
		}},
		"with something loud": {"a message that is for others does not list what is milder", nil, []step{
			{func(d *desk) { d.show(as(a, model.Bypassed, model.High), finding("b")) }, []string{"new: new a, new b (2/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(as(a, model.Pending, model.Info), basis(finding("b"), "2")) }, []string{"changed: changed b (2/0/0)"}},
			{func(d *desk) { d.later(time.Hour) }, nil},
		}},
		"quiet hours": {"what calls for nobody needs not wait for the morning; what does, waits", quietHours, []step{
			{func(d *desk) { d.show(as(a, model.Bypassed, model.High)) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(2 * time.Hour).show(as(a, model.Pending, model.Info)) }, []string{"quiet changed: reclassified a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(as(a, model.Bypassed, model.High)) }, nil},
			{func(d *desk) { d.later(8 * time.Hour) }, []string{"changed: reclassified a (1/0/0)"}},
		}},
		"merged in one thread": {"what was merged is struck, and not resolved", nil, []step{
			{func(d *desk) { d.show(a, finding("b")) }, []string{"new: new a, new b (2/0/0)"}},
			{func(d *desk) { d.later(time.Hour).merge("b", "a") }, []string{"quiet changed: merged b (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour) }, nil},
			{func(d *desk) { d.later(time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"merged with what has another thread": {"each thread is brought up to date", nil, []step{
			{func(d *desk) { d.show(a) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(finding("b")) }, []string{"new: new b (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).merge("b", "a").show(basis(d.open["a"], "2")) }, []string{"changed: changed a (1/0/0)", "quiet changed: merged b (0/0/0)"}},
			{func(d *desk) { d.later(time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"merged with what was not told": {"its thread goes on with the finding that it was merged into", noInfo, []step{
			{func(d *desk) { d.show(as(a, model.Pending, model.Info)) }, nil},
			{func(d *desk) { d.later(time.Hour).show(finding("b")) }, []string{"new: new b (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(as(a, model.Changed, model.Medium)).merge("b", "a") }, []string{"changed: changed a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"merged long after it was resolved": {"what ended for the receiver is no thread to go on in", nil, []step{
			{func(d *desk) { d.show(finding("b")) }, []string{"new: new b (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).resolve("b") }, []string{"resolved: resolved b (0/0/1)"}},
			{func(d *desk) {
				d.later(time.Hour).show(with(a, func(f *model.Finding) { f.Merged = []string{"b"} }))
			}, []string{"new: new a (1/0/0)"}},
		}},
		"merged and back": {"what parts again comes back in its thread", nil, []step{
			{func(d *desk) { d.show(a) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(finding("b")) }, []string{"new: new b (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).merge("b", "a") }, []string{"quiet changed: merged b (0/0/0)"}},
			{func(d *desk) {
				d.later(time.Hour).show(with(a, func(f *model.Finding) { f.Merged = nil }), finding("b"))
			}, []string{"new: again b (1/0/0)"}},
		}},
		"merged and accepted": {"nobody is told what becomes of what is accepted", nil, []step{
			{func(d *desk) { d.show(a) }, []string{"new: new a (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(finding("b")) }, []string{"new: new b (1/0/0)"}},
			{func(d *desk) { d.later(time.Hour).show(decided(finding("b"), model.Accept)) }, []string{"decided: accepted b (0/1/0)"}},
			{func(d *desk) { d.later(time.Hour).merge("b", "a") }, nil},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk()
			d.policy.Routes[0].Repeat = 0
			if test.set != nil {
				test.set(&d.policy)
			}
			for i, step := range test.steps {
				step.do(d)
				if diff := cmp.Diff(step.said, d.tellQuiet()); diff != "" {
					t.Errorf("%s: step %d (-want +got):\n%s", test.reason, i+1, diff)
				}
			}
		})
	}
}

// TestReclassifiedItem: a message says what the receiver was told before.
func TestReclassifiedItem(t *testing.T) {
	t.Parallel()
	d := newDesk()
	d.show(as(finding("a"), model.Pending, model.Info)).tell()
	d.later(time.Hour).show(as(finding("a"), model.Bypassed, model.High)).tell()
	m := d.messages[1]
	it := m.News[0]
	if it.WasVerdict != model.Pending || it.WasSeverity != model.Info || !it.Worse() || it.Why != "was pending" || m.Severity != model.High ||
		m.Title != "prod: Thing a bypassed" || m.Thread != d.messages[0].Thread {
		t.Errorf("got %+v in %q", it, m.Title)
	}
	d.later(time.Hour).show(as(finding("a"), model.Conflict, model.High)).tell()
	if it := d.messages[2].News[0]; it.Worse() || it.Why != "was bypassed" {
		t.Errorf("as bad as before: worse %t, %q", it.Worse(), it.Why)
	}
	d.later(time.Hour).show(basis(as(finding("a"), model.Conflict, model.High), "2")).tell()
	if it := d.messages[3].News[0]; it.WasVerdict != "" || it.Worse() || it.Why != "" {
		t.Errorf("of the same verdict it is said that it was %q, %q", it.WasVerdict, it.Why)
	}
}

// TestMergedMessage: the message that a finding was merged does not call it
// resolved, nor count it so.
func TestMergedMessage(t *testing.T) {
	t.Parallel()
	d := newDesk()
	d.show(finding("a"), as(finding("b"), model.Conflict, model.High)).tell()
	d.later(time.Hour).merge("b", "a").tell()
	m := d.messages[len(d.messages)-1]
	if m.MergedCount != 1 || m.ResolvedCount != 0 || m.OpenCount != 1 || m.Title != "prod: Thing b merged" || m.Subject != "prod: Thing a changed" {
		t.Errorf("%d merged, %d resolved, %d open in %q, of %q", m.MergedCount, m.ResolvedCount, m.OpenCount, m.Title, m.Subject)
	}
	at := slices.IndexFunc(m.All, func(it model.Item) bool { return it.Finding.ID == "b" })
	if it := m.All[at]; it.News != model.WasMerged || it.Finding.MergedInto != "a" {
		t.Errorf("b is listed as %s into %q", it.News, it.Finding.MergedInto)
	}
	// Long after, only the finding that has it knows that it was merged.
	d.recent, d.notices.Threads[0].Members["b"] = nil, model.Notified{News: model.Appeared}
	d.later(time.Hour).tell()
	if m := d.messages[len(d.messages)-1]; m.News[0].News != model.WasMerged || m.News[0].Finding.MergedInto != "a" {
		t.Errorf("after the finding was forgotten the news is %s", m.News[0].News)
	}
}

// TestMergedIsNotCounted: digests and the end of quiet hours count what is over,
// and what is merged is not.
func TestMergedIsNotCounted(t *testing.T) {
	t.Parallel()
	d := newDesk()
	d.policy.Receivers["ops"] = Pacing{Digest: 12 * time.Hour}
	d.show(finding("a"), finding("b")).tell()
	d.later(6*time.Hour).merge("b", "a").tell()
	d.later(18 * time.Hour).tell()
	m := d.messages[len(d.messages)-1]
	if m.Kind != model.DigestMessage || len(m.Notes) != 0 {
		t.Errorf("a %s says %q", m.Kind, m.Notes)
	}
}

func TestQuietNewsWaitsForRoom(t *testing.T) {
	t.Parallel()
	d := newDesk()
	d.policy.Receivers["ops"] = Pacing{Messages: 2, Per: time.Hour, Digest: -1}
	d.show(as(finding("a"), model.Bypassed, model.High)).tell()
	d.later(2*time.Hour).show(as(finding("a"), model.Pending, model.Info), by(finding("b"), "x"), by(finding("c"), "y"))
	if diff := cmp.Diff([]string{"new: new b (1/0/0)", "new: new c (1/0/0)"}, d.tellQuiet()); diff != "" {
		t.Errorf("what calls for somebody comes first (-want +got):\n%s", diff)
	}
	d.later(2 * time.Hour)
	if diff := cmp.Diff([]string{"quiet changed: reclassified a (1/0/0)"}, d.tellQuiet()); diff != "" {
		t.Errorf("then the rest (-want +got):\n%s", diff)
	}
}

// TestWorstFieldIsToldFirst holds that receivers get the field that makes a finding
// severe first.
func TestWorstFieldIsToldFirst(t *testing.T) {
	t.Parallel()
	d := newDesk()
	f := finding("a")
	f.Severity = model.Critical
	f.Changes = []model.Change{{Path: "mild"}, {Path: "severe", Severity: model.Critical}}
	d.show(f).tell()
	if len(d.messages) != 1 || len(d.messages[0].News) != 1 {
		t.Fatalf("messages %+v, want one about one finding", d.messages)
	}
	if changes := d.messages[0].News[0].Finding.Changes; len(changes) == 0 || changes[0].Path != "severe" {
		t.Errorf("the fields are %+v, want the severe one first", changes)
	}
}
