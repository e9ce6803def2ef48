package daemon

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/links"
	"github.com/driftd/driftd/internal/model"
)

// link sets the links of findings, and of the claims on disputed fields. A resource that is not there has no page. Links to
// what could not be read stay as they were. So does the link to the declaration of a finding that did not change, although
// the branch has a newer commit: each commit would change all findings otherwise.
func (v view) link(findings, earlier []model.Finding) {
	known := make(map[string]*model.Finding, len(earlier))
	for i := range earlier {
		known[earlier[i].ID] = &earlier[i]
	}
	sources, declarations := make(map[string]*sourceView, len(v.sources)), make(map[string]*declarationView, len(v.declarations))
	for i := range v.sources {
		sources[v.sources[i].Name] = &v.sources[i]
	}
	for i := range v.declarations {
		declarations[v.declarations[i].Name] = &v.declarations[i]
	}
	for i := range findings {
		f := &findings[i]
		before := known[f.ID]
		if before == nil {
			before = &model.Finding{}
		}
		f.Links = nil
		for _, l := range []model.Link{{To: model.LinkLive, URL: sources[f.Source].page(f, before)}, {To: model.LinkDeclared, URL: declarations[f.Declaration].page(f.DeclaredAt(), before.DeclaredAt(), before.Link(model.LinkDeclared), before.Basis == f.Basis)}} {
			if l.URL != "" {
				f.Links = append(f.Links, l)
			}
		}
		linkClaims(f, before, declarations)
	}
}

// page returns the address of the page of a finding's live resource, or "".
func (s *sourceView) page(f, before *model.Finding) string {
	ref := model.Ref{Kind: f.Kind, ID: f.Key.ID}
	switch {
	case s == nil:
		return ""
	case s.err != nil:
		return before.Link(model.LinkLive)
	case !s.snapshot.Has(ref):
		return ""
	}
	if p := slices.IndexFunc(s.Pages, func(p Page) bool { return model.Glob(p.Kind, f.Kind) }); p >= 0 {
		_, kind, _ := strings.Cut(f.Kind, "/")
		return s.Pages[p].Fill(map[string]string{links.ID: ref.ID, links.Kind: kind, links.Name: f.Name, links.Namespace: f.Place})
	}
	if l, ok := s.Collector.(collectors.Linker); ok {
		return l.Link(ref)
	}
	return ""
}

// linkClaims sets the links of the claims on disputed fields.
func linkClaims(f, before *model.Finding, declarations map[string]*declarationView) {
	for i := range f.Changes {
		c := &f.Changes[i]
		c.Claims = slices.Clone(c.Claims)
		for k := range c.Claims {
			claim := &c.Claims[k]
			earlier := earlierClaim(before, c.Path, claim)
			claim.URL = declarations[claim.Declaration].page(claim.DeclaredAt(), earlier.DeclaredAt(), earlier.URL, before.Basis == f.Basis)
		}
	}
}

// earlierClaim returns the claim of the same declaration in an earlier finding.
func earlierClaim(before *model.Finding, path string, of *model.ClaimedValue) model.ClaimedValue {
	for i := range before.Changes {
		for _, c := range before.Changes[i].Claims {
			if before.Changes[i].Path == path && c.Declaration == of.Declaration && c.Address == of.Address {
				return c
			}
		}
	}
	return model.ClaimedValue{}
}

// page returns the address of a position in the declaration, or "". was is that of the position before in the earlier
// finding; same is set if the values of the finding have not changed since.
func (d *declarationView) page(position, before, was string, same bool) string {
	if d == nil {
		return ""
	}
	address := links.Commit(d.declaration.Repository, d.declaration.Revision, position, d.Page)
	if before == position && (d.err != nil || same && links.SamePosition(was, address)) {
		return was
	}
	return address
}
