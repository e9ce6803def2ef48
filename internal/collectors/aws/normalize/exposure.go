package normalize

import (
	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// exposed returns the fields of a kind that have an exposure.
func exposed(kind string) []model.ExposedField {
	switch kind {
	case BucketPolicy, PublicAccess, Ownership, AccessControl:
		return table.Exposed(model.ExposesAccess, "")
	case Website:
		return table.Exposed(model.ExposesReach, "")
	}
	return nil
}
