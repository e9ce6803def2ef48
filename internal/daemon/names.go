package daemon

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
)

// name sets the names of the objects to which changed fields refer, as the snapshot of the finding's source has them. Findings
// of a source that was not read keep the names that they have.
func (v view) name(findings []model.Finding) {
	namers := make(map[string]*namer, len(v.sources))
	for i := range v.sources {
		if s := &v.sources[i]; s.err == nil {
			namers[s.Name] = &namer{&s.snapshot, v.declarations}
		}
	}
	for i := range findings {
		f := &findings[i]
		if n := namers[f.Source]; n != nil {
			n.name(f)
		}
	}
}

// A namer names the objects of one snapshot.
type namer struct {
	snapshot     *model.Snapshot
	declarations []declarationView
}

// name sets the names in the changes of a finding. It does not modify changes that are shared with
// an earlier finding.
func (n *namer) name(f *model.Finding) {
	kind := n.snapshot.Kinds[f.Kind]
	if kind == nil {
		return
	}
	refers := func(c *model.Change) bool { return reference(kind.Schema, cmp.Or(c.LivePath, c.Path)).Kind != "" }
	if !slices.ContainsFunc(f.Changes, func(c model.Change) bool { return refers(&c) }) &&
		!slices.ContainsFunc(f.Ignored, func(c model.IgnoredChange) bool { return refers(&c.Change) }) {
		return
	}
	f.Changes, f.Ignored = slices.Clone(f.Changes), slices.Clone(f.Ignored)
	for i := range f.Changes {
		f.Changes[i].Names = n.names(f, kind, &f.Changes[i])
	}
	for i := range f.Ignored {
		f.Ignored[i].Names = n.names(f, kind, &f.Ignored[i].Change)
	}
}

// names returns Change.Names. It omits an ID that is of one kind on one side, and of another or an
// unknown kind on the other.
func (n *namer) names(f *model.Finding, kind *model.Kind, c *model.Change) map[string]string {
	field := cmp.Or(c.LivePath, c.Path)
	to := reference(kind.Schema, field)
	if to.Kind == "" || c.Secret {
		return nil
	}
	kinds := map[string]string{}
	for _, s := range sidesOf(f, c) {
		of := n.kindOf(f, to, field, s)
		for _, id := range s.value.IDs() {
			if known, ok := kinds[id]; ok && known != of {
				kinds[id] = ""
			} else {
				kinds[id] = of
			}
		}
	}
	names := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(kinds)) {
		if name, known := n.nameOf(model.Ref{Kind: kinds[id], ID: id}); known && len(names) < model.MaxNames {
			names[id] = name
		}
	}
	if len(names) == 0 {
		return nil
	}
	return names
}

// reference returns the reference at a path of the live resource.
func reference(s *model.Schema, path string) model.Reference {
	steps, ok := fieldpath.Parse(path)
	if !ok {
		return model.Reference{}
	}
	var to model.Reference
	for _, step := range steps {
		if step.Kind == fieldpath.Field {
			s, to = s.Field(step.Name), model.Reference{}
		} else {
			s = s.Element()
		}
		if s != nil && s.Refers.Kind != "" {
			to = s.Refers
		}
	}
	return to
}

// A side is one value of a change. declaration, address and path are those of the claim; the live
// side has none.
type side struct {
	value                      *model.Value
	declaration, address, path string
}

// sidesOf returns the sides of a change that have a value.
func sidesOf(f *model.Finding, c *model.Change) []side {
	all := []side{{value: c.Live}, {value: c.Running}, {c.Declared, f.Declaration, f.Address, c.Path}, {c.Recorded, f.Declaration, f.Address, c.Path}}
	for i := range c.Claims {
		claimed := &c.Claims[i]
		all = append(all, side{&claimed.Value, claimed.Declaration, claimed.Address, cmp.Or(claimed.Path, c.Path)})
	}
	return slices.DeleteFunc(all, func(s side) bool { return s.value == nil })
}

// kindOf returns the kind of the objects to which a side refers; "" if unknown.
func (n *namer) kindOf(f *model.Finding, to model.Reference, field string, s side) string {
	if to.KindField == "" {
		return to.Kind
	}
	if s.declaration == "" {
		if live := n.snapshot.Find(model.Ref{Kind: f.Kind, ID: f.Key.ID}); live != nil {
			return to.Kind + live.Value.At(to.KindField).Str()
		}
		return ""
	}
	claim := n.claim(s, f.Kind)
	switch {
	case claim == nil:
		return ""
	case claim.Lens == nil:
		return to.Kind + claim.Value.At(to.KindField).Str()
	}
	return n.onlyKind(claim.Lens, to, field, s.path)
}

// claim returns the claim of a side, or nil.
func (n *namer) claim(s side, kind string) *model.Claim {
	for i := range n.declarations {
		if n.declarations[i].Name != s.declaration {
			continue
		}
		claims := n.declarations[i].declaration.Claims
		if at := slices.IndexFunc(claims, func(c model.Claim) bool { return c.Address == s.address && c.Kind == kind }); at >= 0 {
			return &claims[at]
		}
	}
	return nil
}

// onlyKind returns the kind of the objects to which an attribute of a declaration refers, if it refers to one kind only, as the
// attribute site_id for the field scope_id does. It returns "" for other attributes.
func (n *namer) onlyKind(lens model.Lens, to model.Reference, field, path string) string {
	only := ""
	for kind := range n.snapshot.Kinds {
		rest, ok := strings.CutPrefix(kind, to.Kind)
		live := model.MapOf(model.Field{Name: field, Value: model.IntOf(1)}, model.Field{Name: to.KindField, Value: model.StringOf(rest)})
		if ok && !lens.View(live).At(path).IsNull() {
			if only != "" {
				return ""
			}
			only = kind
		}
	}
	return only
}

// nameOf returns the name of an object, "" if there is none. It is not known if the object has no name or may exist without
// having been read.
func (n *namer) nameOf(ref model.Ref) (name string, known bool) {
	kind := n.snapshot.Kinds[ref.Kind]
	if kind == nil {
		return "", false
	}
	if r := n.snapshot.Find(ref); r != nil {
		return bounded(r.Name), r.Name != ""
	}
	if at := slices.IndexFunc(n.snapshot.Unread, func(u model.Unread) bool { return u.Ref == ref }); at >= 0 {
		return bounded(n.snapshot.Unread[at].Name), n.snapshot.Unread[at].Name != ""
	}
	complete, _ := n.snapshot.Covers(ref.Kind, "")
	return "", complete && !kind.Namespaced && n.snapshot.StaleIn(ref.Kind, "") == ""
}

// bounded returns a name cut to model.MaxName characters.
func bounded(name string) string {
	if runes := []rune(name); len(runes) > model.MaxName {
		return string(runes[:model.MaxName-1]) + "…"
	}
	return name
}
