package normalize_test

import (
	"testing"

	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/collectors/table/tabletest"
	"github.com/driftd/driftd/internal/model"
)

func TestFields(t *testing.T) {
	t.Parallel()
	kinds := map[string]*normalize.Kind{}
	for _, k := range normalize.Kinds() {
		kinds[k.Name] = k
	}
	normalizer := normalize.New(model.NewSealer([]byte("test")), normalize.Version{Major: 4, Minor: 6}, nil)
	tabletest.Golden(t, "testdata/fields.txt", normalize.Schemas(), func(kind string, object model.Value) model.Value {
		o, err := normalizer.Object(kinds[kind], object.With("id", model.IntOf(1)))
		if err != nil {
			t.Fatal(err)
		}
		return o.Value
	})
}
