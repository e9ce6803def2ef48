package daemon

import (
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/links"
	"github.com/driftd/driftd/internal/model"
)

// link sets the links of findings. A resource that was not read has no page.
func (v view) link(findings []model.Finding) {
	for i := range findings {
		f := &findings[i]
		f.Links = nil
		if address := v.live(f); address != "" {
			f.Links = append(f.Links, model.Link{To: model.LinkLive, URL: address})
		}
		if address := v.declaredAt(f); address != "" {
			f.Links = append(f.Links, model.Link{To: model.LinkDeclared, URL: address})
		}
	}
}

// live returns the address of the page of a finding's live resource, or "".
func (v view) live(f *model.Finding) string {
	for i := range v.sources {
		s, ref := &v.sources[i], model.Ref{Kind: f.Kind, ID: f.Key.ID}
		if l, ok := s.Collector.(collectors.Linker); ok && s.Name == f.Source && s.err == nil && s.snapshot.Has(ref) {
			return l.Link(ref)
		}
	}
	return ""
}

// declaredAt returns the address of the position at which a finding's resource is declared, or
// "".
func (v view) declaredAt(f *model.Finding) string {
	for i := range v.declarations {
		if d := &v.declarations[i]; d.Name == f.Declaration {
			return links.Commit(d.declaration.Repository, d.declaration.Revision, f.Address)
		}
	}
	return ""
}
