package classify

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// carriedOver has the changes of open findings that cannot be compared again, because not
// all declarations that they depend on were read. Changes of the same live values that
// other declarations report are left out. One without a path is an unmanaged resource.
type carriedOver map[model.Key][]model.Change

func newCarriedOver(earlier []model.Finding, p *proof) carriedOver {
	s := carriedOver{}
	for i := range earlier {
		f := &earlier[i]
		if !p.isCarriedOver(f) {
			continue
		}
		if f.Verdict == model.Unmanaged {
			s[f.Key] = append(s[f.Key], model.Change{})
		}
		s[f.Key] = append(s[f.Key], f.Changes...)
	}
	return s
}

// isCarriedOver reports whether an open finding cannot be compared again in this scan,
// because not all declarations that it depends on were read.
func (p *proof) isCarriedOver(f *model.Finding) bool {
	if p.whole && p.isRemoved(f) {
		return false
	}
	switch f.Verdict {
	case model.Disputed, model.Moved:
		return !p.partiesRead(f)
	case model.Unmanaged:
		judged := p.judgedOn(f.Key)
		return judged != nil && judged.Subject.Partial != ""
	}
	return false
}

// compared reports whether the scan compared every claim on the resource that the
// finding's declaration has.
func (p *proof) compared(f *model.Finding) bool {
	judged := p.judgedOn(f.Key)
	own := func(c *model.Claim) bool { return c != nil && c.Declaration == f.Declaration }
	return judged != nil && slices.ContainsFunc(judged.Subject.Claims, own) &&
		!slices.ContainsFunc(judged.Outcomes, func(o model.Outcome) bool { return o.Verdict == model.Unchecked && own(o.Claim) })
}

// without returns an outcome without the changes that are carried over, and reports
// whether any are left. A dispute is returned as a whole.
func (s carriedOver) without(key model.Key, o *model.Outcome) (left model.Outcome, ok bool) {
	open := s[key]
	if o.Verdict == model.Unmanaged {
		return *o, !slices.ContainsFunc(open, func(c model.Change) bool { return c.Path == "" })
	}
	if len(o.Changes) == 0 || o.Verdict == model.Disputed || o.Check != "" {
		return *o, true
	}
	left = *o
	left.Changes = slices.DeleteFunc(slices.Clone(o.Changes), func(c model.Change) bool {
		return slices.ContainsFunc(open, func(was model.Change) bool { return reportsSame(&was, &c) })
	})
	return left, len(left.Changes) > 0
}

// reportsSame reports whether two changes have the same live field and value. Values at
// paths of different declarations are not comparable.
func reportsSame(was, now *model.Change) bool {
	return cmp.Or(was.LivePath, was.Path) == cmp.Or(now.LivePath, now.Path) && (was.Path != now.Path || model.SameValue(was.Live, now.Live))
}
