package netboxlab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// A view is a form in which objects are returned.
type view struct {
	*store
	// base is the server's address.
	base    string
	version version
	brief   bool
	// only are the fields to return, none meaning all; without are the fields to omit.
	only, without map[string]bool
}

func (v *view) shows(name string) bool {
	return (len(v.only) == 0 || v.only[name]) && !v.without[name]
}

// head returns the fields of every object.
func (v *view) head(o *object) Object {
	url := fmt.Sprintf("%s/api/%s/%d/", v.base, o.model.endpoint, o.id)
	return Object{"id": o.id, "url": url, "display": v.display(o)}
}

func (v *view) displayURL(o *object) string {
	return fmt.Sprintf("%s/%s/%d/", v.base, o.model.endpoint, o.id)
}

// nested returns an object in the form of a reference.
func (v *view) nested(o *object) any {
	if o == nil {
		return nil
	}
	shown := v.head(o)
	for _, name := range o.model.brief {
		f := o.model.byName[name]
		switch {
		case name == "display_url":
			if v.version >= 401 {
				shown[name] = v.displayURL(o)
			}
		case name == "created":
			shown[name] = stamp(o.created)
		case f == nil || f.since > v.version:
		case name == "family" && v.version < 400:
			shown[name] = v.family(o)["value"]
		case f.kind == computed && strings.HasPrefix(f.how, "count:"):
			// Nested counts are wrong on a real server as well.
			shown[name] = 0
		default:
			shown[name] = v.value(o, f)
		}
	}
	return shown
}

// full returns an object with the fields of the view.
func (v *view) full(o *object) any {
	if v.brief {
		return v.nested(o)
	}
	shown := v.head(o)
	if v.version >= 401 {
		shown["display_url"] = v.displayURL(o)
	}
	shown["created"], shown["last_updated"] = stamp(o.created), stamp(o.updated)
	if v.version < 302 {
		shown["created"] = o.created.Format(time.DateOnly)
	}
	if !o.model.logged() {
		delete(shown, "created")
		delete(shown, "last_updated")
	}
	for name := range shown {
		if !v.shows(name) {
			delete(shown, name)
		}
	}
	for _, f := range o.model.fields {
		if f.since > v.version {
			continue
		}
		if f.generic() {
			v.generic(shown, o, f)
		} else if v.shows(f.name) {
			shown[f.name] = v.value(o, f)
		}
	}
	return v.older(o.model, shown)
}

// generic returns a reference to an object of any model.
func (v *view) generic(shown Object, o *object, f *field) {
	var id any
	if n := o.id0(f.name + "_id"); n != 0 {
		id = n
	}
	for name, value := range map[string]any{f.name + "_type": o.fields[f.name+"_type"], f.name + "_id": id} {
		if v.shows(name) {
			shown[name] = value
		}
	}
	if v.shows(f.nested) {
		shown[f.nested] = v.nested(v.target(o, f))
	}
}

// value returns one field.
func (v *view) value(o *object, f *field) any {
	switch {
	case v.version < 303 && f.name == "nat_outside":
		return nil
	case f.kind == computed:
		return v.computed(o, f)
	case f.reference():
		return v.nested(v.get(f.target, o.id0(f.name)))
	case f.kind == references || f.kind == tagged:
		return v.nestedAll(o, f)
	case f.kind == custom:
		return v.custom(o)
	case f.kind == cableEnd:
		return v.ends(o.targets(f))
	}
	return v.plain(o.fields[f.name], f)
}

// plain returns a field that is not a reference.
func (v *view) plain(value any, f *field) any {
	switch f.kind {
	case choice, numChoice:
		if value != nil {
			return Object{"value": value, "label": label(fmt.Sprint(value))}
		}
	case decimal:
		n, ok := value.(float64)
		// Heights and positions were integers in earlier versions.
		if ok && (f.places > 1 || v.version >= 303) {
			// 2 is returned as 2.0.
			shown := strings.TrimRight(fmt.Sprintf("%.*f", max(f.places, 1), n), "0")
			return json.Number(shown + strings.Repeat("0", len(shown)-len(strings.TrimSuffix(shown, "."))))
		}
	case list, typeNames:
		if value == nil {
			return []any{}
		}
	}
	return value
}

func (v *view) nestedAll(o *object, f *field) []any {
	all := []any{}
	for _, at := range o.targets(f) {
		all = append(all, v.nested(v.get(at.target, at.id)))
	}
	return all
}

func (v *view) ends(refs []ref) []any {
	ends := []any{}
	for _, at := range refs {
		end := Object{"object_type": at.target, "object_id": at.id, "object": nil}
		if target := v.get(at.target, at.id); target != nil {
			// Without the cable: it would contain its ends, and these the cable.
			end["object"] = v.head(target)
		}
		ends = append(ends, end)
	}
	return ends
}

// custom returns all custom fields of the model.
func (v *view) custom(o *object) Object {
	set, _ := o.fields["custom_fields"].(map[string]any)
	shown := Object{}
	for name, definition := range v.customFields(o.model) {
		value := set[name]
		target := definition.text("related_object_type")
		switch typed := value.(type) {
		case int:
			value = v.nested(v.get(target, typed))
		case []int:
			all := []any{}
			for _, id := range typed {
				all = append(all, v.nested(v.get(target, id)))
			}
			value = all
		case string:
			if definition.text("type") == "select" && v.version >= 407 {
				value = Object{"value": typed, "label": label(typed)}
			}
		}
		shown[name] = value
	}
	return shown
}

// computed returns a computed field.
func (v *view) computed(o *object, f *field) any {
	if counted, ok := strings.CutPrefix(f.how, "count:"); ok {
		i := strings.LastIndex(counted, ".")
		return len(v.referrer[ref{counted[:i], counted[i+1:], o.model.name, o.id}])
	}
	if f.how != "" {
		return json.RawMessage(f.how)
	}
	switch f.name {
	case "family":
		return v.family(o)
	case "primary_ip":
		if six := o.id0("primary_ip6"); six != 0 {
			return v.nested(v.get("ipam.ipaddress", six))
		}
		return v.nested(v.get("ipam.ipaddress", o.id0("primary_ip4")))
	case "config_context":
		if local := o.fields["local_context_data"]; local != nil {
			return local
		}
		return Object{}
	case "nat_outside":
		return v.all("ipam.ipaddress", "nat_inside", o)
	case "cable", "cable_end", "_occupied":
		return v.cable(o, f.name)
	case "permissions":
		return v.all("users.objectpermission", strings.TrimPrefix(o.model.name, "users.")+"s", o)
	}
	return v.counted(o, f.name)
}

func (v *view) all(model, field string, o *object) []any {
	all := []any{}
	for _, found := range v.referring(model, field, o) {
		all = append(all, v.nested(found))
	}
	return all
}

func (v *view) family(o *object) Object {
	address, _, _ := strings.Cut(o.text("address")+o.text("prefix")+o.text("start_address"), "/")
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() {
		return Object{"value": 6, "label": "IPv6"}
	}
	return Object{"value": 4, "label": "IPv4"}
}

func (v *view) cable(o *object, name string) any {
	var cable *object
	var side any
	for _, end := range []string{"a", "b"} {
		for _, found := range v.referring("dcim.cable", end+"_terminations", o) {
			cable, side = found, strings.ToUpper(end)
		}
	}
	switch name {
	case "cable":
		return v.nested(cable)
	case "cable_end":
		return side
	}
	return cable != nil
}

// counted returns counts and sums.
func (v *view) counted(o *object, name string) any {
	switch name {
	case "mac_address":
		if mac := v.get("dcim.macaddress", o.id0("primary_mac_address")); mac != nil {
			return mac.text("mac_address")
		}
	case "mac_addresses":
		return v.all("dcim.macaddress", "assigned_object", o)
	case "tagged_items":
		items := 0
		for _, m := range v.models {
			items += len(v.referrer[ref{m.name, "tags", o.model.name, o.id}])
		}
		return items
	case "choices_count":
		choices, _ := o.fields["extra_choices"].([]any)
		return len(choices)
	case "data_type":
		return "string"
	case "size":
		return v.rangeSize(o)
	case "allocated_vcpus", "allocated_memory", "allocated_disk":
		sum := 0.0
		for _, vm := range v.referring("virtualization.virtualmachine", "cluster", o) {
			n, _ := vm.fields[strings.TrimPrefix(name, "allocated_")].(float64)
			sum += n
		}
		return sum
	}
	return nil
}

func (v *view) rangeSize(o *object) any {
	first, _ := netip.ParsePrefix(o.text("start_address"))
	last, _ := netip.ParsePrefix(o.text("end_address"))
	size := 1
	for a := first.Addr(); a.IsValid() && a.Less(last.Addr()); a = a.Next() {
		size++
	}
	return size
}

// data returns an object in the form of the changelog.
func (s *store) data(o *object) Object {
	data := Object{}
	for _, f := range o.model.fields {
		if f.generic() {
			data[f.name+"_id"] = orNull(o.id0(f.name + "_id"))
			data[f.name+"_type"] = nil
			if m := s.byName[o.text(f.name+"_type")]; m != nil {
				data[f.name+"_type"] = m.number
			}
			continue
		}
		if f.kind != computed {
			data[f.name] = s.datum(o, f)
		}
	}
	return data
}

func orNull(id int) any {
	if id == 0 {
		return nil
	}
	return id
}

// datum returns one field in the form of the changelog.
func (s *store) datum(o *object, f *field) any {
	value := o.fields[f.name]
	switch {
	case f.reference():
		return orNull(o.id0(f.name))
	case f.kind == references:
		return slices.Concat([]int{}, o.ids(f.name))
	case f.kind == tagged:
		names := []string{}
		for _, id := range o.ids(f.name) {
			names = append(names, s.get("extras.tag", id).text("name"))
		}
		slices.Sort(names)
		return names
	case f.kind == custom:
		set, _ := value.(map[string]any)
		return maps.Clone(set)
	case f.kind == decimal && value != nil:
		return fmt.Sprintf("%.*f", f.places, value)
	case f.kind == typeNames:
		return s.numbers(value)
	case f.kind == list:
		return f.array(value)
	case f.kind == cableEnd:
		ids := []int{}
		for _, at := range o.targets(f) {
			ids = append(ids, at.id)
		}
		return ids
	}
	return value
}

// numbers returns the content types of models.
func (s *store) numbers(value any) []int {
	numbers := []int{}
	names, _ := value.([]any)
	for _, name := range names {
		if m := s.byName[fmt.Sprint(name)]; m != nil {
			numbers = append(numbers, m.number)
		}
	}
	return numbers
}

// array returns a list in the form of the changelog: most lists that the database stores as an
// array are a text.
func (f *field) array(value any) any {
	values, ok := value.([]any)
	if !ok || f.name == "ports" || f.name == "tags" {
		return value
	}
	var shown bytes.Buffer
	for i, value := range values {
		fmt.Fprintf(&shown, "%s%q", strings.Repeat(", ", min(i, 1)), fmt.Sprint(value))
	}
	return "[" + shown.String() + "]"
}
