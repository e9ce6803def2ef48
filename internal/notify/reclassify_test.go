package notify

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// withVerdict returns f with another verdict and severity.
func withVerdict(f model.Finding, v model.Verdict, s model.Severity) model.Finding {
	return with(f, func(f *model.Finding) { f.Verdict, f.Severity, f.Basis = v, s, string(v) })
}

// merge resolves an open finding and merges it into another one.
func (d *fixture) merge(id, into string) *fixture {
	d.resolve(id)
	d.recent[len(d.recent)-1].MergedInto = into
	f := d.open[into]
	f.Merged = append(f.Merged, id)
	d.open[into] = f
	return d
}

// planMarkingQuiet is plan, with "quiet " before the summary of each quiet message.
func (d *fixture) planMarkingQuiet() []string {
	before := len(d.messages)
	summaries := d.plan()
	for i, m := range d.messages[before:] {
		if m.Quiet {
			summaries[i] = "quiet " + summaries[i]
		}
	}
	return summaries
}

func TestReclassified(t *testing.T) {
	t.Parallel()
	type step struct {
		do   func(*fixture)
		want []string
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
		"there and back": {"there is one message in the thread for each change of verdict, and one for the end", nil, []step{
			{func(d *fixture) { d.setOpen(a) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).setOpen(withVerdict(a, model.Disputed, model.Medium)) }, []string{"changed: reclassified a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour) }, nil},
			{func(d *fixture) { d.advance(time.Hour).setOpen(a) }, []string{"changed: reclassified a (1/0/0)"}},
			{func(d *fixture) { d.advance(4 * time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"milder": {"a milder verdict is quiet, a worse one is news", nil, []step{
			{func(d *fixture) { d.setOpen(withVerdict(a, model.Bypassed, model.High)) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).setOpen(withVerdict(a, model.Pending, model.Info)) }, []string{"quiet changed: reclassified a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour) }, nil},
			{func(d *fixture) { d.advance(time.Hour).setOpen(withVerdict(a, model.Bypassed, model.High)) }, []string{"changed: reclassified a (1/0/0)"}},
		}},
		"no route any more": {"a receiver that no route selects any more still gets the milder verdict", noInfo, []step{
			{func(d *fixture) { d.setOpen(withVerdict(a, model.Bypassed, model.High)) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).setOpen(withVerdict(a, model.Pending, model.Info)) }, []string{"quiet changed: reclassified a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).setOpen(withVerdict(a, model.Codified, model.Info)) }, nil},
			{func(d *fixture) { d.advance(time.Hour).setOpen(withVerdict(a, model.Bypassed, model.High)) }, []string{"changed: reclassified a (1/0/0)"}},
		}},
		"no route before": {"a finding that a route selects only now is new", noInfo, []step{
			{func(d *fixture) { d.setOpen(withVerdict(a, model.Pending, model.Info)) }, nil},
			{func(d *fixture) { d.advance(time.Hour).setOpen(withVerdict(a, model.Bypassed, model.High)) }, []string{"new: new a (1/0/0)"}},
		}},
		"accepted": {"there is no message about an accepted finding, and one when it is open again", noInfo, []step{
			{func(d *fixture) { d.setOpen(withVerdict(a, model.Bypassed, model.High)) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) {
				d.advance(time.Hour).setOpen(withDecision(withVerdict(a, model.Bypassed, model.High), model.Accept))
			}, []string{"decided: accepted a (0/1/0)"}},
			{func(d *fixture) {
				d.advance(time.Hour).setOpen(withDecision(withVerdict(a, model.Pending, model.Info), model.Accept))
			}, nil},
			{func(d *fixture) { d.advance(time.Hour).setOpen(withVerdict(a, model.Bypassed, model.High)) }, []string{"new: returned a (1/0/0)"}},
		}},
		"with other news": {"a message with other news does not list a milder finding", nil, []step{
			{func(d *fixture) { d.setOpen(withVerdict(a, model.Bypassed, model.High), finding("b")) }, []string{"new: new a, new b (2/0/0)"}},
			{func(d *fixture) {
				d.advance(time.Hour).setOpen(withVerdict(a, model.Pending, model.Info), withBasis(finding("b"), "2"))
			}, []string{"changed: changed b (2/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour) }, nil},
		}},
		"quiet hours": {"quiet news is sent during quiet hours, other news is deferred", quietHours, []step{
			{func(d *fixture) { d.setOpen(withVerdict(a, model.Bypassed, model.High)) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(2 * time.Hour).setOpen(withVerdict(a, model.Pending, model.Info)) }, []string{"quiet changed: reclassified a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).setOpen(withVerdict(a, model.Bypassed, model.High)) }, nil},
			{func(d *fixture) { d.advance(8 * time.Hour) }, []string{"changed: reclassified a (1/0/0)"}},
		}},
		"merged in one thread": {"a merged finding is shown as merged, not as resolved", nil, []step{
			{func(d *fixture) { d.setOpen(a, finding("b")) }, []string{"new: new a, new b (2/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).merge("b", "a") }, []string{"quiet changed: merged b (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour) }, nil},
			{func(d *fixture) { d.advance(time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"merged into a finding of another thread": {"both threads are updated", nil, []step{
			{func(d *fixture) { d.setOpen(a) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).setOpen(finding("b")) }, []string{"new: new b (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).merge("b", "a").setOpen(withBasis(d.open["a"], "2")) }, []string{"changed: changed a (1/0/0)", "quiet changed: merged b (0/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"merged into a finding without a thread": {"the thread continues with the finding that it was merged into", noInfo, []step{
			{func(d *fixture) { d.setOpen(withVerdict(a, model.Pending, model.Info)) }, nil},
			{func(d *fixture) { d.advance(time.Hour).setOpen(finding("b")) }, []string{"new: new b (1/0/0)"}},
			{func(d *fixture) {
				d.advance(time.Hour).setOpen(withVerdict(a, model.Changed, model.Medium)).merge("b", "a")
			}, []string{"changed: changed a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).resolve("a") }, []string{"resolved: resolved a (0/0/1)"}},
		}},
		"merged long after it was resolved": {"the thread of a resolved finding does not continue", nil, []step{
			{func(d *fixture) { d.setOpen(finding("b")) }, []string{"new: new b (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).resolve("b") }, []string{"resolved: resolved b (0/0/1)"}},
			{func(d *fixture) {
				d.advance(time.Hour).setOpen(with(a, func(f *model.Finding) { f.Merged = []string{"b"} }))
			}, []string{"new: new a (1/0/0)"}},
		}},
		"merged and open again": {"a finding that is open again after a merge continues its thread", nil, []step{
			{func(d *fixture) { d.setOpen(a) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).setOpen(finding("b")) }, []string{"new: new b (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).merge("b", "a") }, []string{"quiet changed: merged b (0/0/0)"}},
			{func(d *fixture) {
				d.advance(time.Hour).setOpen(with(a, func(f *model.Finding) { f.Merged = nil }), finding("b"))
			}, []string{"new: again b (1/0/0)"}},
		}},
		"merged and accepted": {"there is no message when an accepted finding is merged", nil, []step{
			{func(d *fixture) { d.setOpen(a) }, []string{"new: new a (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).setOpen(finding("b")) }, []string{"new: new b (1/0/0)"}},
			{func(d *fixture) { d.advance(time.Hour).setOpen(withDecision(finding("b"), model.Accept)) }, []string{"decided: accepted b (0/1/0)"}},
			{func(d *fixture) { d.advance(time.Hour).merge("b", "a") }, nil},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture()
			d.policy.Routes[0].Repeat = 0
			if test.set != nil {
				test.set(&d.policy)
			}
			for i, step := range test.steps {
				step.do(d)
				if diff := cmp.Diff(step.want, d.planMarkingQuiet()); diff != "" {
					t.Errorf("%s: step %d (-want +got):\n%s", test.reason, i+1, diff)
				}
			}
		})
	}
}

// TestReclassifiedItem checks that an item has the former verdict and severity of a
// reclassified finding.
func TestReclassifiedItem(t *testing.T) {
	t.Parallel()
	d := newFixture()
	d.setOpen(withVerdict(finding("a"), model.Pending, model.Info)).plan()
	d.advance(time.Hour).setOpen(withVerdict(finding("a"), model.Bypassed, model.High)).plan()
	m := d.messages[1]
	it := m.News[0]
	if it.WasVerdict != model.Pending || it.WasSeverity != model.Info || !it.Worse() || it.Why != "was pending" || m.Severity != model.High ||
		m.Title != "prod: Thing a bypassed" || m.Thread != d.messages[0].Thread {
		t.Errorf("got %+v in %q", it, m.Title)
	}
	d.advance(time.Hour).setOpen(withVerdict(finding("a"), model.Conflict, model.High)).plan()
	if it := d.messages[2].News[0]; it.Worse() || it.Why != "was bypassed" {
		t.Errorf("with the same severity: worse %t, why %q", it.Worse(), it.Why)
	}
	d.advance(time.Hour).setOpen(withBasis(withVerdict(finding("a"), model.Conflict, model.High), "2")).plan()
	if it := d.messages[3].News[0]; it.WasVerdict != "" || it.Worse() || it.Why != "" {
		t.Errorf("with the same verdict: was %q, why %q, want none", it.WasVerdict, it.Why)
	}
}

// TestMergedMessage checks that the message about a merged finding neither calls it
// resolved nor counts it as resolved.
func TestMergedMessage(t *testing.T) {
	t.Parallel()
	d := newFixture()
	d.setOpen(finding("a"), withVerdict(finding("b"), model.Conflict, model.High)).plan()
	d.advance(time.Hour).merge("b", "a").plan()
	m := d.messages[len(d.messages)-1]
	if m.MergedCount != 1 || m.ResolvedCount != 0 || m.OpenCount != 1 || m.Title != "prod: Thing b merged" || m.Subject != "prod: Thing a changed" {
		t.Errorf("%d merged, %d resolved, %d open, title %q, subject %q", m.MergedCount, m.ResolvedCount, m.OpenCount, m.Title, m.Subject)
	}
	at := slices.IndexFunc(m.All, func(it model.Item) bool { return it.Finding.ID == "b" })
	if it := m.All[at]; it.News != model.WasMerged || it.Finding.MergedInto != "a" {
		t.Errorf("b is listed as %s into %q", it.News, it.Finding.MergedInto)
	}
	// Later, only the Merged field of finding a records the merge.
	d.recent, d.notices.Threads[0].Members["b"] = nil, model.Notified{News: model.Appeared}
	d.advance(time.Hour).plan()
	if m := d.messages[len(d.messages)-1]; m.News[0].News != model.WasMerged || m.News[0].Finding.MergedInto != "a" {
		t.Errorf("without the merged finding the news is %s", m.News[0].News)
	}
}

// TestMergedIsNotCounted checks that a digest does not count merged findings as resolved.
func TestMergedIsNotCounted(t *testing.T) {
	t.Parallel()
	d := newFixture()
	d.policy.Receivers["ops"] = Pacing{Digest: 12 * time.Hour}
	d.setOpen(finding("a"), finding("b")).plan()
	d.advance(6*time.Hour).merge("b", "a").plan()
	d.advance(18 * time.Hour).plan()
	m := d.messages[len(d.messages)-1]
	if m.Kind != model.DigestMessage || len(m.Notes) != 0 {
		t.Errorf("got notes %q in a message of kind %s, want none in a digest", m.Notes, m.Kind)
	}
}

func TestQuietNewsIsSentLast(t *testing.T) {
	t.Parallel()
	d := newFixture()
	d.policy.Receivers["ops"] = Pacing{Messages: 2, Per: time.Hour, Digest: -1}
	d.setOpen(withVerdict(finding("a"), model.Bypassed, model.High)).plan()
	d.advance(2*time.Hour).setOpen(withVerdict(finding("a"), model.Pending, model.Info), withActor(finding("b"), "x"), withActor(finding("c"), "y"))
	if diff := cmp.Diff([]string{"new: new b (1/0/0)", "new: new c (1/0/0)"}, d.planMarkingQuiet()); diff != "" {
		t.Errorf("new findings first (-want +got):\n%s", diff)
	}
	d.advance(2 * time.Hour)
	if diff := cmp.Diff([]string{"quiet changed: reclassified a (1/0/0)"}, d.planMarkingQuiet()); diff != "" {
		t.Errorf("quiet news last (-want +got):\n%s", diff)
	}
}

// TestWorstFieldComesFirst checks that the field with the worst severity is listed first.
func TestWorstFieldComesFirst(t *testing.T) {
	t.Parallel()
	d := newFixture()
	f := finding("a")
	f.Severity = model.Critical
	f.Changes = []model.Change{{Path: "mild"}, {Path: "severe", Severity: model.Critical}}
	d.setOpen(f).plan()
	if len(d.messages) != 1 || len(d.messages[0].News) != 1 {
		t.Fatalf("messages %+v, want one about one finding", d.messages)
	}
	if changes := d.messages[0].News[0].Finding.Changes; len(changes) == 0 || changes[0].Path != "severe" {
		t.Errorf("the fields are %+v, want the severe one first", changes)
	}
}
