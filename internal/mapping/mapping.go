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

// Tables contains compiled mapping tables. It is immutable and safe for concurrent use.
type Tables struct {
	// builtIn returns, for each provider, the types of the built-in files that have types of it.
	builtIn map[string]func() map[typeKey]*Type
	// own has the types of other files. They replace built-in ones.
	own map[typeKey]*Type
}

// A typeKey identifies a type: provider is "namespace/type" in lower case.
type typeKey struct{ provider, name string }

// Find returns the mapping of a resource type of a provider. The provider is a source address, such
// as "registry.terraform.io/bpg/proxmox". Find ignores its host, since a mirror serves the same
// provider from another host.
func (t *Tables) Find(provider, typ string) (*Type, bool) {
	return t.find(typeKey{providerName(provider), typ})
}

func (t *Tables) find(key typeKey) (*Type, bool) {
	if found, ok := t.own[key]; ok {
		return found, true
	}
	if compiled, ok := t.builtIn[key.provider]; ok {
		found, ok := compiled()[key]
		return found, ok
	}
	return nil, false
}

// Types returns every type in the tables once, sorted by provider and name.
func (t *Tables) Types() []*Type {
	return t.typesOf(slices.Sorted(maps.Keys(t.builtIn)))
}

// typesOf returns the own types, and the built-in ones of providers, once, sorted by provider and
// name.
func (t *Tables) typesOf(providers []string) []*Type {
	all := maps.Clone(t.own)
	for _, provider := range providers {
		compiled, ok := t.builtIn[provider]
		if !ok {
			continue
		}
		for key := range compiled() {
			if key.provider == provider {
				all[key], _ = t.find(key)
			}
		}
	}
	types := slices.Collect(maps.Values(all))
	slices.SortFunc(types, func(a, b *Type) int {
		return cmp.Or(cmp.Compare(a.provider, b.provider), cmp.Compare(a.name, b.name))
	})
	// A provider with several names has each type under all of them.
	return slices.Compact(types)
}

// providerName removes the host from a provider's address.
func providerName(address string) string {
	parts := strings.Split(strings.ToLower(address), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// A Type is the mapping of one resource type of a provider.
type Type struct {
	provider, name string
	kind           string
	none           string
	ids            []template
	place, called  template
	// imported is a template of the import ID. Its variables are the ID, place and name of the live
	// resource.
	imported template
	made     *reference
	covers   []cover
	knownBy  []identity
	fills    []fill
	parts    []partType
	replaces []replacement
	// byIdentity reports whether the ID only names the claim. also lists further kinds whose live
	// resources are all expected to be declared if the type has an instance.
	byIdentity bool
	also       []string
	unlisted   unlisted
	// byPlan reports whether the attributes are compared only by a plan. children maps attributes
	// to the kinds of the live resources that their elements are.
	byPlan   bool
	children map[string]string
	stands   []stand
	// logged is the name that a log may contain for the live resource in place of its ID.
	logged template
	// onlyKnown omits attributes that an instance does not have because its version of the provider
	// does not define them.
	onlyKnown bool
	// forms are tried in order; the last one always matches.
	forms []form
	// local contains patterns of attributes without a live side.
	local []string
	// like is the name of the type in the table of which this one is an alias, or its own name.
	like string
}

// An unlisted marks the instances in which an attribute is set: the source does not list their live
// resources, for a reason. The attribute is "" if there are none.
type unlisted struct{ onlyIf, reason string }

// A form is the structure of instances that some versions of the provider write, or one of
// several alternatives. It matches instances that have the attribute with, in which the
// attribute using is set, and that have the given values.
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

// lens returns the lens of the matching form.
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
	// name is the name of the resource where an instance has no id.
	name template
}

// A cover is a further resource that a claim includes; with each, one for every element of
// that attribute.
type cover struct {
	reference

	// each names an attribute; every element of it is a cover. onlyIf names one that must be
	// set.
	each, onlyIf string
}

// Provider returns the provider without its host, such as "bpg/proxmox". If the provider has
// several names, it returns the first one.
func (t *Type) Provider() string { return t.provider }

// Name returns the name of the resource type, such as "proxmox_vm".
func (t *Type) Name() string { return t.name }

// Like returns the name of the type in the table. It differs from Name if the provider has several
// names for the type.
func (t *Type) Like() string { return t.like }

// Kind returns the kind of the live resource, or "" if the type has no live side.
func (t *Type) Kind() string { return t.kind }

// Also returns the further kinds whose live resources are all expected to be declared if the type
// has an instance.
func (t *Type) Also() []string { return t.also }

// ComparedByPlan reports whether the table defines only the identity of the live resource, so that
// its attributes are compared by a plan of the provider.
func (t *Type) ComparedByPlan() bool { return t.byPlan }

// Children maps attributes to the kinds of the live resources that their elements are. The caller
// must not modify the map.
func (t *Type) Children() map[string]string { return t.children }

// NoLiveSide reports in ok whether the type has no live side, and returns the reason.
func (t *Type) NoLiveSide() (reason string, ok bool) { return t.none, t.none != "" }

// A Mapped is one instance of a type, as a claim on a live resource.
type Mapped struct {
	// Kind, ID, Place and Name are those of the claimed live resource.
	Kind, ID, Place, Name string
	// Value contains the attributes of the lens in the form in which they are compared. It omits
	// attributes that are not set.
	Value model.Value
	// Lens converts the live resource to the same attributes. The instances of a type share it,
	// except those with secrets and those whose values change how the live side is read. For a type
	// that is compared by a plan, Value is null and Lens is nil.
	Lens model.Lens
	// Identities lists further identities of the claimed resource in the form of its collector, the
	// most reliable first.
	Identities []model.Identity
	// ByIdentity reports whether ID only names the claim.
	ByIdentity bool
	// Doubt is the reason why the source does not list the claimed resource; "" if it does.
	Doubt string
	// Fillings lists the values that the instance adds to claims on other resources.
	Fillings []Filling
	// Replaces lists the attributes that the provider cannot change in place.
	Replaces []model.Replacement
	// Covers lists the other resources that the instance includes.
	Covers []model.Ref
	// LogNames lists further names of the claimed resource in the log of its source.
	LogNames []string
	// Template is the resource from which the claimed one was created; zero if there is none.
	Template model.Ref
	// TemplateName is the name of that resource if Template is not known; "" otherwise.
	TemplateName string
}

// Claim returns the claim of an instance with the attributes. It returns an error if the type has
// no live side, or if an attribute in the ID is secret or not set. The sealer must be the one that
// sealed the attributes and the live side.
func (t *Type) Claim(attributes model.Value, sealer model.Sealer) (Mapped, error) {
	if t.none != "" {
		return Mapped{}, fmt.Errorf("claim %s: it has no live side: %s", t.name, t.none)
	}
	m := Mapped{Kind: t.kind, ByIdentity: t.byIdentity}
	var err error
	if m.ID, err = t.id(attributes); err != nil {
		return Mapped{}, fmt.Errorf("find the live resource of %s: %w; refresh the state, or map the type anew", t.name, err)
	}
	if u := t.unlisted; u.onlyIf != "" && !attributes.At(u.onlyIf).IsEmpty() {
		m.Doubt = u.reason
	}
	// The place or the name is unknown if the instance does not set it.
	m.Place = t.place.text(attributes)
	m.Name = cmp.Or(t.called.text(attributes), m.ID)
	if !t.byPlan {
		m.Value = t.Declared(attributes, sealer)
		m.Lens = newClaimLens(t.lens(attributes), t.onlyKnown, attributes, m.Value, sealer)
	}
	m.Covers, m.Identities, m.Fillings, m.LogNames = t.covered(attributes), t.identities(attributes), t.fillings(attributes), t.logNames(attributes)
	m.Replaces = t.replaced(attributes)
	if t.made != nil {
		if id := t.made.id.text(attributes); id != "" {
			m.Template = model.Ref{Kind: t.made.kind, ID: id}
		} else {
			m.TemplateName = t.made.name.text(attributes)
		}
	}
	return m, nil
}

// Declared returns the attributes of the lens in the form of Mapped.Value.
func (t *Type) Declared(attributes model.Value, sealer model.Sealer) model.Value {
	d := declaration{sealer, t.onlyKnown}
	v := model.MapOf(d.fields(t.lens(attributes).attributes, attributes)...)
	// All elements of a list are sealed the same way: see claimLens.
	return sealer.SealLike(v, v)
}

// id returns the first of the type's ids that can be expanded.
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

// elementsAt returns the elements of an attribute, or one null element if each is "".
func elementsAt(attributes model.Value, each string) []model.Value {
	if each == "" {
		return []model.Value{{}}
	}
	return attributes.At(each).Items()
}

// text expands the template, or returns "" if an attribute is not set.
func (t template) text(attributes model.Value) string {
	text, err := t.expand(attributes, model.Value{})
	if err != nil {
		return ""
	}
	return text
}

// Unmapped returns the names of the attributes that are set and that the table of the type neither
// compares nor lists as having no live side, sorted.
func (t *Type) Unmapped(attributes model.Value) []string {
	if t.none != "" || t.byPlan {
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

// matchesAny reports whether a name matches one of the patterns.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, err := path.Match(pattern, name)
		return err == nil && matched
	})
}
