package normalize

import (
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// An older form of a kind's rows: until a version they had other fields.
type older struct {
	until Version
	// fields are the fields that newer versions do not have.
	fields string
	// adapt returns the row in newer words.
	adapt func(row model.Value) model.Value
	// told are the newer names of fields in rows of the changelog.
	told map[string][]string
}

// modern returns a row of some version in the words of the newest.
func (k *Kind) modern(v Version, row model.Value) model.Value {
	for _, o := range k.older {
		if v.Before(o.until) && row.Kind() == model.Map {
			row = o.adapt(row)
		}
	}
	return row
}

// supply returns the row with a field that it lacks, or has without a value.
func supply(row model.Value, name string, v model.Value) model.Value {
	if table.Blank(v) || !table.Blank(row.At(name)) {
		return row
	}
	return row.With(name, v)
}

// renamed is a field that got another name.
func renamed(until Version, old, name string) older {
	return older{until: until, fields: old, told: map[string][]string{old: {name}},
		adapt: func(row model.Value) model.Value { return supply(row, name, row.At(old)) }}
}

// generic is a reference that became the type and the id of any object: each
// old field stands for one model.
func generic(until Version, typ, id string, models map[string]string) older {
	o := older{until: until, told: map[string][]string{}}
	for old := range models {
		o.fields += " " + old
		o.told[old] = []string{typ, id}
	}
	o.adapt = func(row model.Value) model.Value {
		for old, name := range models {
			if ref, ok := idOf(row.At(old)); ok {
				row = supply(supply(row, typ, model.StringOf(name)), id, ref)
			}
		}
		return row
	}
	return o
}

// sited is a site that became a scope in 4.2.
func sited() older {
	return generic(Version{4, 2}, "scope_type", "scope_id", map[string]string{"site": "dcim.site"})
}

// terminated is where a circuit ends, in words of before 4.2.
func terminated() older {
	return generic(Version{4, 2}, "termination_type", "termination_id", map[string]string{"site": "dcim.site", "provider_network": "circuits.providernetwork"})
}

// member is what a circuit group holds, in words of before 4.2.
func member() older {
	return generic(Version{4, 2}, "member_type", "member_id", map[string]string{"circuit": "circuits.circuit"})
}

// served is who offers a service, in words of before 4.3.
func served() older {
	return generic(Version{4, 3}, "parent_object_type", "parent_object_id",
		map[string]string{"device": "dcim.device", "virtual_machine": "virtualization.virtualmachine"})
}

// grouped is the one group of a contact that became several in 4.3.
func grouped() older {
	return older{until: Version{4, 3}, fields: "group", told: map[string][]string{"group": {"groups"}},
		adapt: func(row model.Value) model.Value {
			if table.Blank(row.At("group")) {
				return row
			}
			return supply(row, "groups", model.ListOf(row.At("group")))
		}}
}

// gigabytes is a size that was counted in GB before 4.1, and is in MB since:
// the migration multiplied by 1000.
func gigabytes(name string) older {
	return older{until: Version{4, 1}, adapt: func(row model.Value) model.Value {
		size := row.At(name)
		if size.Kind() != model.Number || strings.Trim(size.Text(), "0123456789") != "" || size.Text() == "0" {
			return row
		}
		megabytes, ok := model.NumberOf(size.Text() + "000")
		if !ok {
			return row
		}
		return row.With(name, megabytes)
	}}
}

// vidRanges is the one range of a VLAN group that became several in 4.1.
func vidRanges() older {
	names := []string{"vid_ranges"}
	return older{until: Version{4, 1}, fields: "min_vid max_vid", told: map[string][]string{"min_vid": names, "max_vid": names},
		adapt: func(row model.Value) model.Value {
			least, most := row.At("min_vid"), row.At("max_vid")
			if least.IsNull() || most.IsNull() {
				return row
			}
			return supply(row, "vid_ranges", model.ListOf(model.ListOf(least, most)))
		}}
}

// fronted is the one rear port behind a front port that became several in 4.5.
func fronted() older {
	names := []string{"rear_ports"}
	return older{until: Version{4, 5}, fields: "rear_port rear_port_position", told: map[string][]string{"rear_port": names, "rear_port_position": names},
		adapt: func(row model.Value) model.Value {
			ref, ok := idOf(row.At("rear_port"))
			if !ok {
				return row
			}
			return supply(row, "rear_ports", model.ListOf(model.MapOf(
				model.Field{Name: "position", Value: model.IntOf(1)},
				model.Field{Name: "rear_port", Value: ref},
				model.Field{Name: "rear_port_position", Value: row.At("rear_port_position")})))
		}}
}

// events are the event types of 4.1 by the switches of before.
func events() map[string][]string {
	return map[string][]string{
		"type_create": {"object_created"}, "type_update": {"object_updated"}, "type_delete": {"object_deleted"},
		"type_job_start": {"job_started"}, "type_job_end": {"job_completed", "job_errored", "job_failed"},
	}
}

// evented is what an event rule waits for: switches before 4.1.
func evented() older {
	o := older{until: Version{4, 1}, told: map[string][]string{}}
	for name := range events() {
		o.fields += " " + name
		o.told[name] = []string{"event_types"}
	}
	o.adapt = func(row model.Value) model.Value {
		var types []model.Value
		for name, those := range events() {
			if row.At(name).Text() != "true" {
				continue
			}
			for _, typ := range those {
				types = append(types, model.StringOf(typ))
			}
		}
		return supply(row, "event_types", model.ListOf(types...))
	}
	return o
}
