package normalize_test

import (
	"testing"

	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/collectors/table/tabletest"
)

func TestFields(t *testing.T) {
	t.Parallel()
	tabletest.Golden(t, "testdata/fields.txt", normalize.Schemas(), nil)
}
