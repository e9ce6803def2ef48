package netboxlab

import (
	"maps"
)

// create creates an object.
func (e *exchange) create(m *model, body Object) (*object, problems) {
	s := e.lab.store
	mac, withMAC := e.lab.oldMAC(m, body)
	s.newer(e.lab.version(), m, body)
	fields, wrong := s.values(m, body, nil)
	if len(wrong) > 0 {
		return nil, wrong
	}
	o := s.put(m, fields, e.lab.now())
	if withMAC {
		e.lab.setMAC(o, mac)
	}
	if reaches := e.reaches("add", m); reaches != nil && !reaches(o) {
		s.drop(o)
		return nil, problems{"detail": {"You do not have permission to perform this action."}}
	}
	e.settle(o)
	e.log(o, nil, s.data(o))
	return o, nil
}

// change changes an object.
func (e *exchange) change(o *object, body Object) problems {
	s := e.lab.store
	mac, withMAC := e.lab.oldMAC(o.model, body)
	s.newer(e.lab.version(), o.model, body)
	fields, wrong := s.values(o.model, body, o)
	if mac := s.foreignMAC(o, fields); mac != nil {
		wrong["primary_mac_address"] = []string{"MAC address " + mac.text("mac_address") + " is assigned to a different interface."}
	}
	if len(wrong) > 0 {
		return wrong
	}
	pre, name := s.data(o), o.text("name")
	s.change(o, fields)
	if withMAC {
		e.lab.setMAC(o, mac)
	}
	e.settle(o)
	s.move(o)
	if o.model.name == "extras.customfield" && name != o.text("name") {
		s.renameCustom(name, o.text("name"))
	}
	// A write without a change updates the time, too.
	o.updated = e.lab.now()
	e.log(o, pre, s.data(o))
	return nil
}

// settle sets the computed fields of an object: the place of a virtual machine, and the size of
// its disks. They are not in the changelog.
func (e *exchange) settle(o *object) {
	s := e.lab.store
	switch o.model.name {
	case "virtualization.virtualmachine":
		cluster := s.get("virtualization.cluster", o.id0("cluster"))
		if cluster != nil && o.id0("site") == 0 && cluster.fields["scope_type"] == "dcim.site" {
			s.change(o, map[string]any{"site": cluster.id0("scope_id")})
		}
		if len(s.referring("virtualization.virtualdisk", "virtual_machine", o)) > 0 {
			s.sumDisks(o)
		}
	case "virtualization.virtualdisk":
		s.sumDisks(s.get("virtualization.virtualmachine", o.id0("virtual_machine")))
	}
}

func (s *store) sumDisks(vm *object) {
	if vm == nil {
		return
	}
	disks := s.referring("virtualization.virtualdisk", "virtual_machine", vm)
	if len(disks) == 0 {
		vm.fields["disk"] = nil
		return
	}
	sum := 0.0
	for _, disk := range disks {
		size, _ := disk.fields["size"].(float64)
		sum += size
	}
	vm.fields["disk"] = sum
}

// renameCustom renames a custom field in all objects.
func (s *store) renameCustom(from, to string) {
	s.eachCustom(func(set map[string]any) {
		if value, there := set[from]; there {
			set[to] = value
			delete(set, from)
		}
	})
}

func (s *store) eachCustom(do func(map[string]any)) {
	for _, objects := range s.objects {
		for _, o := range objects {
			if set, ok := o.fields["custom_fields"].(map[string]any); ok {
				set = maps.Clone(set)
				do(set)
				o.fields["custom_fields"] = set
			}
		}
	}
}

// oldMAC removes the MAC address from a request for an interface of a version before 4.2, where
// it is a text.
func (l *Lab) oldMAC(m *model, body Object) (mac any, given bool) {
	if l.version() >= 402 || m.byName["primary_mac_address"] == nil {
		return nil, false
	}
	mac, given = body["mac_address"]
	return mac, given
}

// foreignMAC returns the primary MAC address that an interface is to get if it is assigned to another object; nil if not.
func (s *store) foreignMAC(o *object, fields map[string]any) *object {
	id, _ := fields["primary_mac_address"].(int)
	mac := s.get("dcim.macaddress", id)
	if mac == nil || mac.id0("assigned_object_id") == 0 || mac.fields["assigned_object_type"] == o.model.name && mac.id0("assigned_object_id") == o.id {
		return nil
	}
	return mac
}

// setMAC stores such an address as an object of its own, which is not visible in this version.
func (l *Lab) setMAC(o *object, mac any) {
	m := l.store.byName["dcim.macaddress"]
	for _, old := range l.store.referring(m.name, "assigned_object", o) {
		l.store.drop(old)
	}
	id := 0
	if mac != nil && mac != "" {
		value, _ := m.byName["mac_address"].scalar(mac)
		made := l.store.put(m, map[string]any{"mac_address": value, "assigned_object_type": o.model.name, "assigned_object_id": o.id,
			"description": "", "comments": "", "tags": []int{}, "custom_fields": map[string]any{}}, l.now())
		id = made.id
	}
	l.store.change(o, map[string]any{"primary_mac_address": id})
}

// remove deletes an object after the objects that depend on it, each with its row, and clears
// references to it. It returns an error if another object protects it.
func (e *exchange) remove(o *object) error {
	if err := e.removable(o, map[*object]bool{}); err != nil {
		return err
	}
	e.delete(o)
	return nil
}

// removable returns an error that names the objects that protect an object or one that would be
// deleted with it.
func (e *exchange) removable(o *object, going map[*object]bool) error {
	going[o] = true
	return e.eachReferrer(o, func(by *object, f *field) error {
		switch {
		case going[by]:
		case f.kind == cascade || f.kind == owned:
			return e.removable(by, going)
		case f.kind == protect:
			return refuse("Unable to delete object. 1 dependent objects were found: %s (%d)", e.lab.store.display(by), by.id)
		}
		return nil
	})
}

func (e *exchange) eachReferrer(o *object, do func(*object, *field) error) error {
	for _, m := range e.lab.store.models {
		for _, f := range m.fields {
			for _, by := range e.lab.store.referring(m.name, f.name, o) {
				if err := do(by, f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (e *exchange) delete(o *object) {
	s := e.lab.store
	// removable returned no error, so there is none here.
	_ = e.eachReferrer(o, func(by *object, f *field) error {
		if f.kind == cascade || f.kind == owned {
			e.delete(by)
			return nil
		}
		pre := s.data(by)
		s.forget(by, f, o.id)
		// Some dependent objects get no row on a real server either.
		if f.kind != tagged && f.name != "primary_mac_address" {
			e.log(by, pre, s.data(by))
		}
		return nil
	})
	if s.get(o.model.name, o.id) == nil {
		return
	}
	pre, vm := s.data(o), o.id0("virtual_machine")
	e.log(o, pre, nil)
	s.drop(o)
	switch o.model.name {
	case "virtualization.virtualdisk":
		s.sumDisks(s.get("virtualization.virtualmachine", vm))
	case "extras.customfield":
		s.eachCustom(func(set map[string]any) { delete(set, o.text("name")) })
	}
}

// forget clears a field that refers to an object.
func (s *store) forget(by *object, f *field, id int) {
	switch {
	case f.reference():
		s.change(by, map[string]any{f.name: 0})
	case f.generic():
		s.change(by, map[string]any{f.name + "_type": nil, f.name + "_id": 0})
	case f.kind == references || f.kind == tagged:
		var kept []int
		for _, other := range by.ids(f.name) {
			if other != id {
				kept = append(kept, other)
			}
		}
		s.change(by, map[string]any{f.name: kept})
	case f.kind == cableEnd:
		s.change(by, map[string]any{f.name: []ref{}})
	}
}
