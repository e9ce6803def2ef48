package classify

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// standing are the live fields of which an open finding tells that cannot be
// judged again, since not all who have a say in it were read: what the others say
// meanwhile is the same story.
type standing map[model.Key][]string

func newStanding(earlier []model.Finding, p *proof) standing {
	s := standing{}
	for i := range earlier {
		f := &earlier[i]
		if f.Verdict != model.Disputed && f.Verdict != model.Moved || p.whole && p.gone(f) || p.heard(f) {
			continue
		}
		for _, c := range f.Changes {
			s[f.Key] = append(s[f.Key], cmp.Or(c.LivePath, c.Path))
		}
	}
	return s
}

// without returns an outcome less what stands already; said tells that something
// is left of it. A dispute that is found again speaks for itself.
func (s standing) without(key model.Key, o *model.Outcome) (left model.Outcome, said bool) {
	fields := s[key]
	if len(fields) == 0 || len(o.Changes) == 0 || o.Verdict == model.Disputed {
		return *o, true
	}
	left = *o
	left.Changes = slices.DeleteFunc(slices.Clone(o.Changes), func(c model.Change) bool { return slices.Contains(fields, cmp.Or(c.LivePath, c.Path)) })
	return left, len(left.Changes) > 0
}
