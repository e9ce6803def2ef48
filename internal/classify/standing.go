package classify

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// standing are the live fields of which an open finding tells that cannot be
// judged again, since not all who have a say in it were read: what the others say
// meanwhile is the same story. The field "" stands for a resource that is unmanaged.
type standing map[model.Key][]string

func newStanding(earlier []model.Finding, p *proof) standing {
	s := standing{}
	for i := range earlier {
		f := &earlier[i]
		if !p.stands(f) {
			continue
		}
		if f.Verdict == model.Unmanaged {
			s[f.Key] = append(s[f.Key], "")
		}
		for _, c := range f.Changes {
			s[f.Key] = append(s[f.Key], cmp.Or(c.LivePath, c.Path))
		}
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

// without returns an outcome less what stands already; said tells that something
// is left of it. A dispute that is found again speaks for itself.
func (s standing) without(key model.Key, o *model.Outcome) (left model.Outcome, said bool) {
	fields := s[key]
	if o.Verdict == model.Unmanaged {
		return *o, !slices.Contains(fields, "")
	}
	if len(o.Changes) == 0 || o.Verdict == model.Disputed {
		return *o, true
	}
	left = *o
	left.Changes = slices.DeleteFunc(slices.Clone(o.Changes), func(c model.Change) bool { return slices.Contains(fields, cmp.Or(c.LivePath, c.Path)) })
	return left, len(left.Changes) > 0
}
