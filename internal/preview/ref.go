package preview

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// AtRef is the result of a scan that read declarations at a ref other than the tracked one.
type AtRef struct {
	// Ref is the branch, tag or commit.
	Ref string
	// Declarations are the declarations that were read at the ref.
	Declarations []model.Declaration
	// Findings and Run are the results of the scan.
	Findings []model.Finding
	Run      model.Run
}

// FromRef returns the manual changes that an apply or sync of a ref would erase. A change is manual if a
// stored finding shows it, or if the live value differs from the one that was last applied. Authors, ages
// and decisions come from the stored findings.
func FromRef(at AtRef, k Known, o Options) (Preview, error) {
	if err := k.declaration(o.Declaration); err != nil {
		return Preview{}, err
	}
	p := Preview{Ref: at.Ref, Scanned: at.Run.Finished.UTC()}
	scan := Known{Run: &at.Run}
	b := &baseline{types: scan.types(), made: map[model.Key][]*model.Finding{}}
	b.keep(&k)
	for i := range at.Findings {
		p.addAt(b, &at.Findings[i])
	}
	stored := k.types()
	for i := range at.Declarations {
		d := &at.Declarations[i]
		p.prune(b, d, at.Ref)
		if _, scanned := stored[d.Name]; !scanned {
			p.Gaps = append(p.Gaps, Gap{Declaration: d.Name, Reason: "driftd has not scanned it: run driftd scan first"})
		}
	}
	p.gaps(&scan, "")
	p.settle(o)
	return p, nil
}

// A baseline has the manual changes that are stored.
type baseline struct {
	// types are the types of the declarations that were read at the ref, by name.
	types map[string]string
	// made are the stored findings on manual changes, the worst first. Those that are
	// unmanaged, and those without changes, are about whole resources.
	made map[model.Key][]*model.Finding
}

// keep records the stored findings of the declarations that were read at the ref, and of what
// no declaration manages.
func (b *baseline) keep(k *Known) {
	for _, f := range k.open() {
		hand, made := handMade(f)
		switch {
		case f.Verdict == model.Unmanaged:
			b.made[f.Key] = append(b.made[f.Key], f)
		case made && b.includes(f):
			b.made[f.Key] = append(b.made[f.Key], &hand)
		}
	}
	for _, list := range b.made {
		slices.SortFunc(list, model.CompareWorst)
	}
}

// includes reports whether a finding is of a declaration that was read at the ref.
func (b *baseline) includes(f *model.Finding) bool {
	if _, mine := b.types[f.Declaration]; mine || f.Verdict != model.Disputed {
		return mine
	}
	for declaration := range b.types {
		if f.ClaimedBy(declaration) {
			return true
		}
	}
	return false
}

// change returns the stored finding on a manual change of the same live value, and its change,
// which is nil if the whole resource was made by hand.
func (b *baseline) change(key model.Key, c *model.Change) (*model.Finding, *model.Change) {
	for _, f := range b.made[key] {
		if len(f.Changes) == 0 && f.Verdict != model.Missing || f.Verdict == model.Unmanaged {
			return f, nil
		}
		for i := range f.Changes {
			if known := &f.Changes[i]; overlap(known.Path, c.Path) && sameLive(known, c) {
				return f, known
			}
		}
	}
	return nil, nil
}

// missing returns the stored finding on a resource that was removed by hand, or nil.
func (b *baseline) missing(key model.Key) *model.Finding {
	i := slices.IndexFunc(b.made[key], func(f *model.Finding) bool { return f.Verdict == model.Missing })
	if i < 0 {
		return nil
	}
	return b.made[key][i]
}

// addAt adds a finding of the scan at the ref.
func (p *Preview) addAt(b *baseline, f *model.Finding) {
	switch {
	case f.Verdict == model.Codified || f.Verdict == model.Unmanaged:
	case f.Verdict == model.Unchecked:
		if f.Shown() {
			p.Gaps = append(p.Gaps, Gap{f.Declaration, f.Address, f.Reason})
		}
	case f.Verdict == model.Undeclared && b.types[f.Declaration] != terraform:
		p.keep(f, keptFields)
	default:
		if it, erased := b.item(f); erased {
			p.Items = append(p.Items, it)
		}
	}
}

// item returns the item of a finding of the scan at the ref, with the manual ones of its
// changes; erased is false if an apply erases nothing and replaces nothing.
func (b *baseline) item(f *model.Finding) (it Item, erased bool) {
	it.Finding = *f
	it.ID, it.Changes, it.Decision, it.FirstSeen, it.LastSeen = "", nil, nil, time.Time{}, time.Time{}
	if removed := b.missing(f.Key); len(f.Changes) == 0 && removed != nil {
		it.Verdict, it.Reason, it.Actor = model.Missing, removed.Reason, removed.Actor
		takeOver(&it.Finding, removed)
		erased = true
	}
	for i := range f.Changes {
		if c := f.Changes[i]; b.take(&it.Finding, f, &c) {
			it.Changes = append(it.Changes, c)
		}
	}
	if len(it.Changes) > 0 {
		lift(&it.Finding)
	}
	// A plan reports an object as missing only if the state has it.
	erased = erased || len(it.Changes) > 0 || f.Replaces || f.Verdict == model.Missing && b.types[f.Declaration] == terraform
	it.Hidden, it.Effect = f.Hidden, effect(&it.Finding)
	return it, erased
}

// take reports whether a change of a finding is a manual one. It sets its actor, and completes
// the item's finding from the stored one.
func (b *baseline) take(item, f *model.Finding, c *model.Change) bool {
	stored, known := b.change(f.Key, c)
	if stored == nil {
		behind := f.Verdict == model.Changed || f.Verdict == model.Conflict
		return behind && c.Recorded != nil && !c.Unproven
	}
	if known == nil {
		known = &model.Change{}
	}
	c.Actor, c.Unproven = actorOf(stored, known), known.Unproven
	if f.Verdict == model.Pending || stored.Verdict == model.Bypassed {
		item.Verdict, item.Reason = stored.Verdict, stored.Reason
	}
	takeOver(item, stored)
	return true
}

// prune adds the resources with manual changes that a declaration has no more at the ref.
func (p *Preview) prune(b *baseline, d *model.Declaration, ref string) {
	for _, list := range b.made {
		gone := removed(d, list, b.types[d.Name])
		if gone == nil {
			continue
		}
		gone.Reason, gone.Hidden = "not declared at "+ref+"; an apply or sync that prunes deletes it", ""
		if gone.Rated == nil && gone.Severity.Rank() > model.High.Rank() {
			gone.Severity = model.High
		}
		p.Items = append(p.Items, Item{Effect: Destroy, Finding: *gone})
	}
}

// removed joins the stored findings on one resource that a declaration does not declare any
// more; nil if there are none.
func removed(d *model.Declaration, list []*model.Finding, typ string) *model.Finding {
	var gone *model.Finding
	for _, f := range list {
		if f.Declaration != d.Name || f.Verdict == model.Missing || f.Verdict == model.Unmanaged || !removes(d, f, typ) {
			continue
		}
		if gone == nil {
			first := *f
			first.Changes = nil
			gone = &first
		}
		for _, c := range f.Changes {
			c.Actor, c.Declared = actorOf(f, &c), nil
			gone.Changes = append(gone.Changes, c)
		}
	}
	if gone != nil && len(gone.Changes) > 0 {
		lift(gone)
	}
	return gone
}

// removes reports whether a declaration does not declare the resource of a finding any more. A
// plan has a claim on what it destroys; manifests have none. A resource is not removed if a
// part that cannot be read may declare it.
func removes(d *model.Declaration, f *model.Finding, typ string) bool {
	if typ == terraform {
		destroyed, kept := false, false
		for i := range d.Claims {
			if c := &d.Claims[i]; c.Address == f.Address {
				destroyed, kept = destroyed || c.Destroyed, kept || !c.Destroyed
			}
		}
		return destroyed && !kept
	}
	if slices.ContainsFunc(d.Problems, func(p model.Problem) bool { return !p.Bounded }) {
		return false
	}
	return !slices.ContainsFunc(d.Claims, func(c model.Claim) bool {
		return c.Kind == f.Kind && (c.ID == f.Key.ID || c.AltID == f.Key.ID)
	})
}
