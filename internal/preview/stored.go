package preview

import (
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// The types of declarations whose applies differ.
const (
	terraform = "terraform"
	inventory = "netbox"
)

// keptFields is why an apply of manifests leaves undeclared fields alone.
const keptFields = "kubectl apply and server-side apply keep fields that the manifests do not set"

// FromFindings returns the manual changes that the next apply or sync of declarations would erase,
// according to the open findings.
func FromFindings(k Known, o Options) (Preview, error) {
	if err := k.declaration(o.Declaration); err != nil {
		return Preview{}, err
	}
	types := k.types()
	if types[o.Declaration] == inventory {
		return Preview{}, fmt.Errorf("declaration %s is read from NetBox, and no tool applies it: name a declaration of Terraform or of manifests", o.Declaration)
	}
	p := Preview{Scanned: k.finished()}
	for _, f := range k.open() {
		if o.Declaration == "" || f.ClaimedBy(o.Declaration) {
			p.add(f, types, o.Declaration)
		}
	}
	p.removeCovered()
	p.gaps(&k, o.Declaration)
	p.settle(o)
	return p, nil
}

// add adds a finding to the list that it belongs to.
func (p *Preview) add(f *model.Finding, types map[string]string, declaration string) {
	if types[f.Declaration] == inventory && f.Verdict != model.Disputed {
		return
	}
	hand, made := handMade(f)
	switch {
	case f.Verdict == model.Unchecked:
		if f.Shown() {
			p.Gaps = append(p.Gaps, Gap{f.Declaration, f.Address, f.Reason})
		}
	case f.Verdict == model.Unmanaged:
		p.keep(f, "no declaration manages it")
	case f.Verdict == model.Undeclared && types[f.Declaration] != terraform:
		p.keep(f, keptFields)
	case f.Verdict == model.Disputed:
		p.dispute(f, types, declaration)
	case made:
		p.erase(f, hand, types[f.Declaration])
	case f.Replaces, f.Destroys:
		p.Items = append(p.Items, Item{Effect: effect(f), Finding: *f})
	}
}

// removeCovered removes the items without a manual change of resources that are destroyed with manual changes in another
// item.
func (p *Preview) removeCovered() {
	of := func(it *Item) [2]string { return [2]string{it.Declaration, it.Key.String()} }
	covered := map[[2]string]bool{}
	for i := range p.Items {
		if it := &p.Items[i]; len(it.Changes) > 0 && (it.Effect == Destroy || it.Effect == Replace) {
			covered[of(it)] = true
		}
	}
	p.Items = slices.DeleteFunc(p.Items, func(it Item) bool { return len(it.Changes) == 0 && it.Verdict == model.Pending && covered[of(&it)] })
}

// erase adds the manual changes of a finding that an apply erases. An apply of Terraform leaves attributes that are not
// set, unless it destroys the resource. A sync may overwrite fields that Argo CD or Flux does not put back by itself.
func (p *Preview) erase(f *model.Finding, hand model.Finding, typ string) {
	e := effect(f)
	if typ == terraform && (e == Overwrite || e == Reset) {
		erased := slices.DeleteFunc(slices.Clone(hand.Changes), func(c model.Change) bool { return c.Unenforced != "" })
		if len(erased) == 0 && len(hand.Changes) > 0 {
			p.keep(f, hand.Changes[0].Unenforced)
			return
		}
		hand.Changes = erased
	}
	p.Items = append(p.Items, Item{Effect: e, Finding: hand})
}

// effect returns the effect of an apply on a finding with manual changes.
func effect(f *model.Finding) Effect {
	switch {
	case f.Replaces:
		return Replace
	case f.Destroys:
		return Destroy
	case f.Verdict == model.Missing:
		return Create
	case f.Verdict == model.Undeclared:
		return Reset
	}
	return Overwrite
}

func (p *Preview) keep(f *model.Finding, reason string) {
	p.Kept = append(p.Kept, Kept{f.Verdict, f.Declaration, f.Address, f.Key, reason})
}

// dispute adds the disputed fields that an apply of one of the declarations would overwrite.
func (p *Preview) dispute(f *model.Finding, types map[string]string, declaration string) {
	overwritten := *f
	overwritten.Changes = slices.DeleteFunc(slices.Clone(f.Changes), func(c model.Change) bool {
		return !slices.ContainsFunc(c.Claims, func(v model.ClaimedValue) bool {
			applied := types[v.Declaration] != inventory && (declaration == "" || v.Declaration == declaration)
			return applied && (c.Secret || c.Live == nil || !v.Value.Equal(*c.Live))
		})
	})
	if len(overwritten.Changes) > 0 {
		p.Items = append(p.Items, Item{Effect: effect(f), Finding: overwritten})
	}
}

// gaps adds the declarations that could not be read, and the sources that they govern.
func (p *Preview) gaps(k *Known, declaration string) {
	if k.Run == nil {
		return
	}
	governed := map[string]bool{}
	for i := range k.Run.Declarations {
		d := &k.Run.Declarations[i]
		if declaration != "" && d.Name != declaration || d.Type == inventory {
			continue
		}
		p.unread(d)
		for _, source := range d.Governs {
			governed[source] = true
		}
	}
	// In runs of earlier versions, it is unknown what a declaration governs.
	every := declaration == "" || len(governed) == 0
	p.unreadSources(k.Run.Coverage, func(source string) bool { return every || governed[source] })
	if !k.Run.Complete && len(p.Gaps) == 0 && declaration == "" {
		p.Gaps = append(p.Gaps, Gap{Reason: "not checked: " + k.Run.NotChecked.String()})
	}
}

// unreadSources adds the sources that could not be read, unless that is why a declaration could
// not be read.
func (p *Preview) unreadSources(coverage []model.Coverage, governed func(source string) bool) {
	for _, c := range coverage {
		same := func(g Gap) bool { return g.Reason == c.Reason && c.Source == model.LiveSource(g.Declaration) }
		if c.Failed() && governed(c.Source) && !slices.ContainsFunc(p.Gaps, same) {
			p.Gaps = append(p.Gaps, Gap{"", c.Source, c.Reason})
		}
	}
}

// unread adds the parts of a declaration that could not be read.
func (p *Preview) unread(d *model.DeclarationRun) {
	if d.Err != "" {
		if !slices.ContainsFunc(p.Gaps, func(g Gap) bool { return g.Declaration == d.Name && g.Reason == d.Err }) {
			p.Gaps = append(p.Gaps, Gap{d.Name, "", d.Err})
		}
		return // The other parts are not known.
	}
	for _, problem := range d.Problems {
		p.Gaps = append(p.Gaps, Gap{d.Name, problem.Address, problem.Reason})
	}
}
