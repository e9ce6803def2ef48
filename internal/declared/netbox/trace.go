package netbox

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A teller collects what NetBox's changelog tells of one claim.
type teller struct {
	ix     *index
	traces []model.AuditEvent
}

// written is what the changelog tells of an object that claims by its name.
func (d *deriver) written(ix *index, r *model.Resource) []model.AuditEvent {
	t := teller{ix: ix}
	t.tellMade(r)
	t.tell(r, func(field string) []string {
		if field == "name" || field == "cluster" || field == "status" {
			return []string{field}
		}
		return nil
	})
	return t.sorted()
}

// traces is what the changelog tells of the claim: of the virtual machine, and
// of what else is claimed with it.
func (g *guest) traces() []model.AuditEvent {
	t := teller{ix: g.ix}
	t.tellMade(g.vm)
	t.tellClaiming(g.vm, g.decisive())
	t.tell(g.vm, g.machineFields)
	g.tellOfReferences(&t)
	if g.claims("interfaces") {
		for _, p := range g.ports.keyed {
			g.tellOfPort(&t, p)
		}
	}
	if g.claims("disks") {
		for _, r := range g.ix.disks[g.vm.ID] {
			path := element("disks", "name", diskName(r))
			t.tellAdded(r, path, fieldsAt(path, diskField))
			t.tell(r, fieldsAt(path, diskField))
		}
	}
	return t.sorted()
}

func (g *guest) claims(word string) bool {
	return slices.ContainsFunc(g.value, func(f model.Field) bool { return f.Name == word })
}

// machineFields returns the claim's words for a field of the virtual machine:
// the same, and what tells that it claims there at all.
func (g *guest) machineFields(field string) []string {
	word, _, _ := strings.Cut(field, ".")
	if g.claims(word) || slices.Contains(append(g.decisive(), "serial", "name"), word) {
		return []string{field}
	}
	for _, name := range append(slices.Clone(g.uuidFields()), g.vmid) {
		if field == "custom_fields" || name != "" && field == "custom_fields."+name {
			return []string{field}
		}
	}
	return nil
}

// tellOfReferences tells of what the virtual machine refers to.
func (g *guest) tellOfReferences(t *teller) {
	for _, word := range []string{"primary_ip4", "primary_ip6"} {
		if r := g.primary(word); r != nil && g.claims(word) {
			t.tell(r, only("address", word))
		}
	}
	if r := g.ix.find(kindDevice, g.vm.Value.At("device")); r != nil && g.claims("device") {
		t.tell(r, only("name", "device"))
	}
	if g.claims("tags") {
		for _, name := range g.vm.Value.At("tags").Items() {
			if r := g.ix.named[name.Str()]; r != nil {
				t.tell(r, only("name", "tags"))
				t.tell(r, only("slug", "tags"))
			}
		}
	}
}

func (g *guest) tellOfPort(t *teller, p port) {
	path := element("interfaces", "mac", p.mac)
	t.tellAdded(p.r, path, fieldsAt(path, portField))
	t.tell(p.r, fieldsAt(path, portField))
	for _, ref := range slices.Concat(p.r.Value.At("mac_addresses").Items(), []model.Value{p.r.Value.At("primary_mac_address")}) {
		if r := g.ix.find(kindMAC, ref); r != nil {
			t.tell(r, only("mac_address", path))
		}
	}
	for _, ref := range slices.Concat(p.r.Value.At("tagged_vlans").Items(), []model.Value{p.r.Value.At("untagged_vlan")}) {
		if r := g.ix.find(kindVLAN, ref); r != nil {
			t.tell(r, only("vid", path+".vlan", path+".tagged_vlans"))
		}
	}
}

// portField returns what a field of an interface is in the claim's words.
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

// diskField returns what a field of a virtual disk is in the claim's words.
func diskField(field string) []string {
	switch field {
	case "name", "virtual_machine":
		return []string{""}
	case "size":
		return []string{".size"}
	}
	return nil
}

// fieldsAt returns a function that translates a field into paths below the one
// of its element.
func fieldsAt(path string, translate func(field string) []string) func(string) []string {
	return func(field string) []string {
		paths := translate(field)
		for i := range paths {
			paths[i] = path + paths[i]
		}
		return paths
	}
}

// only returns a function that knows one field.
func only(known string, paths ...string) func(string) []string {
	return func(field string) []string {
		if field != known {
			return nil
		}
		return paths
	}
}

// tellMade tells who made the object that claims, and whose edits may have been
// of any field.
func (t *teller) tellMade(r *model.Resource) {
	for _, trace := range t.of(r) {
		if trace.Action == model.Created || trace.Action == model.Edited && len(trace.Fields) == 0 {
			t.traces = append(t.traces, model.AuditEvent{Action: trace.Action, Excluded: trace.Excluded, Actor: trace.Actor})
		}
	}
}

// decisive are the fields of a virtual machine that decide where it claims, and
// whether something must exist.
func (d *deriver) decisive() []string {
	if len(d.config.Tenants) > 0 {
		return []string{"cluster", "status", "tenant"}
	}
	return []string{"cluster", "status"}
}

// tellClaiming tells who edited an object so that it claims what it does, by the
// decisive fields.
func (t *teller) tellClaiming(r *model.Resource, decisive []string) {
	for _, trace := range t.of(r) {
		fields := slices.DeleteFunc(slices.Clone(trace.Fields), func(field string) bool { return !slices.Contains(decisive, field) })
		if trace.Action == model.Edited && len(fields) > 0 {
			t.traces = append(t.traces, model.AuditEvent{Action: model.Created, Fields: fields, Actor: trace.Actor})
		}
	}
}

// tellAdded adds who created an element, for its fields that still hold what it was
// created with. Translate returns the claim's paths for a field of the element.
func (t *teller) tellAdded(r *model.Resource, path string, translate func(field string) []string) {
	for _, trace := range t.of(r) {
		if trace.Action == model.Created {
			t.traces = append(t.traces, model.AuditEvent{Action: model.Edited, Fields: []string{path}, Excluded: translated(trace.Excluded, translate), Actor: trace.Actor})
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

// tell tells who edited an object, by the fields that translate returns for the
// object's own.
func (t *teller) tell(r *model.Resource, translate func(field string) []string) {
	for _, trace := range t.of(r) {
		if fields := translated(trace.Fields, translate); trace.Action == model.Edited && len(fields) > 0 {
			t.traces = append(t.traces, model.AuditEvent{Action: model.Edited, Fields: fields, Actor: trace.Actor})
		}
	}
}

func (t *teller) of(r *model.Resource) []*model.AuditEvent {
	return t.ix.traces[model.Ref{Kind: r.Kind, ID: r.ID}]
}

// sorted returns the traces by time, each once.
func (t *teller) sorted() []model.AuditEvent {
	slices.SortStableFunc(t.traces, func(a, b model.AuditEvent) int {
		return cmp.Or(a.Actor.At.Compare(b.Actor.At), cmp.Compare(a.Actor.Evidence, b.Actor.Evidence), slices.Compare(a.Fields, b.Fields))
	})
	return slices.CompactFunc(t.traces, func(a, b model.AuditEvent) bool {
		return a.Action == b.Action && a.Actor == b.Actor && slices.Equal(a.Fields, b.Fields) && slices.Equal(a.Excluded, b.Excluded)
	})
}

// element writes the path of a list's element as findings do.
func element(list, key, name string) string {
	if strings.ContainsAny(name, "[]\",") || !strconv.CanBackquote(name) {
		name = strconv.Quote(name)
	}
	return list + "[" + key + "=" + name + "]"
}
