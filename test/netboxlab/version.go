package netboxlab

import (
	"fmt"
	"strconv"
)

// renames are the fields that had other names before a version.
func renames() []struct {
	before              version
	model, once, nowday string
} {
	return []struct {
		before              version
		model, once, nowday string
	}{
		{400, "dcim.device", "device_role", "role"},
		{400, "extras.customfield", "content_types", "object_types"},
		{400, "extras.customfield", "object_type", "related_object_type"},
		{400, "extras.eventrule", "content_types", "object_types"},
	}
}

// older converts an object of a response, or of the changelog, to the form of a version.
func (v *view) older(m *model, shown Object) Object {
	for _, r := range renames() {
		if value, there := shown[r.nowday]; there && m.name == r.model && v.version < r.before {
			shown[r.once] = value
			// Devices had both in some versions.
			if r.model != "dcim.device" || v.version < 306 {
				delete(shown, r.nowday)
			}
		}
	}
	if v.version < 402 && m.scoped() {
		v.scopeToSite(shown)
	}
	if field, there := gigabytes(m); there && v.version < 401 {
		if n, ok := shown[field].(float64); ok {
			shown[field] = float64(int(n / 1000))
		}
	}
	if v.version < 403 {
		v.single(m, shown)
	}
	return shown
}

// scoped reports whether a model has had a scope only since 4.2.
func (m *model) scoped() bool { return m.name == "ipam.prefix" || m.name == "virtualization.cluster" }

// gigabytes returns the field of a model that had gigabytes before 4.1.
func gigabytes(m *model) (string, bool) {
	switch m.name {
	case "virtualization.virtualmachine":
		return "disk", true
	case "virtualization.virtualdisk":
		return "size", true
	}
	return "", false
}

// scopeToSite replaces a scope by the site that it is.
func (v *view) scopeToSite(shown Object) {
	typ, there := shown["scope_type"]
	if !there {
		return
	}
	shown["site"] = nil
	if site := v.byName["dcim.site"]; typ == site.name || typ == site.number {
		shown["site"] = shown["scope_id"]
		if scope, there := shown["scope"]; there {
			shown["site"] = scope
		}
	}
	for _, name := range []string{"scope_type", "scope_id", "scope"} {
		delete(shown, name)
	}
}

// single converts fields that had one value before 4.3: a contact's group, and the parent of a
// service.
func (v *view) single(m *model, shown Object) {
	switch m.name {
	case "tenancy.contact":
		groups, _ := shown["groups"].([]any)
		shown["group"] = nil
		if len(groups) > 0 {
			shown["group"] = groups[0]
		}
		delete(shown, "groups")
	case "ipam.service":
		for field, of := range serviceParents() {
			shown[field] = nil
			if shown["parent_object_type"] == of || shown["parent_object_type"] == v.byName[of].number {
				shown[field] = shown["parent"]
				if shown["parent"] == nil {
					shown[field] = shown["parent_object_id"]
				}
			}
		}
		for _, name := range []string{"parent_object_type", "parent_object_id", "parent"} {
			delete(shown, name)
		}
	}
}

func serviceParents() map[string]string {
	return map[string]string{"device": "dcim.device", "virtual_machine": "virtualization.virtualmachine"}
}

// nowadays are the fields that older versions call by other names.
func nowadays(name string, v version) []string {
	switch {
	case name == "site" && v < 402:
		return []string{"scope_type", "scope_id", "scope"}
	case (name == "device" || name == "virtual_machine") && v < 403:
		return []string{"parent_object_type", "parent_object_id", "parent"}
	case name == "group" && v < 403:
		return []string{"groups"}
	}
	return nil
}

// newer converts a request for an older version to the form of the newest.
func (s *store) newer(v version, m *model, sent Object) {
	for _, r := range renames() {
		if value, there := sent[r.once]; there && m.name == r.model && v < r.before {
			sent[r.nowday] = value
			delete(sent, r.once)
		}
	}
	if site, there := sent["site"]; there && v < 402 && m.scoped() {
		sent["scope_type"], sent["scope_id"] = "dcim.site", site
	}
	if field, there := gigabytes(m); there && v < 401 && sent[field] != nil {
		if n, err := strconv.ParseFloat(fmt.Sprint(sent[field]), 64); err == nil {
			sent[field] = n * 1000
		}
	}
	if v < 403 {
		s.several(m, sent)
	}
}

// several converts fields that had one value before 4.3.
func (*store) several(m *model, sent Object) {
	if group, there := sent["group"]; there && m.name == "tenancy.contact" {
		sent["groups"] = []any{group}
	}
	for field, of := range serviceParents() {
		if id := sent[field]; id != nil && m.name == "ipam.service" {
			sent["parent_object_type"], sent["parent_object_id"] = of, id
		}
	}
}
