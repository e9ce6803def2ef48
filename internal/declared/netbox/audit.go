package netbox

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An eventCollector collects the entries of NetBox's changelog about one claim.
type eventCollector struct {
	ix     *index
	events []model.AuditEvent
}

// nodeEvents returns the audit events of r, which claims a node by its name.
func (d *deriver) nodeEvents(ix *index, r *model.Resource) []model.AuditEvent {
	t := eventCollector{ix: ix}
	t.addCreations(r)
	t.addEdits(r, func(field string) []string {
		if field == "name" || field == "cluster" || field == "status" {
			return []string{field}
		}
		return nil
	})
	return t.sorted()
}

// auditEvents returns the audit events of the claim: those of the virtual machine and of the
// other claimed objects.
func (g *vmBuilder) auditEvents() []model.AuditEvent {
	t := eventCollector{ix: g.ix}
	t.addCreations(g.vm)
	t.addDecisiveEdits(g.vm, g.decisiveFields())
	t.addEdits(g.vm, g.machineFields)
	g.addReferences(&t)
	if g.claims("interfaces") {
		for _, p := range g.ports.keyed {
			g.addPort(&t, p)
		}
	}
	if g.claims("disks") {
		for _, r := range g.ix.disks[g.vm.ID] {
			path := element("disks", "name", diskName(r))
			t.addElement(r, path, fieldsAt(path, diskField))
			t.addEdits(r, fieldsAt(path, diskField))
		}
	}
	return t.sorted()
}

func (g *vmBuilder) claims(name string) bool {
	return slices.ContainsFunc(g.value, func(f model.Field) bool { return f.Name == name })
}

// machineFields returns the claim's path for a field of the virtual machine: the same name if
// the field is claimed, is an identity, or is decisive.
func (g *vmBuilder) machineFields(field string) []string {
	name, _, _ := strings.Cut(field, ".")
	if g.claims(name) || slices.Contains(append(g.decisiveFields(), "serial", "name"), name) {
		return []string{field}
	}
	for _, name := range append(slices.Clone(g.uuidFields()), g.vmid) {
		if field == "custom_fields" || name != "" && field == "custom_fields."+name {
			return []string{field}
		}
	}
	return nil
}

// addReferences adds the edits of objects that the virtual machine refers to.
func (g *vmBuilder) addReferences(t *eventCollector) {
	for _, name := range []string{"primary_ip4", "primary_ip6"} {
		if r := g.primary(name); r != nil && g.claims(name) {
			t.addEdits(r, renameField("address", name))
		}
	}
	if r := g.ix.find(kindDevice, g.vm.Value.At("device")); r != nil && g.claims("device") {
		t.addEdits(r, renameField("name", "device"))
	}
	if g.claims("tags") {
		for _, name := range g.vm.Value.At("tags").Items() {
			if r := g.ix.tags[name.Str()]; r != nil {
				t.addEdits(r, renameField("name", "tags"))
				t.addEdits(r, renameField("slug", "tags"))
			}
		}
	}
}

// addPort adds the creation and edits of the interface p and of its MAC addresses and VLANs.
func (g *vmBuilder) addPort(t *eventCollector, p port) {
	path := element("interfaces", "name", p.name)
	t.addElement(p.r, path, fieldsAt(path, portField))
	t.addEdits(p.r, fieldsAt(path, portField))
	for _, ref := range slices.Concat(p.r.Value.At("mac_addresses").Items(), []model.Value{p.r.Value.At("primary_mac_address")}) {
		if r := g.ix.find(kindMAC, ref); r != nil {
			t.addEdits(r, renameField("mac_address", path))
		}
	}
	for _, ref := range slices.Concat(p.r.Value.At("tagged_vlans").Items(), []model.Value{p.r.Value.At("untagged_vlan")}) {
		if r := g.ix.find(kindVLAN, ref); r != nil {
			t.addEdits(r, renameField("vid", path+".vlan", path+".tagged_vlans"))
		}
	}
}

// portField returns the claim's paths, below the element, for a field of an interface.
func portField(field string) []string {
	switch field {
	case "mac_address", "primary_mac_address", "mac_addresses", "virtual_machine":
		return []string{""}
	case "enabled":
		return []string{".enabled"}
	case "untagged_vlan":
		return []string{".vlan"}
	case "tagged_vlans":
		return []string{".tagged_vlans"}
	case "mode":
		return []string{".vlan", ".tagged_vlans"}
	case "custom_fields.bridge":
		return []string{".bridge"}
	}
	return nil
}

// diskField returns the claim's paths, below the element, for a field of a virtual disk.
func diskField(field string) []string {
	switch field {
	case "name", "virtual_machine":
		return []string{""}
	case "size":
		return []string{".size"}
	}
	return nil
}

// fieldsAt returns a function that prepends path to the results of translate.
func fieldsAt(path string, translate func(field string) []string) func(string) []string {
	return func(field string) []string {
		paths := translate(field)
		for i := range paths {
			paths[i] = path + paths[i]
		}
		return paths
	}
}

// renameField returns a function that translates the field name to paths, and other fields to
// none.
func renameField(known string, paths ...string) func(string) []string {
	return func(field string) []string {
		if field != known {
			return nil
		}
		return paths
	}
}

// addCreations adds the creation of r, and edits of unknown fields, for the whole claim.
func (t *eventCollector) addCreations(r *model.Resource) {
	for _, event := range t.of(r) {
		if event.Action == model.Created || event.Action == model.Edited && len(event.Fields) == 0 {
			t.events = append(t.events, model.AuditEvent{Action: event.Action, Excluded: event.Excluded, Actor: event.Actor})
		}
	}
}

// decisiveFields returns the fields of a virtual machine that determine in which source it
// claims and whether its machine must exist.
func (d *deriver) decisiveFields() []string {
	if len(d.config.Tenants) > 0 {
		return []string{"cluster", "status", "tenant"}
	}
	return []string{"cluster", "status"}
}

// addDecisiveEdits adds edits of decisive fields of r as creations of the claim.
func (t *eventCollector) addDecisiveEdits(r *model.Resource, decisive []string) {
	for _, event := range t.of(r) {
		fields := slices.DeleteFunc(slices.Clone(event.Fields), func(field string) bool { return !slices.Contains(decisive, field) })
		if event.Action == model.Edited && len(fields) > 0 {
			t.events = append(t.events, model.AuditEvent{Action: model.Created, Fields: fields, Actor: event.Actor})
		}
	}
}

// addElement adds the creation of r as an edit of the element at path. Fields that changed
// since are excluded. translate returns the claim's paths for a field of r.
func (t *eventCollector) addElement(r *model.Resource, path string, translate func(field string) []string) {
	for _, event := range t.of(r) {
		if event.Action == model.Created {
			t.events = append(t.events, model.AuditEvent{Action: model.Edited, Fields: []string{path}, Excluded: translated(event.Excluded, translate), Actor: event.Actor})
		}
	}
}

// translated returns the claim's paths for fields of an object, sorted.
func translated(fields []string, translate func(field string) []string) []string {
	var paths []string
	for _, field := range fields {
		paths = append(paths, translate(field)...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// addEdits adds the edits of r. translate returns the claim's paths for a field of r.
func (t *eventCollector) addEdits(r *model.Resource, translate func(field string) []string) {
	for _, event := range t.of(r) {
		if fields := translated(event.Fields, translate); event.Action == model.Edited && len(fields) > 0 {
			t.events = append(t.events, model.AuditEvent{Action: model.Edited, Fields: fields, Actor: event.Actor})
		}
	}
}

func (t *eventCollector) of(r *model.Resource) []*model.AuditEvent {
	return t.ix.auditEvents[model.Ref{Kind: r.Kind, ID: r.ID}]
}

// sorted returns the events by time, without duplicates.
func (t *eventCollector) sorted() []model.AuditEvent {
	slices.SortStableFunc(t.events, func(a, b model.AuditEvent) int {
		return cmp.Or(a.Actor.At.Compare(b.Actor.At), cmp.Compare(a.Actor.Evidence, b.Actor.Evidence), slices.Compare(a.Fields, b.Fields))
	})
	return slices.CompactFunc(t.events, func(a, b model.AuditEvent) bool {
		return a.Action == b.Action && a.Actor == b.Actor && slices.Equal(a.Fields, b.Fields) && slices.Equal(a.Excluded, b.Excluded)
	})
}

// element returns the path of a list's element in the form that findings use.
func element(list, key, name string) string {
	if strings.ContainsAny(name, "[]\",") || !strconv.CanBackquote(name) {
		name = strconv.Quote(name)
	}
	return list + "[" + key + "=" + name + "]"
}
