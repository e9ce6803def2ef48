package normalize_test

import (
	"testing"

	"github.com/driftd/driftd/internal/collectors/table/tabletest"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

func TestFields(t *testing.T) {
	t.Parallel()
	normalizer := normalize.New(model.NewSealer([]byte("test")))
	tabletest.Golden(t, "testdata/fields.txt", normalize.Kinds(), normalizer.Object)
}
