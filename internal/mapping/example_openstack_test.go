package mapping_test

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
	openstack "github.com/driftd/driftd/internal/openstackapi/normalize"
)

// joined is a row of OpenStack with the fields that come from other lists, which the document
// adds to it.
func (e *example) joined(raw model.Value) model.Value {
	e.t.Helper()
	v := e.thing(raw).Value
	for _, name := range []string{"flavor_name", "interfaces", "unprotected"} {
		if other := raw.At(name); !other.IsNull() {
			v = v.With(name, other)
		}
	}
	return v
}

// thing is a row as OpenStack's collector returns it.
func (e *example) thing(raw model.Value) openstack.Object {
	e.t.Helper()
	kinds := openstack.Kinds()
	i := slices.IndexFunc(kinds, func(k *openstack.Kind) bool { return k.Name == e.claim.Kind })
	if i < 0 {
		e.t.Fatalf("no kind %s is read", e.claim.Kind)
	}
	id := model.StringOf(e.claim.ID)
	if e.claim.Kind == openstack.Keypair {
		raw = model.MapOf(model.Field{Name: "keypair", Value: raw.With("name", id)})
	}
	object, err := openstack.New().Object(kinds[i], raw.With("id", id))
	if err != nil {
		e.t.Fatal(err)
	}
	return object
}
