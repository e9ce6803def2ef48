package normalize

import (
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// legacy is a form of a kind's rows in versions before until.
type legacy struct {
	until Version
	// fields are the names of the fields that newer versions do not have.
	fields string
	// adapt returns the row with the fields of newer versions.
	adapt func(row model.Value) model.Value
	// changelogNames are the newer names of the fields in rows of the changelog.
	changelogNames map[string][]string
}

// upgrade returns a row of a version with the fields of the newest one.
func (k *Kind) upgrade(v Version, row model.Value) model.Value {
	for _, o := range k.legacy {
		if v.Before(o.until) && row.Kind() == model.Map {
			row = o.adapt(row)
		}
	}
	return row
}

// setIfBlank returns the row with a field set, if its value is blank.
func setIfBlank(row model.Value, name string, v model.Value) model.Value {
	if table.Blank(v) || !table.Blank(row.At(name)) {
		return row
	}
	return row.With(name, v)
}

// renamed is a field with another name in older versions.
func renamed(until Version, old, name string) legacy {
	return legacy{until: until, fields: old, changelogNames: map[string][]string{old: {name}},
		adapt: func(row model.Value) model.Value { return setIfBlank(row, name, row.At(old)) }}
}

// genericRef is a generic reference, with a type and an id. Older versions have one field for
// each model.
func genericRef(until Version, typ, id string, models map[string]string) legacy {
	o := legacy{until: until, changelogNames: map[string][]string{}}
	for old := range models {
		o.fields += " " + old
		o.changelogNames[old] = []string{typ, id}
	}
	o.adapt = func(row model.Value) model.Value {
		for old, name := range models {
			if ref, ok := idOf(row.At(old)); ok {
				row = setIfBlank(setIfBlank(row, typ, model.StringOf(name)), id, ref)
			}
		}
		return row
	}
	return o
}

// siteToScope is a site that became a scope in 4.2.
func siteToScope() legacy {
	return genericRef(Version{4, 2}, "scope_type", "scope_id", map[string]string{"site": "dcim.site"})
}

// termination is the end of a circuit, a generic reference since 4.2.
func termination() legacy {
	return genericRef(Version{4, 2}, "termination_type", "termination_id", map[string]string{"site": "dcim.site", "provider_network": "circuits.providernetwork"})
}

// groupMember is a member of a circuit group, a generic reference since 4.2.
func groupMember() legacy {
	return genericRef(Version{4, 2}, "member_type", "member_id", map[string]string{"circuit": "circuits.circuit"})
}

// serviceParent is the device or virtual machine of a service, a generic reference since 4.3.
func serviceParent() legacy {
	return genericRef(Version{4, 3}, "parent_object_type", "parent_object_id",
		map[string]string{"device": "dcim.device", "virtual_machine": "virtualization.virtualmachine"})
}

// contactGroups is the group of a contact, a list since 4.3.
func contactGroups() legacy {
	return legacy{until: Version{4, 3}, fields: "group", changelogNames: map[string][]string{"group": {"groups"}},
		adapt: func(row model.Value) model.Value {
			if table.Blank(row.At("group")) {
				return row
			}
			return setIfBlank(row, "groups", model.ListOf(row.At("group")))
		}}
}

// gigabytes is a size in GB before 4.1, and in MB since. NetBox's migration multiplied it by
// 1000.
func gigabytes(name string) legacy {
	return legacy{until: Version{4, 1}, adapt: func(row model.Value) model.Value {
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

// vidRanges is the range of a VLAN group, a list since 4.1.
func vidRanges() legacy {
	names := []string{"vid_ranges"}
	return legacy{until: Version{4, 1}, fields: "min_vid max_vid", changelogNames: map[string][]string{"min_vid": names, "max_vid": names},
		adapt: func(row model.Value) model.Value {
			least, most := row.At("min_vid"), row.At("max_vid")
			if least.IsNull() || most.IsNull() {
				return row
			}
			return setIfBlank(row, "vid_ranges", model.ListOf(model.ListOf(least, most)))
		}}
}

// rearPorts is the rear port of a front port, a list since 4.5.
func rearPorts() legacy {
	names := []string{"rear_ports"}
	return legacy{until: Version{4, 5}, fields: "rear_port rear_port_position", changelogNames: map[string][]string{"rear_port": names, "rear_port_position": names},
		adapt: func(row model.Value) model.Value {
			ref, ok := idOf(row.At("rear_port"))
			if !ok {
				return row
			}
			return setIfBlank(row, "rear_ports", model.ListOf(model.MapOf(
				model.Field{Name: "position", Value: model.IntOf(1)},
				model.Field{Name: "rear_port", Value: ref},
				model.Field{Name: "rear_port_position", Value: row.At("rear_port_position")})))
		}}
}

// eventTypes returns the event types of 4.1 by the boolean fields of earlier versions.
func eventTypes() map[string][]string {
	return map[string][]string{
		"type_create": {"object_created"}, "type_update": {"object_updated"}, "type_delete": {"object_deleted"},
		"type_job_start": {"job_started"}, "type_job_end": {"job_completed", "job_errored", "job_failed"},
	}
}

// eventRule is the condition of an event rule: boolean fields before 4.1.
func eventRule() legacy {
	o := legacy{until: Version{4, 1}, changelogNames: map[string][]string{}}
	for name := range eventTypes() {
		o.fields += " " + name
		o.changelogNames[name] = []string{"event_types"}
	}
	o.adapt = func(row model.Value) model.Value {
		var types []model.Value
		for name, those := range eventTypes() {
			if row.At(name).Text() != "true" {
				continue
			}
			for _, typ := range those {
				types = append(types, model.StringOf(typ))
			}
		}
		return setIfBlank(row, "event_types", model.ListOf(types...))
	}
	return o
}
