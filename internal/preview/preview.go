// Package preview determines the manual changes that the next apply or sync would erase. It is pure: the
// time, the findings and the plan are arguments, and their order does not affect the result.
package preview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/suggest"
)

// An Effect is the effect of the next apply on a change.
type Effect string

// The effects.
const (
	Overwrite Effect = "overwrite" // The declared value replaces the live one.
	Reset     Effect = "reset"     // The value is removed, because no declaration sets it.
	Create    Effect = "create"    // The resource was removed, and is created again.
	Replace   Effect = "replace"   // The resource is destroyed and created again.
	Destroy   Effect = "destroy"   // The resource is destroyed.
)

// DefaultOld is the default age from which changes are marked as old.
const DefaultOld = 24 * time.Hour

// An Item is a finding whose changes an apply erases, or a resource that it destroys.
type Item struct {
	Effect Effect `json:"effect"`
	// Since is the time of the oldest of the changes: the time of its actor or, if that is unknown, of the
	// first scan that found it. It is zero if neither is known.
	Since time.Time `json:"since,omitzero"`
	// SinceFirstSeen reports whether Since is the time of a scan, so that the change may be older.
	SinceFirstSeen bool `json:"since_first_seen,omitempty"`
	// AgeSeconds is the time since Since in seconds, or 0 if it is unknown.
	AgeSeconds int64 `json:"age_seconds,omitempty"`
	// Old reports whether the change is so old that other systems may depend on it.
	Old bool `json:"old"`
	model.Finding
}

// A Kept is a finding that the next apply does not affect.
type Kept struct {
	Verdict     model.Verdict `json:"verdict"`
	Declaration string        `json:"declaration"`
	Address     string        `json:"address"`
	model.Key
	Reason string `json:"reason"`
}

// A Gap is a part of the preview that is missing, with the reason.
type Gap struct {
	Declaration string `json:"declaration"`
	Address     string `json:"address"`
	Reason      string `json:"reason"`
}

// A Preview lists the manual changes that the next apply would erase.
type Preview struct {
	// Plan is the name of the plan, or "" if the preview is based on findings.
	Plan string
	// Ref is the branch, tag or commit at which the declarations were read, or "" for the tracked ones.
	Ref string
	// PlanOnly is Options.PlanOnly.
	PlanOnly bool
	// Declaration is the declaration to which the preview is limited, or "" for all.
	Declaration string
	// Scanned is the time at which the scan that found the findings ended, or zero if there was no scan.
	Scanned time.Time
	// Old is the age from which changes are marked as old.
	Old time.Duration
	// Items are sorted: bypassed ones first, then by severity, declaration and address.
	Items []Item
	Kept  []Kept
	// Gaps are sorted by declaration and address.
	Gaps []Gap
	// Hidden is the number of items that were omitted because an ignore rule hides them.
	Hidden int
}

// Options configure a preview.
type Options struct {
	Now time.Time
	Old time.Duration
	// Declaration limits the preview to one declaration. "" means all.
	Declaration string
	// Hidden includes the findings that an ignore rule hides.
	Hidden bool
	// PlanOnly accepts a preview that is based on the plan alone. Changes that were applied from elsewhere
	// are then unknown, and are not reported as a Gap.
	PlanOnly bool
}

// Known is the stored data that a preview uses.
type Known struct {
	Findings []model.Finding
	// Run is the last run, or nil if there is none.
	Run *model.Run
	// Objects maps the names of the run's Terraform declarations to samples of their objects.
	Objects map[string]model.ObjectSample
	// Missing is the reason why there is no stored data, or "" if there is a run.
	Missing string
}

// open returns the open findings of the run's sources and declarations.
func (k *Known) open() []*model.Finding {
	var open []*model.Finding
	for i := range k.Findings {
		f := &k.Findings[i]
		if f.Resolved.IsZero() && (k.Run == nil || k.Run.Includes(f)) {
			open = append(open, f)
		}
	}
	return open
}

// types returns the types of the declarations, by name.
func (k *Known) types() map[string]string {
	types := map[string]string{}
	if k.Run != nil {
		for i := range k.Run.Declarations {
			types[k.Run.Declarations[i].Name] = k.Run.Declarations[i].Type
		}
	}
	return types
}

// declaration returns an error if there is no such declaration.
func (k *Known) declaration(name string) error {
	types := k.types()
	if _, known := types[name]; known || name == "" {
		return nil
	}
	names := make([]string, 0, len(types))
	for name := range types {
		names = append(names, name)
	}
	slices.Sort(names)
	if near, ok := suggest.Word(name, names); ok {
		return fmt.Errorf("no declaration %q was scanned: did you mean %q? (one of %s)", name, near, strings.Join(names, ", "))
	}
	return fmt.Errorf("no declaration %q was scanned: want one of %s", name, cmp.Or(strings.Join(names, ", "), "none; run driftd scan first"))
}

// root returns an error if there is no such declaration, or if no plan can be of it, because it is no
// Terraform root.
func (k *Known) root(name string) error {
	if err := k.declaration(name); err != nil || name == "" {
		return err
	}
	if typ := k.types()[name]; typ != terraform {
		return fmt.Errorf("declaration %s is of type %s, and a plan is of a Terraform root: name a declaration of type %s", name, typ, terraform)
	}
	return nil
}

// finished returns when the last run finished.
func (k *Known) finished() time.Time {
	if k.Run == nil {
		return time.Time{}
	}
	return k.Run.Finished.UTC()
}

// settle sorts a preview, dates its items, and removes the hidden ones.
func (p *Preview) settle(o Options) {
	p.Old, p.Declaration, p.PlanOnly = o.Old, o.Declaration, o.PlanOnly
	if !o.Hidden {
		shown := slices.DeleteFunc(slices.Clone(p.Items), func(it Item) bool { return it.Hidden != "" })
		p.Hidden, p.Items = len(p.Items)-len(shown), shown
	}
	for i := range p.Items {
		p.Items[i].date(o)
	}
	slices.SortFunc(p.Items, compare)
	slices.SortFunc(p.Kept, func(a, b Kept) int {
		return cmp.Or(cmp.Compare(a.Declaration, b.Declaration), cmp.Compare(a.Address, b.Address), a.Key.Compare(b.Key), cmp.Compare(a.Verdict, b.Verdict))
	})
	slices.SortFunc(p.Gaps, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(a.Declaration, b.Declaration), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Reason, b.Reason))
	})
	p.Gaps = slices.Compact(p.Gaps)
}

// compare orders items: bypassed ones first, then by severity, declaration and address.
func compare(a, b Item) int {
	last := func(it *Item) int {
		if it.Verdict == model.Bypassed {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(last(&a), last(&b)), cmp.Compare(a.Severity.Rank(), b.Severity.Rank()),
		cmp.Compare(a.Declaration, b.Declaration), cmp.Compare(a.Address, b.Address), a.Key.Compare(b.Key),
		cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Effect, b.Effect), cmp.Compare(a.ID, b.ID))
}

// date sets the age of an item. A resource that is destroyed without a manual change has none.
func (it *Item) date(o Options) {
	if it.Verdict == model.Pending && !it.IsUnproven() {
		return
	}
	actors := []model.Actor{it.Actor}
	if len(it.Changes) > 0 {
		actors = actors[:0]
		for _, c := range it.Changes {
			if c.Actor != nil {
				actors = append(actors, *c.Actor)
			} else {
				actors = append(actors, it.Actor)
			}
		}
	}
	for _, a := range actors {
		at, seen := a.At, false
		if at.IsZero() || at.After(o.Now) {
			at, seen = it.FirstSeen, true
		}
		if !at.IsZero() && (it.Since.IsZero() || at.Before(it.Since)) {
			it.Since, it.SinceFirstSeen = at.UTC(), seen
		}
	}
	if !it.Since.IsZero() {
		age := max(o.Now.Sub(it.Since), 0)
		it.AgeSeconds, it.Old = int64(age/time.Second), age >= o.Old
	}
}

// handMade returns the finding with the changes that were not made by an apply of the
// declaration; ok is false if there are none.
func handMade(f *model.Finding) (_ model.Finding, ok bool) {
	switch f.Verdict {
	case model.Changed, model.Conflict, model.Bypassed, model.Disputed, model.Undeclared, model.Moved, model.Missing:
		return *f, true
	case model.Pending:
		hand := *f
		hand.Changes = slices.DeleteFunc(slices.Clone(f.Changes), func(c model.Change) bool { return !c.Unproven })
		return hand, len(hand.Changes) > 0 || f.Unproven && len(f.Changes) == 0
	}
	return model.Finding{}, false
}
