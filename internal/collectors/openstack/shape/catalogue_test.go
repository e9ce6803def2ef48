package shape_test

import (
	"testing"

	"github.com/driftd/driftd/internal/collectors/openstack/shape"
	"github.com/driftd/driftd/internal/collectors/table/tabletest"
	"github.com/driftd/driftd/internal/model"
)

func TestFields(t *testing.T) {
	t.Parallel()
	kinds := map[string]*shape.Kind{}
	for _, k := range shape.Kinds() {
		kinds[k.Name] = k
	}
	tabletest.Golden(t, "testdata/fields.txt", shape.Schemas(), func(kind string, object model.Value) model.Value {
		row := object
		for _, f := range object.Fields() {
			row = row.With(shape.RawName(kinds[kind], f.Name), f.Value)
		}
		if kind == shape.Keypair {
			row = model.MapOf(model.Field{Name: "keypair", Value: row.With("name", model.StringOf("n"))})
		}
		if _, ok := row.Get("id"); !ok {
			row = row.With("id", model.StringOf("id"))
		}
		o, err := shape.New().Object(kinds[kind], row)
		if err != nil {
			t.Fatal(err)
		}
		return o.Value
	})
}
