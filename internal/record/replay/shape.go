package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/model"
)

// Rate returns the severity of a resource that no declaration manages, and why.
func Rate(s *model.Snapshot, r *model.Resource) (severity, reason string) {
	subject := &model.Subject{Key: r.Key, Kind: s.Kinds[r.Kind], Live: r}
	f := classify.Findings(classify.Input{Judged: []model.Judged{{Subject: subject, Outcomes: []model.Outcome{{Verdict: model.Unmanaged}}}}}).Current[0]
	return string(f.Severity), f.Reason
}

// Shape returns what a system and its recording have in common, sorted: of each resource the
// kind, the fields, whether it is usual, how it is rated and what it belongs to; and whether
// each kind was read. isPlace reports whether a place is not the name of something.
func Shape(s *model.Snapshot, isPlace func(string) bool) []string {
	place := func(name string) string {
		if name == "" || isPlace(name) {
			return name
		}
		return "a place"
	}
	var all []string
	for i := range s.Resources {
		r := &s.Resources[i]
		rating := "usual"
		if r.SystemOwned == "" {
			severity, reason := Rate(s, r)
			// The reason may name what the resource contains.
			reason, _, _ = strings.Cut(reason, ":")
			rating = severity + ", " + reason
		}
		var fields []string
		for _, f := range r.Value.Fields() {
			fields = append(fields, f.Name)
		}
		all = append(all, fmt.Sprintf("%s in %s, %s, part of %s, made by %d, known by %d, created %t: %s",
			r.Kind, place(r.Place), rating, r.Parent.Kind, len(r.Makers), len(r.Identities), !r.Created.IsZero(), strings.Join(fields, " ")))
	}
	for _, c := range s.Coverage {
		if !c.Skipped {
			all = append(all, fmt.Sprintf("%s in %s: read %t", c.Kind, place(c.Place), c.Complete))
		}
	}
	slices.Sort(all)
	return all
}
