package netboxlab

// move copies the place of an object to the objects in it, without rows of their own, as NetBox
// does when a cluster, a location or a rack is saved.
func (s *store) move(o *object) {
	switch o.model.name {
	case "virtualization.cluster":
		site := 0
		switch o.fields["scope_type"] {
		case "dcim.site":
			site = o.id0("scope_id")
		case "dcim.location":
			if l := s.get("dcim.location", o.id0("scope_id")); l != nil {
				site = l.id0("site")
			}
		}
		if site != 0 {
			s.place("virtualization.virtualmachine", "cluster", o, map[string]any{"site": site})
		}
	case "dcim.location":
		below := map[string]any{"site": o.id0("site")}
		for _, model := range []string{"dcim.rack", "dcim.device", "dcim.powerpanel"} {
			s.place(model, "location", o, below)
		}
		for _, child := range s.referring("dcim.location", "parent", o) {
			s.change(child, below)
			s.move(child)
		}
	case "dcim.rack":
		s.place("dcim.device", "rack", o, map[string]any{"site": o.id0("site"), "location": o.id0("location")})
	}
}

// place sets fields of all objects of a model that refer to an object.
func (s *store) place(model, field string, o *object, fields map[string]any) {
	for _, below := range s.referring(model, field, o) {
		s.change(below, fields)
	}
}
