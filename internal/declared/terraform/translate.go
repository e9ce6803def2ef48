package terraform

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// An object is one instance of a managed resource, as either engine reads it.
type object struct {
	// id is the address, after the record's where several are read.
	id, address string
	typ, name   string
	// provider is a source address, configuration what selects one of the
	// provider's configurations: "proxmox" or "proxmox.west".
	provider, configuration string
	declared, recorded      *model.Value
	// recordOnly tells that the declared side was not read.
	recordOnly         bool
	pending, unchecked string
	// replaces and replaced are those of model.Claim, as a plan shows them.
	replaces []model.Replacement
	replaced bool
}

// configured names the configuration of a provider, as Config.Providers does.
func configured(provider, alias string) string {
	if alias == "" {
		return provider
	}
	return provider + "." + alias
}

// attributes are those that say which live resource the object is: as it was
// applied, or else as it is declared.
func (o *object) attributes() model.Value {
	switch {
	case o.recorded != nil:
		return *o.recorded
	case o.declared != nil:
		return *o.declared
	}
	return model.Value{}
}

// A translator makes claims of objects, and counts what becomes of them.
type translator struct {
	env    declared.Env
	tables *mapping.Tables
	// providers names the source of a provider's configuration.
	providers map[string]string
	claims    []model.Claim
	tally     model.Tally
	// fillings are what instances put into claims on other resources, by their ids
	// or identities.
	fillings map[model.Key][]filling
	// also are kinds of which everything live is expected to be declared although
	// nothing of them need be.
	also []string
	// problems are objects of which nobody knows what in a governed source they
	// are: nothing there can be called unmanaged.
	problems []model.Problem
}

func newTranslator(env declared.Env, tables *mapping.Tables, providers map[string]string) *translator {
	return &translator{env: env, tables: tables, providers: providers, tally: model.Tally{Unmapped: map[string]int{}},
		fillings: map[model.Key][]filling{}}
}

// A filling is what the instance at an address puts into other claims.
type filling struct {
	mapping.Filling

	by string
}

var (
	// errUnmapped says that no table speaks of a type, errNoLiveSide that
	// nothing live stands for it, errNoSource that no governed source has such.
	errUnmapped   = errors.New("no mapping table speaks of type")
	errNoLiveSide = errors.New("no live side")
	errNoSource   = errors.New("no source")
)

// nowhere tells, of an error of add, that no governed source can hold the
// object.
func nowhere(err error) bool {
	return errors.Is(err, errUnmapped) || errors.Is(err, errNoLiveSide) || errors.Is(err, errNoSource)
}

// add makes a claim of an object on the live resource that it stands for. It
// makes none, and says why, when no governed source has that; a plan may know
// the live side all the same.
func (t *translator) add(o *object) error {
	typ, known := t.tables.Find(o.provider, o.typ)
	if !known {
		return fmt.Errorf("%w %s; docs/mapping.md says how to write one", errUnmapped, o.typ)
	}
	if reason, none := typ.NoLiveSide(); none {
		return fmt.Errorf("%w: %s", errNoLiveSide, reason)
	}
	source, err := t.source(typ.Kind(), o.configuration)
	if err != nil {
		return err
	}
	mapped, err := typ.Claim(o.attributes(), t.env.Sealer)
	if err != nil {
		return err
	}
	t.count(o.unchecked == "")
	t.claims = append(t.claims, t.claim(o, typ, mapped, source))
	t.also = append(t.also, typ.Also()...)
	if err := t.addParts(o, typ, source); err != nil {
		return err
	}
	if o.unchecked != "" { // What it says may be old.
		return nil
	}
	for _, f := range mapped.Fillings {
		key := model.Key{Source: source, Kind: f.Ref.Kind, ID: f.Ref.ID}
		t.fillings[key] = append(t.fillings[key], filling{f, o.address})
	}
	return nil
}

// addParts makes claims of what an object stands for beside its own type.
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

// count counts an object that is compared, or else is unchecked.
func (t *translator) count(compared bool) {
	t.tally.Resources++
	if compared {
		t.tally.Compared++
	} else {
		t.tally.Unchecked++
	}
}

// suspect notes an object that add refused, where a governed source may hold
// it nevertheless.
func (t *translator) suspect(o *object, err error) {
	if !nowhere(err) {
		t.problems = append(t.problems, model.Problem{Address: o.id, Reason: err.Error()})
	}
}

// claim is the claim of an object on the live resource that it was mapped to.
func (t *translator) claim(o *object, typ *mapping.Type, mapped mapping.Mapped, source string) model.Claim {
	c := model.Claim{Declaration: t.env.Name, Source: source, Address: o.address, Kind: mapped.Kind, ID: mapped.ID,
		Place: mapped.Place, Name: mapped.Name, Lens: mapped.Lens, Value: mapped.Value, Complete: true,
		RecordOnly: o.recordOnly, Template: mapped.Template, Unchecked: o.unchecked,
		ClaimMatching: model.ClaimMatching{Identities: mapped.Identities, ByIdentity: mapped.ByIdentity, Covers: mapped.Covers},
		ClaimApply:    model.ClaimApply{Pending: o.pending, Replaces: o.replaces, Replaced: o.replaced}}
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
	return c
}

// addUnchecked claims, without a live side, what cannot be compared.
func (t *translator) addUnchecked(o *object, reason string) {
	t.count(false)
	t.claims = append(t.claims, t.alone(o, reason))
}

// addUnmapped claims what no table speaks of.
func (t *translator) addUnmapped(o *object, reason string) {
	t.tally.Resources++
	t.tally.Unmapped[o.typ]++
	t.claims = append(t.claims, t.alone(o, reason))
}

func (t *translator) alone(o *object, reason string) model.Claim {
	source := declared.LiveSource(t.env.Name)
	if len(t.env.Governs) > 0 {
		source = t.env.Governs[0]
	}
	return model.Claim{Declaration: t.env.Name, Source: source, Address: o.address, Kind: kindOf(o.typ), ID: o.id,
		Name: o.name, Unchecked: reason}
}

// kindOf is the kind of a resource that is known by its Terraform type alone.
func kindOf(typ string) string { return "terraform/" + typ }

// source returns the governed source that a kind lies in.
func (t *translator) source(kind, configuration string) (string, error) {
	typ, _, _ := strings.Cut(kind, "/")
	provider, _, _ := strings.Cut(configuration, ".")
	if name := cmp.Or(t.providers[configuration], t.providers[provider]); name != "" {
		return name, nil
	}
	fits := slices.DeleteFunc(slices.Clone(t.env.Governs), func(s string) bool { return t.env.Types[s] != typ })
	switch len(fits) {
	case 0:
		return "", fmt.Errorf("%w of type %s is governed: add one, and name it under governs", errNoSource, typ)
	case 1:
		return fits[0], nil
	}
	return "", fmt.Errorf("several sources of type %s are governed (%s): say under providers which of them %s is",
		typ, strings.Join(fits, ", "), configuration)
}

// scopes are the kinds in which everything live is expected to be declared:
// those that are named, or else those of which something is claimed, and those
// that go with them.
func (t *translator) scopes(named []string) []model.Scope {
	kinds := slices.Clone(t.also)
	for i := range t.claims {
		if t.claims[i].Lens != nil {
			kinds = append(kinds, t.claims[i].Kind)
		}
	}
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

// put returns what is put into a claim: by other instances, and by its own where
// the claim on another resource tells what.
func (t *translator) put(c *model.Claim, claimed map[model.Key]bool) []mapping.Filling {
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

// keyOf is the key of what a claim is about, under its ID or another one.
func keyOf(c *model.Claim, id string) model.Key {
	return model.Key{Source: c.Source, Kind: c.Kind, ID: id}
}

// sorted returns the claims in their order, settled.
func (t *translator) sorted() []model.Claim {
	claimed := make(map[model.Key]bool, len(t.claims))
	for i := range t.claims {
		claimed[keyOf(&t.claims[i], t.claims[i].ID)] = true
	}
	for i := range t.claims {
		mapping.Settle(&t.claims[i], t.put(&t.claims[i], claimed))
	}
	slices.SortFunc(t.claims, func(a, b model.Claim) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Address, b.Address))
	})
	return t.claims
}
