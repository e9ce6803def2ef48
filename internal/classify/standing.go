package classify

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// standing are the changes of open findings that cannot be judged again, because not
// all declarations that they depend on were read. What the others report of the same
// live values meanwhile is not reported twice. One without a path stands for a resource
// that is unmanaged.
type standing map[model.Key][]model.Change

func newStanding(earlier []model.Finding, p *proof) standing {
	s := standing{}
	for i := range earlier {
		f := &earlier[i]
		if !p.stands(f) {
			continue
		}
		if f.Verdict == model.Unmanaged {
			s[f.Key] = append(s[f.Key], model.Change{})
		}
		s[f.Key] = append(s[f.Key], f.Changes...)
	}
	return s
}

// stands reports whether an open finding cannot be judged again in this scan,
// because not all declarations that it depends on were read.
func (p *proof) stands(f *model.Finding) bool {
	if p.whole && p.gone(f) {
		return false
	}
	switch f.Verdict {
	case model.Disputed, model.Moved:
		return !p.heard(f)
	case model.Unmanaged:
		judged := p.judged[f.Key]
		return judged != nil && judged.Subject.Partial != ""
	}
	return false
}

// compared reports whether the scan compared every claim on the resource that the
// finding's declaration has.
func (p *proof) compared(f *model.Finding) bool {
	judged := p.judged[f.Key]
	own := func(c *model.Claim) bool { return c != nil && c.Declaration == f.Declaration }
	return judged != nil && slices.ContainsFunc(judged.Subject.Claims, own) &&
		!slices.ContainsFunc(judged.Outcomes, func(o model.Outcome) bool { return o.Verdict == model.Unchecked && own(o.Claim) })
}

// without returns an outcome less what stands already; said reports that something
// is left of it. A dispute that is found again speaks for itself.
func (s standing) without(key model.Key, o *model.Outcome) (left model.Outcome, said bool) {
	open := s[key]
	if o.Verdict == model.Unmanaged {
		return *o, !slices.ContainsFunc(open, func(c model.Change) bool { return c.Path == "" })
	}
	if len(o.Changes) == 0 || o.Verdict == model.Disputed {
		return *o, true
	}
	left = *o
	left.Changes = slices.DeleteFunc(slices.Clone(o.Changes), func(c model.Change) bool {
		return slices.ContainsFunc(open, func(was model.Change) bool { return tellsOf(&was, &c) })
	})
	return left, len(left.Changes) > 0
}

// tellsOf reports whether an earlier change is of the same live field as another one, and
// shows the same live value. Values of different declarations are not comparable.
func tellsOf(was, now *model.Change) bool {
	return cmp.Or(was.LivePath, was.Path) == cmp.Or(now.LivePath, now.Path) && (was.Path != now.Path || alike(was.Live, now.Live))
}
