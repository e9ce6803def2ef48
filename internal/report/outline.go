package report

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An outline is a report as people read it: findings worst first, then what is
// over, then what could not be looked at.
type outline struct {
	report                 *model.Report
	clock                  clock
	open, resolved, unseen []*model.Finding
	// crowds are the open ones, put together by what brought them about.
	crowds []crowd
}

func newOutline(r *model.Report, o Options) *outline {
	out := &outline{report: r, clock: newClock(o)}
	for _, f := range worstFirst(r.Findings) {
		switch {
		case !f.Resolved.IsZero():
			out.resolved = append(out.resolved, f)
		case f.Verdict == model.Unchecked:
			out.unseen = append(out.unseen, f)
		default:
			out.open = append(out.open, f)
		}
	}
	out.crowds = crowds(out.open)
	return out
}

// worstFirst orders findings: open before resolved, then as model.CompareWorst
// does. Findings have different IDs, so there is one order only.
func worstFirst(findings []model.Finding) []*model.Finding {
	sorted := make([]*model.Finding, len(findings))
	for i := range findings {
		sorted[i] = &findings[i]
	}
	slices.SortStableFunc(sorted, func(a, b *model.Finding) int {
		return cmp.Or(
			compareBool(!a.Resolved.IsZero(), !b.Resolved.IsZero()),
			model.CompareWorst(a, b))
	})
	return sorted
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// headline says in one line how it stands. calm tells that nothing drifted and
// that everything was looked at. What the scan counted and the report does not
// show, because it was filtered, is said too.
func (o *outline) headline() (said string, calm bool) {
	sum, unchecked := o.report.Summary, o.uncheckedResources()
	drift := max(0, sum.Findings-o.counted())
	hidden := drift + max(0, sum.Unchecked-unchecked)
	var parts []string
	switch {
	case o.counted() > 0:
		parts = append(parts, thousands(o.counted())+" drifted"+o.byRequest())
	case hidden > 0:
		parts = append(parts, "no drift among the findings shown")
	case sum.InSync == 0 && (unchecked > 0 || o.report.Scan.NotChecked.Sources() > 0):
		parts = append(parts, "nothing could be checked")
	default:
		parts, calm = append(parts, "nothing drifted"), unchecked+hidden == 0 && o.report.Scan.Complete
	}
	not := o.report.Scan.NotChecked
	for _, lost := range []struct {
		n   int
		how string
	}{{not.Unreachable, " unreachable"}, {not.Stale, " stale"}} {
		if lost.n > 0 {
			parts = append(parts, count(lost.n, "source")+lost.how)
		}
	}
	if unchecked > 0 {
		parts = append(parts, thousands(unchecked)+" unchecked")
	}
	if sum.NotJudged > 0 {
		parts, calm = append(parts, thousands(sum.NotJudged)+" not judged"), false
	}
	parts = append(parts, o.counts(hidden)...)
	said = strings.Join(parts, ", ")
	return strings.ToUpper(said[:1]) + said[1:], calm
}

// counts names what is not drift, and what the report does not show.
func (o *outline) counts(hidden int) []string {
	sum := o.report.Summary
	parts := []string{thousands(sum.InSync) + " in sync"}
	for _, counted := range []struct {
		n    int
		what string
	}{{len(o.resolved), "resolved"}, {sum.Accepted, "accepted"}, {sum.Hidden, "hidden"}} {
		if counted.n > 0 {
			parts = append(parts, thousands(counted.n)+" "+counted.what)
		}
	}
	if sum.Exempt > 0 {
		parts = append(parts, exemptCount(sum.Exempt))
	}
	if hidden > 0 {
		parts = append(parts, count(hidden, "finding")+" not shown")
	}
	return parts
}

// notChecked counts what was due to be checked and was not; "" where everything
// was. Where it was not counted, only that something is missing is known.
func (o *outline) notChecked() string {
	scan := &o.report.Scan
	switch {
	case scan.NotChecked.Any():
		return "Not checked: " + scan.NotChecked.String()
	case !scan.Complete:
		return "Not checked: a part of the scan"
	}
	return ""
}

// listed adds to notChecked where the reasons are: in the report itself, or in
// one without filters.
func (o *outline) listed() string {
	switch said := o.notChecked(); {
	case said == "":
		return ""
	case len(o.unseen) == 0 && len(o.gaps()) == 0:
		return said + " (driftd report lists them)"
	default:
		return said + " (listed below)"
	}
}

// counted is the number of open findings that a summary counts: no ignore rule
// hides them, and nobody accepted them.
func (o *outline) counted() int {
	n := 0
	for _, f := range o.open {
		if f.Shown() {
			n++
		}
	}
	return n
}

// uncheckedResources counts the resources that could not be compared.
func (o *outline) uncheckedResources() int {
	resources := map[model.Key]bool{}
	for _, f := range o.unseen {
		resources[f.Key] = true
	}
	return len(resources)
}

// scan says which scan the report speaks of, and of which commits.
func (o *outline) scan() Phrase {
	said := Phrase{}.say("scan")
	if !utc(o.report.Scan.Started).IsZero() {
		started := o.report.Scan.Started
		said = append(said.say(" of "), Span{Text: o.clock.when(started), At: utc(started)})
	}
	if !o.report.Scan.Complete {
		said = said.say(", incomplete")
	}
	var commits []string
	for _, d := range sortedRevisions(o.report.Scan.Declarations) {
		if d.Revision != "" {
			commits = append(commits, d.Name+" at "+shortRevision(d.Revision))
		}
	}
	return said.then(Phrase{}.list(commits, 4))
}

func sortedRevisions(revisions []model.Revision) []model.Revision {
	return slices.SortedFunc(slices.Values(revisions), func(a, b model.Revision) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Revision, b.Revision))
	})
}

// shortRevision abbreviates a commit hash as git does.
func shortRevision(revision string) string {
	const short, sha1 = 7, 40
	if len(revision) >= sha1 && strings.Trim(revision, "0123456789abcdef") == "" {
		return revision[:short]
	}
	return revision
}

// blocks makes one block of a crowd after the other, so that a long report is
// never held as a whole.
func (o *outline) blocks(all []crowd) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		for _, c := range all {
			b := newBlock(c[0], o.clock, mostFields)
			b.Alike = c.alike()
			if !yield(b) {
				return
			}
		}
	}
}

// unchecked says what could not be looked at: one phrase a reason, the reason
// that hides most first.
func (o *outline) unchecked() []Phrase {
	type group struct {
		part   bool
		reason string
	}
	byCause := map[group][]*model.Finding{}
	for _, f := range o.unseen {
		why := group{f.Kind == partKind, f.Reason}
		byCause[why] = append(byCause[why], f)
	}
	causes := slices.SortedFunc(maps.Keys(byCause), func(a, b group) int {
		return cmp.Or(cmp.Compare(len(byCause[b]), len(byCause[a])), cmp.Compare(a.reason, b.reason), compareBool(a.part, b.part))
	})
	phrases := make([]Phrase, len(causes))
	for i, why := range causes {
		said := uncheckedPhrase
		if why.part {
			said = unreadablePhrase
		}
		phrases[i] = said(byCause[why]).say(": ").quote(cmp.Or(why.reason, "no reason was given"))
	}
	return phrases
}

// partKind is the kind of a finding on a part of a declaration that cannot be
// read: package classify makes it.
const partKind = "declaration/part"

// unreadablePhrase says which parts of declarations cannot be read.
func unreadablePhrase(findings []*model.Finding) Phrase {
	addresses := map[string]bool{}
	for _, f := range findings {
		addresses[cmp.Or(f.Address, f.Key.ID)] = true
	}
	return Phrase{}.say("cannot read ").list(slices.Sorted(maps.Keys(addresses)), 4)
}

func uncheckedPhrase(findings []*model.Finding) Phrase {
	resources, sources := map[string]bool{}, map[string]bool{}
	for _, f := range findings {
		resources[shortKind(f.Kind)+" "+called(f)] = true
		sources[f.Source] = true
	}
	p := Phrase{}
	if few := 3; len(resources) <= few {
		p = p.list(slices.Sorted(maps.Keys(resources)), few)
	} else {
		p = p.say(count(len(resources), "resource"))
	}
	return p.say(" in ").list(slices.Sorted(maps.Keys(sources)), 3)
}

// shortKind is what people call a kind: Deployment for
// kubernetes/Deployment.apps, virtualmachine for
// netbox/virtualization.virtualmachine.
func shortKind(kind string) string {
	typ, name, ok := strings.Cut(kind, "/")
	if !ok {
		return kind
	}
	if typ == "kubernetes" {
		name, _, _ = strings.Cut(name, ".")
		return name
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}
