package mapping

import (
	"maps"
	"slices"
	"testing"

	"github.com/driftd/driftd/internal/collectors/aws/catalogue"
	aws "github.com/driftd/driftd/internal/collectors/aws/normalize"
	netbox "github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/model"
	openstack "github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// TestTablesSpeakOfLiveFields checks that every live field of the built-in tables is one that
// the collector reads. A mistyped field would always be absent.
func TestTablesSpeakOfLiveFields(t *testing.T) {
	t.Parallel()
	tables, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	kinds := normalize.Kinds()
	maps.Copy(kinds, netbox.Schemas())
	maps.Copy(kinds, aws.Schemas())
	maps.Copy(kinds, catalogue.Schemas())
	maps.Copy(kinds, openstack.Schemas())
	for _, typ := range tables.Types() {
		if _, none := typ.NoLiveSide(); none {
			continue
		}
		kind := kinds[typ.Kind()]
		if kind == nil {
			t.Errorf("%s: no kind %s is read", typ.Name(), typ.Kind())
			continue
		}
		for _, name := range speaksOf(typ) {
			if kinds[name] == nil {
				t.Errorf("%s speaks of kind %s, which nobody reads", typ.Name(), name)
			}
		}
		for _, f := range typ.forms {
			if misfit := f.lens.Misfit(kind.Schema); misfit != "" {
				t.Errorf("%s: no live field %s", typ.Name(), misfit)
			}
		}
	}
}

// speaksOf returns the kinds that a type names in addition to its own.
func speaksOf(typ *Type) []string {
	kinds := slices.Clone(typ.also)
	for _, ref := range typ.covers {
		kinds = append(kinds, ref.kind)
	}
	for _, kind := range typ.children {
		kinds = append(kinds, kind)
	}
	for _, s := range typ.stands {
		kinds = append(kinds, s.kind)
	}
	for _, f := range typ.fills {
		kinds = append(kinds, f.kind)
		if f.through != nil {
			kinds = append(kinds, f.through.kind)
		}
	}
	return kinds
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"provider: a/b\ntypes:\n  c: {kind: d/e, id: \"{f}\", attributes: {g: {live: h, as: gib}}}\n", "a: &a [*a]", "<<: {x: y}", "--- \n---\n", "types: &t {a: {attributes: *t}}"} {
		f.Add([]byte(seed))
	}
	for _, name := range []string{"bpg-container.yaml", "bpg-access.yaml", "netbox-ipam.yaml", "openstack-network.yaml", "none.yaml"} {
		text, err := builtIn.ReadFile("tables/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, table []byte) {
		tables := &Tables{own: map[typeKey]*Type{}}
		if tables.add("fuzz.yaml", table) != nil {
			return
		}
		live := model.MapOf(model.Field{Name: "net0", Value: model.MapOf()})
		for _, typ := range tables.Types() {
			mapped, err := typ.Claim(live, model.NewSealer([]byte("k")))
			if err != nil {
				continue
			}
			if view := mapped.Lens.View(live); !view.Equal(mapped.Lens.View(live)) {
				t.Errorf("two views of one value differ: %s", view.AppendJSON(nil))
			}
			mapped.Lens.LivePath(live, "a[0].b")
			Settle(&model.Claim{Value: mapped.Value, Lens: mapped.Lens, Recorded: &live}, mapped.Fillings)
		}
	})
}
