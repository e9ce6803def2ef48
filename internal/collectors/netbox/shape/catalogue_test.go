package shape_test

import (
	"testing"

	"github.com/driftd/driftd/internal/collectors/netbox/shape"
	"github.com/driftd/driftd/internal/collectors/table/tabletest"
	"github.com/driftd/driftd/internal/model"
)

func TestFields(t *testing.T) {
	t.Parallel()
	kinds := map[string]*shape.Kind{}
	for _, k := range shape.Kinds() {
		kinds[k.Name] = k
	}
	shaper := shape.New(model.NewSealer([]byte("test")), shape.Version{Major: 4, Minor: 6}, nil)
	tabletest.Golden(t, "testdata/fields.txt", shape.Schemas(), func(kind string, object model.Value) model.Value {
		o, err := shaper.Object(kinds[kind], object.With("id", model.IntOf(1)))
		if err != nil {
			t.Fatal(err)
		}
		return o.Value
	})
}
