package shape_test

import (
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/shape"
	"github.com/driftd/driftd/internal/collectors/table/tabletest"
	"github.com/driftd/driftd/internal/model"
)

func TestFields(t *testing.T) {
	t.Parallel()
	shaper := shape.New(model.NewSealer([]byte("test")))
	tabletest.Golden(t, "testdata/fields.txt", shape.Kinds(), shaper.Object)
}
