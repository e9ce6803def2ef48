package report

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// An outline is the order of a report: open findings worst first, then resolved, then
// unchecked ones.
type outline struct {
	report                 *model.Report
	clock                  phrase.Clock
	open, resolved, unseen []*model.Finding
	// groups are the open findings, grouped by cause.
	groups []group
	// flags are Options.Flags of a table.
	flags string
}

// command returns a command of driftd with the flags.
func (o *outline) command(text string) string { return strings.TrimSpace(text + " " + o.flags) }

func newOutline(r *model.Report, c phrase.Clock) *outline {
	out := &outline{report: r, clock: c}
	for _, f := range WorstFirst(r.Findings) {
		switch {
		case !f.Resolved.IsZero():
			out.resolved = append(out.resolved, f)
		case f.Verdict == model.Unchecked:
			out.unseen = append(out.unseen, f)
		default:
			out.open = append(out.open, f)
		}
	}
	out.groups = groupsOf(out.open)
	return out
}

// WorstFirst sorts findings: open before resolved, then in the order of model.CompareWorst. The order is
// total, because the IDs of findings differ.
func WorstFirst(findings []model.Finding) []*model.Finding {
	sorted := make([]*model.Finding, len(findings))
	for i := range findings {
		sorted[i] = &findings[i]
	}
	slices.SortFunc(sorted, func(a, b *model.Finding) int {
		return cmp.Or(
			model.CompareBool(!a.Resolved.IsZero(), !b.Resolved.IsZero()),
			model.CompareWorst(a, b))
	})
	return sorted
}

// headline returns the result of the scan in one line. calm reports whether nothing
// drifted and everything was checked. Findings that a filter took out of the report
// are counted too.
func (o *outline) headline() (text string, calm bool) {
	sum, unchecked := o.report.Summary, o.uncheckedResources()
	drift := max(0, sum.Findings-o.counted())
	hidden := drift + max(0, sum.Unchecked-unchecked)
	var parts []string
	switch {
	case o.counted() > 0:
		parts = append(parts, phrase.Number(o.counted())+" drifted"+o.byRequest())
	case hidden > 0:
		parts = append(parts, "no drift matches the filters")
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
			parts = append(parts, phrase.Count(lost.n, "source")+lost.how)
		}
	}
	if unchecked > 0 {
		parts = append(parts, phrase.Number(unchecked)+" unchecked")
	}
	if sum.NotJudged > 0 {
		parts, calm = append(parts, phrase.Number(sum.NotJudged)+" not judged"), false
	}
	parts = append(parts, o.counts(hidden)...)
	text = strings.Join(parts, ", ")
	return strings.ToUpper(text[:1]) + text[1:], calm
}

// counts returns the numbers of resources and findings that are no open drift.
func (o *outline) counts(hidden int) []string {
	sum := o.report.Summary
	parts := []string{phrase.Number(sum.InSync) + " in sync"}
	for _, counted := range []struct {
		n    int
		what string
	}{{len(o.resolved), "resolved"}, {sum.Accepted, "accepted"}, {sum.Hidden, "hidden"}} {
		if counted.n > 0 {
			parts = append(parts, phrase.Number(counted.n)+" "+counted.what)
		}
	}
	if sum.Exempt > 0 {
		parts = append(parts, exemptCount(sum.Exempt))
	}
	if hidden > 0 {
		parts = append(parts, phrase.Count(hidden, "finding")+" not shown")
	}
	return parts
}

// notChecked counts what was due to be checked and was not; "" where everything
// was. A scan without counts may be incomplete.
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

// listed returns notChecked with the place of the reasons: the report itself, or one
// without filters.
func (o *outline) listed() string {
	switch text := o.notChecked(); {
	case text == "":
		return ""
	case len(o.unseen) == 0 && len(o.gaps()) == 0:
		return text + " (" + o.command("driftd report") + " lists them)"
	default:
		return text + " (listed below)"
	}
}

// counted returns the number of open findings that are neither hidden nor accepted.
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

// scan returns the time and the commits of the scan.
func (o *outline) scan() phrase.Phrase {
	text := phrase.Words("scan")
	if !phrase.UTC(o.report.Scan.Started).IsZero() {
		started := o.report.Scan.Started
		text = append(text.Words(" of "), phrase.Span{Text: o.clock.Time(started), At: phrase.UTC(started)})
	}
	if !o.report.Scan.Complete {
		text = text.Words(", incomplete")
	}
	var commits []string
	for _, d := range sortedRevisions(o.report.Scan.Declarations) {
		if d.Revision != "" {
			commits = append(commits, d.Name+" at "+shortRevision(d.Revision))
		}
	}
	return text.Then(phrase.Phrase{}.List(commits, 4))
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

// blocks yields one block for each group, so that a long report is never in memory as a
// whole.
func (o *outline) blocks(all []group) iter.Seq[Block] {
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

// unchecked returns one phrase for each reason why findings are unchecked, the most
// frequent first.
func (o *outline) unchecked() []phrase.Phrase {
	type group struct {
		part   bool
		reason string
	}
	byCause := map[group][]*model.Finding{}
	for _, f := range o.unseen {
		why := group{f.Kind == phrase.PartKind, f.Reason}
		byCause[why] = append(byCause[why], f)
	}
	causes := slices.SortedFunc(maps.Keys(byCause), func(a, b group) int {
		return cmp.Or(cmp.Compare(len(byCause[b]), len(byCause[a])), cmp.Compare(a.reason, b.reason), model.CompareBool(a.part, b.part))
	})
	phrases := make([]phrase.Phrase, len(causes))
	for i, why := range causes {
		text := uncheckedPhrase
		if why.part {
			text = unreadablePhrase
		}
		phrases[i] = text(byCause[why]).Words(": ").Data(cmp.Or(why.reason, "no reason was given"))
	}
	return phrases
}

// unreadablePhrase names the parts of declarations that cannot be read.
func unreadablePhrase(findings []*model.Finding) phrase.Phrase {
	addresses := map[string]bool{}
	for _, f := range findings {
		addresses[cmp.Or(f.Address, f.Key.ID)] = true
	}
	return phrase.Words("cannot read ").List(slices.Sorted(maps.Keys(addresses)), 4)
}

func uncheckedPhrase(findings []*model.Finding) phrase.Phrase {
	resources, sources := map[string]bool{}, map[string]bool{}
	for _, f := range findings {
		resources[phrase.Kind(f.Kind)+" "+phrase.Resource(f.Key.ID, f.Name)] = true
		sources[f.Source] = true
	}
	p := phrase.Phrase{}
	if few := 3; len(resources) <= few {
		p = p.List(slices.Sorted(maps.Keys(resources)), few)
	} else {
		p = p.Words(phrase.Count(len(resources), "resource"))
	}
	return p.Words(" in ").List(slices.Sorted(maps.Keys(sources)), 3)
}
