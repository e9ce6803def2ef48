package terraform

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// An object is one instance of a managed resource, from either engine.
type object struct {
	// id is the address. If several states are read, the location of the state precedes it.
	id, address string
	typ, name   string
	// provider is the source address of the provider. configuration selects one of its
	// configurations: "proxmox" or "proxmox.west".
	provider, configuration string
	declared, recorded      *model.Value
	// recordOnly is set if the declared value was not read.
	recordOnly         bool
	pending, unchecked string
	// replaces and replaced are those of model.ClaimApply, from the plan.
	replaces []model.Replacement
	replaced bool
	// destroyed and imported are those of model.ClaimApply.
	destroyed, imported bool
	// ignored are the attributes that no apply changes back because of ignore_changes.
	ignored syntax.Ignored
	// planned is the instance of a plan; nil if only a state was read.
	planned *plan.Instance
}

// configured returns the name of a provider configuration as in Config.Providers.
func configured(provider, alias string) string {
	if alias == "" {
		return provider
	}
	return provider + "." + alias
}

// isPlanned reports whether a plan has the declared and the live value of the object.
func (o *object) isPlanned() bool { return o.planned != nil && o.unchecked == "" && !o.recordOnly }

// attributes returns the attributes that identify the live resource: the recorded ones, otherwise
// the declared ones.
func (o *object) attributes() model.Value {
	switch {
	case o.recorded != nil:
		return *o.recorded
	case o.declared != nil:
		return *o.declared
	}
	return model.Value{}
}

// A translator converts objects to claims and counts the outcomes.
type translator struct {
	env    declared.Env
	tables *mapping.Tables
	// providers maps a provider configuration to its source.
	providers map[string]string
	claims    []model.Claim
	tally     model.Tally
	// fillings are values that instances add to claims on other resources, by the IDs or identities
	// of those resources.
	fillings map[model.Key][]filling
	// expected are kinds whose live resources must all be declared: those of the mapped claims, and
	// those that their tables add.
	expected []string
	// includes are those of the declaration.
	includes []model.Included
	// planned is when the plan ended; zero for states.
	planned time.Time
	// problems are objects that may be in a governed source and whose live resource cannot be
	// determined. They prevent unmanaged findings.
	problems []model.Problem
}

func newTranslator(env declared.Env, tables *mapping.Tables, providers map[string]string) *translator {
	return &translator{env: env, tables: tables, providers: providers, tally: model.Tally{Unmapped: map[string]int{}},
		fillings: map[model.Key][]filling{}}
}

// A filling is a value that the instance at address by adds to other claims.
type filling struct {
	mapping.Filling

	by string
}

var (
	// errUnmapped means that no mapping table has a type, errNoLiveSide that a type has no live
	// counterpart, and errNoSource that no governed source has its kind.
	errUnmapped   = errors.New("no mapping table for type")
	errNoLiveSide = errors.New("no live side")
	errNoSource   = errors.New("no governed source has type")
	// errSeveral means that an object stands for several live resources: the plan's own provider
	// reads it.
	errSeveral = errors.New("several live resources")
)

// hasNoSource reports whether an error of add means that no governed source can have the object.
func hasNoSource(err error) bool {
	return errors.Is(err, errUnmapped) || errors.Is(err, errNoLiveSide) || errors.Is(err, errNoSource) || errors.Is(err, errSeveral)
}

// add adds the claim of an object on its live resource. It returns an error if no governed source
// has that resource; the plan's own provider may still read it.
func (t *translator) add(o *object) error {
	typ, known := t.tables.Find(o.provider, o.typ)
	if !known {
		return fmt.Errorf("%w %s: to write one, see docs/mapping.md", errUnmapped, o.typ)
	}
	if reason, none := typ.NoLiveSide(); none {
		return fmt.Errorf("%w: %s", errNoLiveSide, reason)
	}
	source, err := t.source(typ.Kind(), o.configuration)
	if err != nil {
		return err
	}
	mapped, err := typ.Claim(o.attributes(), t.env.Sealer)
	if err != nil || !o.isPlanned() {
		t.addIncluded(o, typ, source)
	}
	if err != nil && typ.StandsFor(o.attributes()) != nil {
		t.expected = append(t.expected, typ.Also()...)
		return errSeveral
	}
	if err != nil {
		return err
	}
	t.count(o.unchecked == "")
	t.claims = append(t.claims, t.claim(o, typ, mapped, source))
	t.expected = append(t.expected, typ.Also()...)
	if err := t.addParts(o, typ, source); err != nil {
		return err
	}
	if o.unchecked != "" { // The value may be outdated.
		return nil
	}
	for _, f := range mapped.Fillings {
		key := model.Key{Source: source, Kind: f.Ref.Kind, ID: f.Ref.ID}
		t.fillings[key] = append(t.fillings[key], filling{f, o.address})
	}
	return nil
}

// addIncluded adds the resources that an object stands for without a claim on each of them.
func (t *translator) addIncluded(o *object, typ *mapping.Type, source string) {
	for _, in := range typ.StandsFor(o.attributes()) {
		in.Source = source
		t.expected, t.includes = append(t.expected, in.Kind), append(t.includes, in)
	}
}

// addParts adds the claims of an object on further live resources, in addition to that of its own
// type.
func (t *translator) addParts(o *object, typ *mapping.Type, source string) error {
	for _, part := range t.tables.Parts(typ, o.attributes()) {
		mapped, err := part.Claim(o.attributes(), t.env.Sealer)
		if err != nil {
			return err
		}
		t.count(o.unchecked == "")
		t.claims = append(t.claims, t.claim(o, part, mapped, source))
	}
	return nil
}

// count counts an object as compared or unchecked.
func (t *translator) count(compared bool) {
	t.tally.Resources++
	if compared {
		t.tally.Compared++
	} else {
		t.tally.Unchecked++
	}
}

// addProblem adds a problem for an object that add rejected, if a governed source may have the
// object.
func (t *translator) addProblem(o *object, err error) {
	if !hasNoSource(err) {
		t.problems = append(t.problems, model.Problem{Address: o.id, Reason: err.Error()})
	}
}

// claim returns the claim of an object on the live resource that it is mapped to.
func (t *translator) claim(o *object, typ *mapping.Type, mapped mapping.Mapped, source string) model.Claim {
	t.expected = append(t.expected, mapped.Kind)
	c := model.Claim{Declaration: t.env.Name, Source: source, Address: o.address, Kind: mapped.Kind, ID: mapped.ID,
		Place: mapped.Place, Name: mapped.Name, Lens: mapped.Lens, Value: mapped.Value, Complete: true,
		RecordOnly: o.recordOnly, Template: mapped.Template, TemplateName: mapped.TemplateName, Unchecked: o.unchecked,
		ClaimMatching: model.ClaimMatching{Identities: mapped.Identities, ByIdentity: mapped.ByIdentity, Doubt: mapped.Doubt, Covers: mapped.Covers, LogNames: mapped.LogNames},
		ClaimApply:    model.ClaimApply{Pending: o.pending, Replaces: o.replaces, Replaced: o.replaced, Destroyed: o.destroyed, Imported: o.imported}}
	if o.isPlanned() {
		c.Causes, c.Unenforced = o.planned.Causes, o.planned.Unset
	}
	if typ.ComparedByPlan() {
		t.addPlanned(&c, o, typ)
		return c
	}
	if o.recordOnly {
		c.Replaces = mapped.Replaces
	}
	if o.recorded != nil && !o.recordOnly {
		c.Recorded = &mapped.Value
		c.Value = model.Value{}
		if o.declared != nil {
			c.Value = typ.Declared(*o.declared, t.env.Sealer)
		}
	}
	exemptIgnored(&c, o.attributes(), o.ignored)
	return c
}

// addPlanned adds what a plan read to the claim of a type that only a plan compares. Without a plan,
// only the existence of the resource is compared.
func (t *translator) addPlanned(c *model.Claim, o *object, typ *mapping.Type) {
	fields := slices.Sorted(maps.Keys(typ.Children()))
	if !o.isPlanned() {
		c.Value, c.RecordOnly, c.LiveRead = model.MapOf(), true, &model.LiveRead{Value: model.MapOf()}
		if o.unchecked == "" {
			t.tally.ExistenceOnly++
		}
		// The attribute of a state may be a copy of other resources.
		for _, field := range fields {
			if !o.attributes().At(field).IsEmpty() && typ.StandsFor(o.attributes()) == nil {
				c.CoversChildren = append(c.CoversChildren, typ.Children()[field])
			}
		}
		return
	}
	i := o.planned
	c.Value, c.Recorded = valueOf(i.Declared), i.Recorded
	c.LiveRead = &model.LiveRead{Value: valueOf(i.Live), Schema: i.Schema, At: t.planned}
	for _, field := range fields {
		if i.Form.Writes(field) {
			c.CoversChildren = append(c.CoversChildren, typ.Children()[field])
		} else {
			c.Children = append(c.Children, model.Children{Field: field, Kind: typ.Children()[field]})
		}
	}
}

// valueOf returns a value, or null for nil.
func valueOf(v *model.Value) model.Value {
	if v == nil {
		return model.Value{}
	}
	return *v
}

// addUnchecked adds the claim of an object that cannot be compared.
func (t *translator) addUnchecked(o *object, reason string) {
	t.count(false)
	t.claims = append(t.claims, t.unlinked(o, reason))
}

// addUnmapped adds the claim of an object whose type no mapping table has.
func (t *translator) addUnmapped(o *object, reason string) {
	t.tally.Resources++
	t.tally.Unmapped[o.typ]++
	t.claims = append(t.claims, t.unlinked(o, reason))
}

// unlinked returns a claim that has no live resource.
func (t *translator) unlinked(o *object, reason string) model.Claim {
	source := model.LiveSource(t.env.Name)
	if len(t.env.Governs) > 0 {
		source = t.env.Governs[0]
	}
	return model.Claim{Declaration: t.env.Name, Source: source, Address: o.address, Kind: plan.KindOf(o.typ), ID: o.id,
		Name: o.name, Unchecked: reason}
}

// source returns the governed source that has a kind.
func (t *translator) source(kind, configuration string) (string, error) {
	typ, _, _ := strings.Cut(kind, "/")
	provider, _, _ := strings.Cut(configuration, ".")
	if name := cmp.Or(t.providers[configuration], t.providers[provider]); name != "" {
		return name, nil
	}
	fits := slices.DeleteFunc(slices.Clone(t.env.Governs), func(s string) bool { return t.env.Types[s] != typ })
	switch len(fits) {
	case 0:
		return "", fmt.Errorf("%w %s: add a source of this type to governs", errNoSource, typ)
	case 1:
		return fits[0], nil
	}
	return "", fmt.Errorf("several sources of type %s are governed (%s): set under providers which of them %s manages",
		typ, strings.Join(fits, ", "), configuration)
}

// scopes returns the kinds whose live resources must all be declared: the named ones, or by default
// all kinds with a claim and the kinds that their tables add.
func (t *translator) scopes(named []string) []model.Scope {
	kinds := slices.Clone(t.expected)
	if named != nil {
		kinds = slices.Clone(named)
	}
	slices.Sort(kinds)
	var scopes []model.Scope
	for _, kind := range slices.Compact(kinds) {
		scopes = append(scopes, model.Scope{Kind: kind})
	}
	return scopes
}

// fillingsOf returns the fillings of a claim: those whose intermediate resource is claimed, and those
// of other instances without an intermediate resource.
func (t *translator) fillingsOf(c *model.Claim, claimed map[model.Key]bool) []mapping.Filling {
	ids := []string{c.ID}
	for _, known := range c.Identities {
		ids = append(ids, known.Value)
	}
	var put []mapping.Filling
	for _, id := range ids {
		for _, f := range t.fillings[keyOf(c, id)] {
			through := model.Key{Source: c.Source, Kind: f.Through.Kind, ID: f.Through.ID}
			if claimed[through] || f.Through.Kind == "" && f.by != c.Address {
				put = append(put, f.Filling)
			}
		}
	}
	return put
}

// keyOf returns the key of a claim's resource with another ID.
func keyOf(c *model.Claim, id string) model.Key {
	return model.Key{Source: c.Source, Kind: c.Kind, ID: id}
}

// sorted settles the claims and returns them sorted.
func (t *translator) sorted() []model.Claim {
	claimed := make(map[model.Key]bool, len(t.claims))
	for i := range t.claims {
		claimed[keyOf(&t.claims[i], t.claims[i].ID)] = true
	}
	for i := range t.claims {
		mapping.Settle(&t.claims[i], t.fillingsOf(&t.claims[i], claimed))
	}
	slices.SortFunc(t.claims, func(a, b model.Claim) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Address, b.Address))
	})
	return t.claims
}
