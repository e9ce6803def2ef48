package normalize

import (
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// Schemas returns every kind with its schema, by name. No schema is closed, so fields that a
// declaration does not set are not compared.
func Schemas() map[string]*model.Kind {
	all := map[string]*model.Kind{}
	for _, k := range Kinds() {
		all[k.Name] = &model.Kind{Name: k.Name, Schema: k.fields.Schema(), Labels: "tags", Severities: k.rules}
		if strings.HasPrefix(k.Model, "users.") { // Only NetBox itself checks these permissions.
			all[k.Name].Exposed = table.Exposed(model.ExposesAccess, "")
		}
	}
	return all
}
