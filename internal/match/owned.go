package match

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// addAutomatic records why a subject's live resource need not be declared: the reason in
// the resource, or a maker that is declared or automatic itself. Subjects are sorted by
// key and of one source.
func addAutomatic(subjects []model.Subject) {
	o := makers{subjects: subjects, resolved: make([]bool, len(subjects))}
	for i := range subjects {
		o.resolve(i)
	}
}

type makers struct {
	subjects []model.Subject
	// resolved reports which subjects resolve was called for.
	resolved []bool
}

// resolve determines why a subject is automatic, after its makers. Makers that form a
// cycle do not make each other automatic.
func (o *makers) resolve(i int) {
	s := &o.subjects[i]
	if o.resolved[i] || s.Live == nil {
		return
	}
	o.resolved[i] = true
	if !s.Live.DeclaredInParent || !o.declares(s.Source, s.Live.Parent) {
		s.SystemOwned = s.Live.SystemOwned
	}
	for _, maker := range s.Live.Makers {
		if s.SystemOwned == "" {
			s.SystemOwned = o.madeBy(model.Key{Source: s.Source, Kind: maker.Kind, ID: maker.ID})
		}
	}
}

// declares reports whether a live resource is declared.
func (o *makers) declares(source string, ref model.Ref) bool {
	at, found := subjectAt(o.subjects, model.Key{Source: source, Kind: ref.Kind, ID: ref.ID})
	return found && declares(o.subjects[at].Claims)
}

// madeBy returns the reason for objects of a maker; "" if the maker is not live, or
// neither declared nor automatic.
func (o *makers) madeBy(key model.Key) string {
	at, found := subjectAt(o.subjects, key)
	if !found || o.subjects[at].Live == nil {
		return ""
	}
	o.resolve(at)
	maker := &o.subjects[at]
	if !declares(maker.Claims) && maker.SystemOwned == "" {
		return ""
	}
	_, kind, _ := strings.Cut(key.Kind, "/")
	kind, _, _ = strings.Cut(kind, ".")
	return "made by " + kind + " " + maker.Name
}
