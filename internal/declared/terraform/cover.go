package terraform

import (
	"cmp"
	"context"
	"io"
	"maps"
	"slices"

	"github.com/driftd/driftd/internal/declared/terraform/state"
	"github.com/driftd/driftd/internal/declared/terraform/state/backend"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// A TypeCover describes to what extent the mapping tables cover one resource type of a state.
type TypeCover struct {
	Provider  string `json:"provider"`
	Type      string `json:"type"`
	Instances int    `json:"instances"`
	// Kind is the live kind, or "" if no table maps the type or the type has no live resources. NoLiveSide
	// is the reason in the latter case.
	Kind       string `json:"kind"`
	NoLiveSide string `json:"no_live_side,omitempty"`
	// Unmapped are the attributes that have a value but are not compared.
	Unmapped []string `json:"unmapped_attributes"`
	// Problems are the instances whose live resource cannot be determined.
	Problems []model.Problem `json:"problems"`
}

// Mapped reports whether the instances are compared, or have no live resources.
func (c *TypeCover) Mapped() bool { return c.Kind != "" || c.NoLiveSide != "" }

// Cover returns the types in the states at settings.State, sorted by provider and type, and to what extent
// the built-in mapping tables and those of the settings cover them. It returns an error if a state cannot
// be read.
func Cover(ctx context.Context, settings Config) ([]TypeCover, error) {
	tables, err := mapping.Load(settings.Mappings...)
	if err != nil {
		return nil, err
	}
	options := state.Options{Sealer: model.NewSealer([]byte("nothing that is sealed is shown")), MaxBytes: settings.Backend.MaxBytes}
	if options.Passphrases, err = passphrases(settings.PassphraseFiles); err != nil {
		return nil, err
	}
	c := covering{tables: tables, sealer: options.Sealer, types: map[string]*TypeCover{}}
	for _, location := range settings.State {
		source, err := backend.Open(location, settings.Backend)
		if err != nil {
			return nil, err
		}
		addresses, err := source.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, address := range addresses {
			err := source.Read(ctx, address, func(r io.Reader) error {
				_, err := state.Read(ctx, r, options, c.add)
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return c.sorted(), nil
}

// covering collects the TypeCovers of states.
type covering struct {
	tables *mapping.Tables
	sealer model.Sealer
	types  map[string]*TypeCover
}

func (c *covering) add(i state.Instance) error {
	if i.Data {
		return nil
	}
	key := i.Provider.String() + " " + i.Type
	cover := c.types[key]
	if cover == nil {
		cover = &TypeCover{Provider: i.Provider.String(), Type: i.Type, Unmapped: []string{}, Problems: []model.Problem{}}
		c.types[key] = cover
	}
	cover.Instances++
	typ, known := c.tables.Find(i.Provider.String(), i.Type)
	if !known {
		return nil
	}
	if cover.NoLiveSide, _ = typ.NoLiveSide(); cover.NoLiveSide != "" {
		return nil
	}
	cover.Kind = typ.Kind()
	if _, err := typ.Claim(i.Attributes, c.sealer); err != nil {
		cover.Problems = append(cover.Problems, model.Problem{Address: i.Address, Reason: err.Error()})
	}
	cover.Unmapped = append(cover.Unmapped, typ.Unmapped(i.Attributes)...)
	slices.Sort(cover.Unmapped)
	cover.Unmapped = slices.Compact(cover.Unmapped)
	return nil
}

func (c *covering) sorted() []TypeCover {
	all := make([]TypeCover, 0, len(c.types))
	for _, cover := range slices.SortedFunc(maps.Values(c.types), func(a, b *TypeCover) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Type, b.Type))
	}) {
		all = append(all, *cover)
	}
	return all
}
