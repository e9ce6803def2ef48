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
	return out
}

// worstFirst orders findings: open before resolved, then by severity, verdict
// and key. Findings have different IDs, so there is one order only.
func worstFirst(findings []model.Finding) []*model.Finding {
	rank := map[model.Verdict]int{}
	for i, v := range model.Verdicts() {
		rank[v] = i
	}
	sorted := make([]*model.Finding, len(findings))
	for i := range findings {
		sorted[i] = &findings[i]
	}
	slices.SortStableFunc(sorted, func(a, b *model.Finding) int {
		return cmp.Or(
			compareBool(!a.Resolved.IsZero(), !b.Resolved.IsZero()),
			cmp.Compare(a.Severity.Rank(), b.Severity.Rank()),
			cmp.Compare(rank[a.Verdict], rank[b.Verdict]),
			a.Compare(b.Key),
			cmp.Compare(a.Declaration, b.Declaration),
			cmp.Compare(a.Address, b.Address),
			cmp.Compare(a.ID, b.ID))
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
	drift := max(0, sum.Findings-len(o.open))
	hidden := drift + max(0, sum.Unchecked-unchecked)
	var parts []string
	switch {
	case len(o.open) > 0:
		parts = append(parts, thousands(len(o.open))+" drifted")
	case drift > 0:
		parts = append(parts, "no drift among the findings shown")
	case unchecked > 0 && sum.InSync == 0:
		parts = append(parts, "nothing could be checked")
	default:
		parts, calm = append(parts, "nothing drifted"), unchecked+hidden == 0 && o.report.Scan.Complete
	}
	if unchecked > 0 {
		parts = append(parts, thousands(unchecked)+" unchecked")
	}
	parts = append(parts, thousands(sum.InSync)+" in sync")
	if n := len(o.resolved); n > 0 {
		parts = append(parts, thousands(n)+" resolved")
	}
	if hidden > 0 {
		parts = append(parts, count(hidden, "finding")+" not shown")
	}
	said = strings.Join(parts, ", ")
	return strings.ToUpper(said[:1]) + said[1:], calm
}

// uncheckedResources counts the resources that could not be compared.
func (o *outline) uncheckedResources() int {
	resources := map[model.Key]bool{}
	for _, f := range o.unseen {
		resources[f.Key] = true
	}
	return len(resources)
}

// scan says which scan the report speaks of.
func (o *outline) scan() string {
	said := "scan"
	if !utc(o.report.Scan.Started).IsZero() {
		said = "scan of " + o.clock.when(o.report.Scan.Started)
	}
	if !o.report.Scan.Complete {
		said += ", incomplete"
	}
	return said
}

// blocks makes one block after the other, so that a long report is never held
// as a whole.
func (o *outline) blocks(findings []*model.Finding) iter.Seq[block] {
	return func(yield func(block) bool) {
		for _, f := range findings {
			if !yield(newBlock(f, o.clock, mostFields)) {
				return
			}
		}
	}
}

// unchecked says what could not be looked at: one phrase a reason, the reason
// that hides most first.
func (o *outline) unchecked() []phrase {
	byReason := map[string][]*model.Finding{}
	for _, f := range o.unseen {
		byReason[f.Reason] = append(byReason[f.Reason], f)
	}
	reasons := slices.SortedFunc(maps.Keys(byReason), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byReason[b]), len(byReason[a])), cmp.Compare(a, b))
	})
	phrases := make([]phrase, len(reasons))
	for i, reason := range reasons {
		phrases[i] = uncheckedPhrase(byReason[reason]).say(": ").quote(cmp.Or(reason, "no reason was given"))
	}
	return phrases
}

func uncheckedPhrase(findings []*model.Finding) phrase {
	resources, sources := map[string]bool{}, map[string]bool{}
	for _, f := range findings {
		resources[shortKind(f.Kind)+" "+f.Key.ID] = true
		sources[f.Source] = true
	}
	p := phrase{}
	if few := 3; len(resources) <= few {
		p = p.list(slices.Sorted(maps.Keys(resources)), few)
	} else {
		p = p.say(count(len(resources), "resource"))
	}
	return p.say(" in ").list(slices.Sorted(maps.Keys(sources)), 3)
}

// A gap is what was not fully read of one source for one reason.
type gap struct {
	source, reason string
	said           phrase
}

// gaps are sorted by source and reason.
func (o *outline) gaps() []gap {
	type cause struct{ source, reason string }
	scopes := map[cause][]string{}
	for _, c := range o.report.Coverage {
		if c.Failed() {
			why := cause{c.Source, c.Reason}
			scopes[why] = append(scopes[why], scopeName(c))
		}
	}
	gaps := make([]gap, 0, len(scopes))
	for why, names := range scopes {
		names = slices.Compact(slices.Sorted(slices.Values(names)))
		said := phrase{}.list(names, 4).say(": ").quote(cmp.Or(why.reason, "no reason was given"))
		gaps = append(gaps, gap{why.source, why.reason, said})
	}
	slices.SortFunc(gaps, func(a, b gap) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.reason, b.reason))
	})
	return gaps
}

// unread says the gaps, less those whose reason stands beside what they left
// unchecked.
func (o *outline) unread() []phrase {
	var phrases []phrase
	for _, g := range o.gaps() {
		said := slices.ContainsFunc(o.unseen, func(f *model.Finding) bool { return f.Source == g.source && f.Reason == g.reason })
		if !said {
			phrases = append(phrases, append(phrase{}.quote(g.source).say(": "), g.said...))
		}
	}
	return phrases
}

func sortedCoverage(coverage []model.Coverage) []model.Coverage {
	return slices.SortedFunc(slices.Values(coverage), func(a, b model.Coverage) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Place, b.Place),
			compareBool(a.Complete, b.Complete), cmp.Compare(a.Reason, b.Reason))
	})
}

func scopeName(c model.Coverage) string {
	name := "everything"
	if _, group, ok := strings.Cut(c.Kind, "/*"); ok {
		name = "every kind of " + strings.TrimPrefix(group, ".")
	} else if c.Kind != "" {
		name = shortKind(c.Kind)
	}
	if c.Place != "" {
		name += " (in " + c.Place + ")"
	}
	return name
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
