package normalize_test

import (
	"testing"

	"github.com/driftd/driftd/internal/collectors/table/tabletest"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

func TestFields(t *testing.T) {
	t.Parallel()
	kinds := map[string]*normalize.Kind{}
	for _, k := range normalize.Kinds() {
		kinds[k.Name] = k
	}
	tabletest.Golden(t, "testdata/fields.txt", normalize.Schemas(), func(kind string, object model.Value) model.Value {
		row := object
		for _, f := range object.Fields() {
			row = row.With(normalize.RawName(kinds[kind], f.Name), f.Value)
		}
		if kind == normalize.Keypair {
			row = model.MapOf(model.Field{Name: "keypair", Value: row.With("name", model.StringOf("n"))})
		}
		if _, ok := row.Get("id"); !ok {
			row = row.With("id", model.StringOf("id"))
		}
		o, err := normalize.New().Object(kinds[kind], row)
		if err != nil {
			t.Fatal(err)
		}
		return o.Value
	})
}
