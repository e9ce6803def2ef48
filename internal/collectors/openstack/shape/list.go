package shape

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// bagOf is the form of a list of maps whose order says nothing, and of which
// these fields are read.
func bagOf(words string) form {
	fields := parseFields(words)
	return form{schema: model.Schema{List: model.Bag, Each: &model.Schema{Fields: schemaOf(fields)}},
		read: func(s *Shaper, _, raw model.Value) model.Value {
			return sortedBy(s, raw, func(item model.Value) model.Value { return pick(s, fields, item) })
		}}
}

// schemaOf returns the schemas of fields by name.
func schemaOf(fields []field) map[string]*model.Schema {
	schemas := map[string]*model.Schema{}
	for i := range fields {
		schemas[fields[i].name] = &fields[i].form.schema
	}
	return schemas
}

// pick reads fields of a map.
func pick(s *Shaper, fields []field, v model.Value) model.Value {
	if v.Kind() != model.Map {
		return plain(s, v, v)
	}
	return model.MapOf(s.read(fields, v, nil)...)
}

// addressPairs is the form of the addresses that a port may take beside its own.
// Neutron fills in the port's own MAC address where none is given.
func addressPairs() form {
	fields := parseFields("ip_address/address mac_address/mac")
	return form{schema: model.Schema{List: model.Bag, Each: &model.Schema{Fields: schemaOf(fields)}},
		read: func(s *Shaper, row, raw model.Value) model.Value {
			own := row.At("mac_address").Str()
			return sortedBy(s, raw, func(pair model.Value) model.Value {
				if strings.EqualFold(pair.At("mac_address").Str(), own) {
					pair = pair.Without("mac_address")
				}
				return pick(s, fields, pair)
			})
		}}
}

// gateway is the form of the outside of a router.
func gateway() form {
	fields := parseFields("network_id enable_snat/boolean qos_policy_id external_fixed_ips/fixed")
	schema := model.Schema{Fields: schemaOf(fields)}
	schema.Fields["enable_snat"].Derived = true
	return form{schema: schema, read: func(s *Shaper, _, raw model.Value) model.Value { return pick(s, fields, raw) }}
}

// each reads a list of maps as the set of what one field of them holds.
func each(name string) reader {
	return func(s *Shaper, row, raw model.Value) model.Value {
		items := make([]model.Value, 0, len(raw.Items()))
		for _, item := range raw.Items() {
			if value, ok := item.Get(name); ok {
				item = value
			}
			items = append(items, item)
		}
		return sorted(s, row, model.ListOf(items...))
	}
}

// sorted reads a list whose order says nothing and in which nothing is twice.
func sorted(s *Shaper, row, raw model.Value) model.Value {
	v := sortedBy(s, raw, func(item model.Value) model.Value { return plain(s, row, item) })
	if v.Kind() != model.List {
		return v
	}
	return model.ListOf(slices.CompactFunc(v.Items(), model.Value.Equal)...)
}

// sortedBy reads the elements of a list, and sorts them.
func sortedBy(s *Shaper, v model.Value, read func(model.Value) model.Value) model.Value {
	if v.Kind() != model.List {
		return plain(s, v, v)
	}
	items := make([]model.Value, 0, len(v.Items()))
	for _, item := range v.Items() {
		if item = read(item); !isBlank(item) {
			items = append(items, item)
		}
	}
	slices.SortFunc(items, compareValues)
	return model.ListOf(items...)
}

// compareValues orders texts by bytes, and trees by their JSON.
func compareValues(a, b model.Value) int {
	if a.Kind() < model.List && b.Kind() < model.List {
		return cmp.Or(cmp.Compare(a.Text(), b.Text()), cmp.Compare(a.Kind(), b.Kind()))
	}
	return cmp.Compare(string(a.AppendJSON(nil)), string(b.AppendJSON(nil)))
}
