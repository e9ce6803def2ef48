package shape

import "github.com/driftd/driftd/internal/model"

// exposed returns the fields of a kind that have an exposure.
func exposed(kind string) []model.ExposedField {
	switch kind {
	case BucketPolicy, PublicAccess, Ownership, AccessControl:
		return []model.ExposedField{{What: model.ExposesAccess}}
	case Website:
		return []model.ExposedField{{What: model.ExposesReach}}
	}
	return nil
}
