package normalize

import (
	"slices"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// Schemas returns how every kind is compared, by name. No schema is closed: fields that a
// declaration does not set are not compared.
func Schemas() map[string]*model.Kind {
	all := map[string]*model.Kind{}
	for _, k := range Kinds() {
		fields := table.Join(k.fields, k.joined)
		all[k.Name] = &model.Kind{Name: k.Name, Namespaced: k.Belongs != ToNone, Labels: k.labels, Schema: fields.Schema(),
			Severities: slices.Concat(k.rules, fields.Rules(table.Edited()), k.fallbackRules), Exposed: k.exposed}
	}
	return all
}
