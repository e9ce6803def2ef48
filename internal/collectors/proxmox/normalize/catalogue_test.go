package normalize_test

import (
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/collectors/table/tabletest"
	"github.com/driftd/driftd/internal/model"
)

func TestFields(t *testing.T) {
	t.Parallel()
	normalizer := normalize.New(model.NewSealer([]byte("test")))
	tabletest.Golden(t, "testdata/fields.txt", normalize.Kinds(), normalizer.Object)
}
