package mapping

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Tables are the mapping tables, compiled. They are immutable.
type Tables struct{ types map[typeKey]*Type }

// A typeKey names a type: provider is "namespace/type" in lower case.
type typeKey struct{ provider, name string }

// Find returns what is known of a provider's resource type. The provider is a
// source address ("registry.terraform.io/bpg/proxmox"); its host does not
// count, for a mirror serves the same provider under another one.
func (t *Tables) Find(provider, typ string) (*Type, bool) {
	found, ok := t.types[typeKey{providerName(provider), typ}]
	return found, ok
}

// Types returns every type that a table speaks of, sorted by provider and name.
func (t *Tables) Types() []*Type {
	types := slices.Collect(maps.Values(t.types))
	slices.SortFunc(types, func(a, b *Type) int {
		return cmp.Or(cmp.Compare(a.provider, b.provider), cmp.Compare(a.name, b.name))
	})
	// A provider of several names has each type under all of them.
	return slices.Compact(types)
}

// providerName drops the host of a provider's address.
func providerName(address string) string {
	parts := strings.Split(strings.ToLower(address), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// A Type is what the tables say of one resource type of a provider.
type Type struct {
	provider, name string
	kind           string
	none           string
	ids            []template
	place, called  template
	// imported makes the id that the provider imports by, of the live
	// resource's id, place and name.
	imported template
	made     *reference
	covers   []cover
	knownBy  []identity
	fills    []fill
	parts    []partType
	replaces []replacement
	// byIdentity tells that the id is only what a claim is called, also kinds of
	// which everything live is expected to be declared where there is such a type.
	byIdentity bool
	also       []string
	// onlyKnown leaves out attributes that an instance lacks altogether: its
	// version of the provider does not know them.
	onlyKnown bool
	// forms are tried in order; the last one fits always.
	forms []form
	// local are patterns of attributes that have no live side.
	local []string
	// like is the name of the type that this one is another name of, or its
	// own.
	like string
}

// A form is how instances of one type are written by some versions of the
// provider, or in one of several ways: those that have the attribute with, of
// which the attribute using holds something, and that hold what is given.
type form struct {
	with, using string
	given       []condition
	lens        *lens
}

func (f *form) fits(attributes model.Value) bool {
	_, has := attributes.Get(f.with)
	return (has || f.with == "") && (f.using == "" || !attributes.At(f.using).IsEmpty()) &&
		!slices.ContainsFunc(f.given, func(c condition) bool { return !c.holds(attributes) })
}

// lens returns the lens of the form that fits.
func (t *Type) lens(attributes model.Value) *lens {
	for i := range t.forms {
		if t.forms[i].fits(attributes) {
			return t.forms[i].lens
		}
	}
	return nil
}

// A reference is a template of another live resource.
type reference struct {
	kind string
	id   template
}

// A cover is a resource that a claim speaks for beside the one it claims; with
// each, one for every element of that attribute.
type cover struct {
	reference

	// each names an attribute of which every element is one; onlyIf one that
	// must hold something.
	each, onlyIf string
}

// Provider returns the provider without its host, "bpg/proxmox"; the first
// where it has several names.
func (t *Type) Provider() string { return t.provider }

// Name returns the resource type, "proxmox_vm".
func (t *Type) Name() string { return t.name }

// Like returns the name of the type in the table: another one than Name where
// a provider gives one type several names.
func (t *Type) Like() string { return t.like }

// Kind returns the kind of the live resource, or "" without a live side.
func (t *Type) Kind() string { return t.kind }

// Also returns the kinds, beside its own, of which everything live is expected
// to be declared where something of the type is.
func (t *Type) Also() []string { return t.also }

// NoLiveSide tells that nothing live stands for the type, and why.
func (t *Type) NoLiveSide() (reason string, ok bool) { return t.none, t.none != "" }

// Mapped is one instance of a type in terms of the live system.
type Mapped struct {
	// Kind, ID, Place and Name are those of the live resource that it claims.
	Kind, ID, Place, Name string
	// Value holds the attributes that the lens speaks of, in the form in which
	// they are compared; what says nothing is left out.
	Value model.Value
	// Lens shows the live resource in the same words. It is shared by all
	// instances of the type, but for those with secrets, and those in the light
	// of which the live side is read.
	Lens model.Lens
	// Identities are what else the claimed resource is known by, the surest
	// first, as its collector knows it.
	Identities []model.Identity
	// ByIdentity tells that ID is only what the claim is called.
	ByIdentity bool
	// Fillings are what the instance puts into claims on other resources.
	Fillings []Filling
	// Replaces are the attributes that the provider cannot change in place.
	Replaces []model.Replacement
	// Covers are other resources that the instance speaks for.
	Covers []model.Ref
	// Template is the resource that the claimed one was made from, or zero.
	Template model.Ref
}

// Claim says what an instance with these attributes stands for. It fails when
// an attribute that the id is made of holds nothing, or is secret. The sealer
// is the one that sealed the attributes and the live side.
func (t *Type) Claim(attributes model.Value, sealer model.Sealer) (Mapped, error) {
	if t.none != "" {
		return Mapped{}, fmt.Errorf("claim %s: it has no live side: %s", t.name, t.none)
	}
	m := Mapped{Kind: t.kind, ByIdentity: t.byIdentity}
	var err error
	if m.ID, err = t.id(attributes); err != nil {
		return Mapped{}, fmt.Errorf("find the live resource of %s: %w; refresh the state, or map the type anew", t.name, err)
	}
	// A place or a name that the instance does not give is not known.
	m.Place = t.place.text(attributes)
	m.Name = cmp.Or(t.called.text(attributes), m.ID)
	m.Value = t.Declared(attributes, sealer)
	m.Lens = newClaimLens(t.lens(attributes), t.onlyKnown, attributes, m.Value, sealer)
	m.Covers, m.Identities, m.Fillings = t.covered(attributes), t.identities(attributes), t.fillings(attributes)
	m.Replaces = t.replaced(attributes)
	if t.made != nil {
		if id := t.made.id.text(attributes); id != "" {
			m.Template = model.Ref{Kind: t.made.kind, ID: id}
		}
	}
	return m, nil
}

// Declared returns those of the attributes that the lens speaks of, as
// Mapped.Value holds them.
func (t *Type) Declared(attributes model.Value, sealer model.Sealer) model.Value {
	d := declaration{sealer, t.onlyKnown}
	v := model.MapOf(d.fields(t.lens(attributes).attributes, attributes)...)
	// Of the elements of a list all are sealed alike: see claimLens.
	return sealer.SealLike(v, v)
}

// id returns the first of the type's ids for which all is there.
func (t *Type) id(attributes model.Value) (string, error) {
	var missing error
	for _, id := range t.ids {
		text, err := id.expand(attributes, model.Value{})
		if err == nil {
			return text, nil
		}
		missing = cmp.Or(missing, err)
	}
	return "", cmp.Or(missing, errors.New("it has no id"))
}

func (t *Type) covered(attributes model.Value) []model.Ref {
	var refs []model.Ref
	for _, c := range t.covers {
		if c.onlyIf != "" && attributes.At(c.onlyIf).IsEmpty() {
			continue
		}
		for _, element := range elementsAt(attributes, c.each) {
			if id, err := c.id.expand(attributes, element); err == nil {
				refs = append(refs, model.Ref{Kind: c.kind, ID: id})
			}
		}
	}
	return refs
}

// elementsAt returns the elements of an attribute, and one of nothing where none
// is named.
func elementsAt(attributes model.Value, each string) []model.Value {
	if each == "" {
		return []model.Value{{}}
	}
	return attributes.At(each).Items()
}

// text expands the template, or returns "" when an attribute holds nothing.
func (t template) text(attributes model.Value) string {
	text, err := t.expand(attributes, model.Value{})
	if err != nil {
		return ""
	}
	return text
}

// Unmapped returns the attributes that hold something and that the type's
// table neither compares nor declares to have no live side, sorted.
func (t *Type) Unmapped(attributes model.Value) []string {
	if t.none != "" {
		return nil
	}
	var names []string
	mapped := t.lens(attributes).attributes
	for _, f := range attributes.Fields() {
		other := func(a attribute) bool { return a.or == f.Name }
		if f.Value.IsEmpty() || find(mapped, f.Name) != nil || t.isLocal(f.Name) || slices.ContainsFunc(mapped, other) {
			continue
		}
		names = append(names, f.Name)
	}
	return names
}

func (t *Type) isLocal(name string) bool { return matchesAny(t.local, name) }

// matchesAny tells whether a name fits one of some patterns.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, err := path.Match(pattern, name)
		return err == nil && matched
	})
}
