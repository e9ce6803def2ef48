package daemon

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/links"
	"github.com/driftd/driftd/internal/model"
)

// link sets the links of findings, and of the claims on disputed fields. A missing resource has no
// page. Links to resources and declarations that could not be read remain as they were. The link to
// the declaration of a finding that did not change remains, too, since otherwise each commit would
// change all findings.
func (v view) link(findings, earlier []model.Finding) {
	known := make(map[string]*model.Finding, len(earlier))
	for i := range earlier {
		known[earlier[i].ID] = &earlier[i]
	}
	l := linker{make(map[string]*sourceView, len(v.sources)), make(map[string]*declarationView, len(v.declarations))}
	for i := range v.sources {
		l.sources[v.sources[i].Name] = &v.sources[i]
	}
	for i := range v.declarations {
		l.declarations[v.declarations[i].Name] = &v.declarations[i]
	}
	for i := range findings {
		f := &findings[i]
		before := known[f.ID]
		if before == nil {
			before = &model.Finding{}
		}
		l.finding(f, before)
		l.claims(f, before)
	}
}

// A linker returns the addresses of web pages of sources and declarations, by their names.
type linker struct {
	sources      map[string]*sourceView
	declarations map[string]*declarationView
}

// finding sets the links of a finding.
func (l linker) finding(f, before *model.Finding) {
	f.Links = nil
	live := l.sources[f.Source].page(model.Ref{Kind: f.Kind, ID: f.Key.ID}, f.Name, f.Place, before.Link(model.LinkLive))
	was := claimPage{before.Declaration, before.Address, before.DeclaredAt(), before.Link(model.LinkDeclared)}
	declared := l.declared(claimPage{f.Declaration, f.Address, f.DeclaredAt(), ""}, was, before.Basis == f.Basis)
	for _, link := range []model.Link{{To: model.LinkLive, URL: live}, {To: model.LinkDeclared, URL: declared}} {
		if link.URL != "" {
			f.Links = append(f.Links, link)
		}
	}
}

// claims sets the links of the claims on disputed fields.
func (l linker) claims(f, before *model.Finding) {
	for i := range f.Changes {
		c := &f.Changes[i]
		c.Claims = slices.Clone(c.Claims)
		for k := range c.Claims {
			claim := &c.Claims[k]
			claim.URL = l.declared(pageOf(claim), earlierClaim(before, c.Path, claim), before.Basis == f.Basis)
		}
	}
}

// A claimPage is the address of the web page of a claim, with the values from which it is derived.
type claimPage struct{ declaration, address, position, url string }

func pageOf(c *model.ClaimedValue) claimPage {
	return claimPage{c.Declaration, c.Address, c.DeclaredAt(), c.URL}
}

// earlierClaim returns the page of the claim of the same declaration on a field of an earlier finding.
func earlierClaim(before *model.Finding, path string, of *model.ClaimedValue) claimPage {
	for i := range before.Changes {
		for k := range before.Changes[i].Claims {
			c := &before.Changes[i].Claims[k]
			if before.Changes[i].Path == path && c.Declaration == of.Declaration && c.Address == of.Address {
				return pageOf(c)
			}
		}
	}
	return claimPage{}
}

// declared returns the address of the page of a claim, or "". was is its page in the earlier
// finding. same reports whether the values of the finding have not changed since.
func (l linker) declared(c, was claimPage, same bool) string {
	d := l.declarations[c.declaration]
	if d == nil {
		return ""
	}
	if d.Deriver != nil {
		if ref, ok := d.Deriver.Object(c.address); ok {
			return l.sources[d.Deriver.From()].page(ref, "", "", was.url)
		}
		return ""
	}
	address := links.Commit(d.declaration.Repository, d.declaration.Revision, c.position, d.Page)
	if was.position == c.position && (d.err != nil || same && links.SamePosition(was.url, address)) {
		return was.url
	}
	return address
}

// page returns the address of the page of an object, or "". was is the address in the earlier
// finding.
func (s *sourceView) page(ref model.Ref, name, place, was string) string {
	switch {
	case s == nil:
		return ""
	case s.err != nil:
		return was
	case !s.snapshot.Has(ref):
		return ""
	}
	if p := slices.IndexFunc(s.Pages, func(p Page) bool { return model.Glob(p.Kind, ref.Kind) }); p >= 0 {
		_, kind, _ := strings.Cut(ref.Kind, "/")
		return s.Pages[p].Fill(map[string]string{links.ID: ref.ID, links.Kind: kind, links.Name: name, links.Namespace: place})
	}
	if l, ok := s.Collector.(collectors.Linker); ok {
		return l.Link(ref)
	}
	return ""
}
