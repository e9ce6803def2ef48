package classify

import (
	"path"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Rule hides findings. Its patterns are globs; an empty one fits everything.
type Rule struct {
	Source, Kind, Resource, Path string
	// Reason is why; it is shown with what the rule hides.
	Reason string
	// Expires is when the rule ends; zero never.
	Expires time.Time
}

// hide applies the first rule that fits. A rule with a path takes the fields
// that it fits out of the finding, and hides it when none is left.
func hide(f *model.Finding, rules []Rule, now time.Time) {
	for _, r := range rules {
		if !r.fits(f) || !r.Expires.IsZero() && !now.Before(r.Expires) {
			continue
		}
		if r.Path == "" {
			f.Hidden = r.Reason
			return
		}
		left := slices.DeleteFunc(slices.Clone(f.Changes), func(c model.Change) bool { return r.fitsPath(c.Path) })
		if len(left) == 0 && len(f.Changes) > 0 {
			f.Hidden = r.Reason
			return
		}
		f.Changes = left
	}
}

func (r Rule) fits(f *model.Finding) bool {
	return glob(r.Source, f.Source) && (glob(r.Kind, f.Kind) || glob(r.Kind, path.Base(f.Kind))) && glob(r.Resource, f.Key.ID)
}

func (r Rule) fitsPath(p string) bool { return glob(r.Path, p) || glob(r.Path, withoutKeys(p)) }

// glob matches a pattern in which "*" stands for any run of characters but
// "/". A pattern that is broken fits nothing.
func glob(pattern, text string) bool {
	ok, err := path.Match(pattern, text)
	return pattern == "" || ok && err == nil
}
