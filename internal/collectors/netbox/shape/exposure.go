package shape

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// exposed returns the fields of a kind that have an exposure: NetBox itself decides
// only who may do what in NetBox.
func exposed(kind string) []model.ExposedField {
	if strings.HasPrefix(kind, Type+"/users.") {
		return []model.ExposedField{{What: model.ExposesAccess}}
	}
	return nil
}
