package phrase

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// PartKind is model.PartKind.
const PartKind = model.PartKind

// Kind returns the short name of a kind: Deployment for
// kubernetes/Deployment.apps, virtualmachine for
// netbox/virtualization.virtualmachine.
func Kind(kind string) string {
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

// Name returns the name of the resource, or "" if the ID of the resource contains it.
func Name(f *model.Finding) string {
	if repeats(f.Key.ID, f.Name) {
		return ""
	}
	return f.Name
}

// repeats reports whether the ID of a resource has its name.
func repeats(id, name string) bool {
	before, ok := strings.CutSuffix(id, name)
	if ok && (before == "" || strings.HasSuffix(before, "/")) {
		return true
	}
	rest, ok := strings.CutPrefix(id, name)
	return ok && strings.HasPrefix(rest, " (")
}

// Resource returns the ID of a resource followed by its name: "104 (db-01)".
func Resource(id, name string) string {
	if name == "" || repeats(id, name) {
		return id
	}
	return id + " (" + name + ")"
}

// Subject returns a description of the finding: "changed: Deployment shop/web".
func Subject(f *model.Finding) Phrase {
	switch {
	case f.Kind != PartKind:
	case f.Check != "":
		return Phrase{}.Short(f.VerdictText(), NameLimit).Words(": ").Short(f.Address, NameLimit).Words(" of ").Short(f.Declaration, NameLimit)
	case f.Address == f.Declaration:
		return Words("declaration ").Short(f.Declaration, NameLimit).Words(" could not be read")
	default:
		return Words("part of ").Short(f.Declaration, NameLimit).Words(" could not be read: ").Short(f.Address, NameLimit)
	}
	p := Phrase{}.Short(f.VerdictText(), NameLimit).Words(": ").Short(Kind(f.Kind), NameLimit).Words(" ")
	p = append(p, Span{Text: Line(f.Key.ID, NameLimit), Data: true, Strong: true})
	if name := Name(f); name != "" {
		p = p.Words(" (").Short(name, NameLimit).Words(")")
	}
	return p
}

// Where returns the source of a finding, and the place where the resource is or should be declared. It
// returns nil for a part of a declaration, because Subject then contains the place.
func Where(f *model.Finding) Phrase {
	p := Phrase{}
	if f.Kind == PartKind {
		return nil
	}
	if f.Source != "" {
		p = p.Words("in ").Data(f.Source)
	}
	return p.Then(declared(f))
}

func declared(f *model.Finding) Phrase {
	names := Disputants(f)
	switch {
	case f.Verdict == model.Unmanaged && f.Declaration != "":
		return Words("not in ").Data(f.Declaration)
	case len(names) > 1:
		last := len(names) - 1
		return Words("declared by ").List(names[:last], mostNamed).Words(" and ").Data(names[last])
	case f.Declaration == "" && f.Address == "":
		return Words("not declared")
	case f.Address == "":
		return Words("declared by ").Data(f.Declaration)
	case f.Declaration == "":
		return append(Words("declared at "), place(f.Address, f.Position)...)
	}
	return append(Words("declared by ").Data(f.Declaration).Words(" at "), place(f.Address, f.Position)...)
}

// Disputants returns the names of the declarations that claim different values for fields of a finding.
func Disputants(f *model.Finding) []string {
	var names []string
	for i := range f.Changes {
		for _, c := range f.Changes[i].Claims {
			if !slices.Contains(names, c.Declaration) {
				names = append(names, c.Declaration)
			}
		}
	}
	return names
}

// Seen returns when a finding was first seen, and when and how it ended.
func (c Clock) Seen(f *model.Finding) Phrase {
	p := Phrase{}
	if !f.FirstSeen.IsZero() {
		p = p.Words("first seen ").Time(c, f.FirstSeen)
	}
	if !f.Resolved.IsZero() {
		p = p.Then(Closed(f.MergedInto).Words(" ").Time(c, f.Resolved))
	}
	return p
}

// Closed returns the phrase for a finding that ended because it was merged into another one. If mergedInto
// is "", it was closed without one.
func Closed(mergedInto string) Phrase {
	if mergedInto != "" {
		return Words("merged into ").Data(mergedInto)
	}
	return Words("resolved")
}

// Muted returns the reason why there are no notifications about a finding: a decision, or the rule that
// hides it. It returns nil if there is neither.
func (c Clock) Muted(f *model.Finding) Phrase {
	switch {
	case f.Hidden != "":
		return HiddenBy(f.Hidden)
	case f.Decision != nil:
		return c.Decision(f.Decision)
	}
	return nil
}

// HiddenBy returns the phrase for a finding that a rule hides for the given reason.
func HiddenBy(reason string) Phrase { return Words("hidden by a rule: ").Short(reason, ReasonLimit) }

// Decision returns the kind of a decision, who made it, its end and its reason.
func (c Clock) Decision(d *model.Decision) Phrase {
	p := Words(d.Kind.Participle() + " by ").Person(d.By)
	if d.Owner != "" && d.Owner != d.By {
		p = p.Words(", owner ").Person(d.Owner)
	}
	if d.Covers > 0 {
		p = p.Words(", in a baseline of " + Count(d.Covers, "finding"))
	}
	p = p.Words(", ").Until(d.Until)
	if d.Reason != "" {
		p = p.Words(": ").Short(d.Reason, ReasonLimit)
	}
	return p
}

// Limits of the names in one phrase: of declarations, of resources, and of each
// resource in columns.
const (
	mostNamed = 6
	mostAlike = 4
	alikeName = 40
)

// SameRequest returns the number of other findings that the same request caused, with the names of the
// first resources. others must not contain the finding that represents them.
func SameRequest(others []*model.Finding) Phrase {
	p, kind := Words(Number(len(others))+" more by the same request: "), ""
	for i, f := range others[:min(len(others), mostAlike)] {
		if i > 0 {
			p = p.Words(", ")
		}
		if f.Kind != kind {
			kind, p = f.Kind, p.Short(Kind(f.Kind), alikeName).Words(" ")
		}
		p = p.Short(cmp.Or(Name(f), f.Key.ID), alikeName)
	}
	if len(others) > mostAlike {
		p = p.Words(", " + Ellipsis)
	}
	return p
}

// Ignored returns one phrase for each ignore rule that hides fields of a finding: "2 fields hidden by
// ignore rule: autoscaled".
func Ignored(f *model.Finding) []Phrase {
	counts := map[string]int{}
	var reasons []string
	for i := range f.Ignored {
		reason := f.Ignored[i].Reason
		if counts[reason]++; counts[reason] == 1 {
			reasons = append(reasons, reason)
		}
	}
	phrases := make([]Phrase, len(reasons))
	for i, reason := range reasons {
		phrases[i] = Words(Count(counts[reason], "field")+" hidden by ignore rule: ").Short(reason, ReasonLimit)
	}
	return phrases
}
