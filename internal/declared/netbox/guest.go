package netbox

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A builder builds the claims from one snapshot.
type builder struct {
	*deriver
	ix        *index
	shared    *sharedData
	vmid      string
	omissions omissions
}

func newBuilder(d *deriver, ix *index) *builder {
	return &builder{deriver: d, ix: ix, shared: newSharedData(d.config, ix), vmid: d.vmidField(ix),
		omissions: omissions{ix: ix, count: map[omission]int{}}}
}

// A vmBuilder builds the claim of one virtual machine.
type vmBuilder struct {
	*builder
	vm     *model.Resource
	system *system
	ports  ports
	// value contains the claimed fields. lens is the lens of the claim.
	value []model.Field
	lens  *lens
}

// claim returns the claim of the virtual machine vm on a machine of the system s.
func (c *builder) claim(vm *model.Resource, s *system, in placement) model.Claim {
	g := &vmBuilder{builder: c, vm: vm, system: s, ports: c.newPorts(c.ix.interfaces[vm.ID]), lens: &lens{sharedData: c.shared, system: s}}
	g.scalars()
	g.addStatus()
	g.addDevice()
	g.addDisks()
	g.addInterfaces()
	g.addAddress("primary_ip4", &g.lens.nic4)
	g.addAddress("primary_ip6", &g.lens.nic6)
	g.addTags()
	g.lens.declared = model.MapOf(g.value...)
	events := g.auditEvents()
	claim := model.Claim{
		Declaration: c.env.Name, Source: in.source, Address: "virtual-machines/" + vm.ID,
		Kind: s.kinds[0], ID: label(vm, "NetBox VM "), Name: cmp.Or(nameOf(vm), "VM "+vm.ID), Value: g.lens.declared, Lens: g.lens,
		ClaimMatching: model.ClaimMatching{Identities: g.identities(), ByIdentity: true, AltKinds: s.kinds[1:], Cohort: in.cohort, Doubt: g.doubt(in)},
		ClaimApply:    model.ClaimApply{MayBeAbsent: mayBeAbsent(vm)},
		ClaimHistory: model.ClaimHistory{AuditEvents: events, WriterUnknown: cmp.Or(c.ix.snapshot.LogUnread, vm.WriterUnknown),
			LogUnread: c.ix.snapshot.LogUnread},
	}
	if len(events) > 0 {
		claim.Since = events[len(events)-1].Actor.At
	}
	return claim
}

// label returns the name of a claim in messages while no live machine matches it. what is the
// kind of the object in NetBox, with a space.
func label(r *model.Resource, what string) string {
	if name := nameOf(r); name != "" {
		return name + " (" + what + r.ID + ")"
	}
	return what + r.ID
}

// mayBeAbsent reports whether the status of r allows that its machine does not exist yet, or
// no longer exists.
func mayBeAbsent(r *model.Resource) bool {
	return slices.Contains([]string{"planned", "staged", "decommissioning", "inventory"}, r.Value.At("status").Str())
}

// add claims the field name with the value v, unless the field is ignored.
func (g *vmBuilder) add(name string, v model.Value) {
	if !g.ignored[name] {
		g.value = append(g.value, model.Field{Name: name, Value: v})
	}
}

// scalars claims the name, the processors and the memory.
func (g *vmBuilder) scalars() {
	if name := nameOf(g.vm); name != "" {
		g.add("name", model.StringOf(name))
	}
	for _, name := range []string{"vcpus", "memory"} {
		if n := g.vm.Value.At(name); isAmount(n) {
			g.add(name, n)
		}
	}
}

// isAmount reports whether v is a number above zero.
func isAmount(v model.Value) bool {
	return v.Kind() == model.Number && !v.IsEmpty() && !strings.HasPrefix(v.Text(), "-")
}

func (g *vmBuilder) addStatus() {
	if status := g.vm.Value.At("status"); status.Str() == active || status.Str() == offline {
		g.add("status", status)
	}
}

func (g *vmBuilder) addDevice() {
	ref := g.vm.Value.At("device")
	if idOf(ref) == "" || g.ignored["device"] {
		return
	}
	device := g.ix.find(kindDevice, ref)
	switch {
	case device == nil:
		g.omissions.add("the device", kindDevice)
	case nameOf(device) != "":
		g.add("device", model.StringOf(nameOf(device)))
	}
}

// addDisks claims the virtual disks. If there are none, or not all of them were read, it
// claims the sum of their sizes that the virtual machine has.
func (g *vmBuilder) addDisks() {
	disks := g.ix.disks[g.vm.ID]
	sum := g.vm.Value.At("disk")
	switch {
	case g.ignored["disks"]:
	case len(disks) > 0 && g.ix.covers(kindDisk):
		g.add("disks", g.disks(disks))
		return
	case !g.ix.covers(kindDisk) && (len(disks) > 0 || isAmount(sum)):
		g.omissions.add("single disks", kindDisk)
	}
	if isAmount(sum) && !g.ignored["disks"] {
		g.add("disk", sum)
	}
}

func (g *vmBuilder) disks(disks []*model.Resource) model.Value {
	items := make([]model.Value, 0, len(disks))
	taken := map[string]bool{}
	for _, r := range disks {
		size := r.Value.At("size")
		if !isAmount(size) {
			continue
		}
		name := diskName(r)
		if taken[name] {
			name += " (" + r.ID + ")"
		}
		taken[name] = true
		items = append(items, model.MapOf(model.Field{Name: "name", Value: model.StringOf(name)}, model.Field{Name: "size", Value: size}))
	}
	return model.ListOf(items...)
}

func diskName(r *model.Resource) string { return cmp.Or(nameOf(r), "disk "+r.ID) }

// addInterfaces claims the interfaces with a MAC address. If no interface has one, or not all
// interfaces were read, it claims nothing.
func (g *vmBuilder) addInterfaces() {
	if g.ignored["interfaces"] {
		return
	}
	if !g.ix.covers(kindInterface) {
		g.omissions.add("interfaces", kindInterface)
		return
	}
	if g.ports.hidden > 0 {
		g.omissions.add("MAC addresses", kindMAC)
	}
	if len(g.ports.keyed) == 0 {
		return
	}
	items := make([]model.Value, len(g.ports.keyed))
	for i, p := range g.ports.keyed {
		items[i] = g.port(p)
	}
	g.add("interfaces", model.ListOf(items...))
	g.lens.otherMACs, g.lens.withoutMAC = g.ports.otherMACs, g.ports.withoutMAC
}

// port returns the claimed element for the interface p.
func (g *vmBuilder) port(p port) model.Value {
	v := p.r.Value
	fields := []model.Field{{Name: "name", Value: model.StringOf(p.name)}, {Name: "mac", Value: model.StringOf(p.mac)}}
	add := func(name string, v model.Value) {
		if !g.ignored[name] {
			fields = append(fields, model.Field{Name: name, Value: v})
		}
	}
	if bridge := v.At("custom_fields", "bridge"); bridge.Str() != "" {
		add("bridge", bridge)
	}
	if enabled := v.At("enabled"); enabled.Kind() == model.Bool {
		add("enabled", enabled)
	}
	if vid, ok := g.untagged(v); ok {
		add("vlan", vid)
	}
	if vids, ok := g.tagged(v); ok {
		add("tagged_vlans", vids)
	}
	return model.MapOf(fields...)
}

// untagged returns the VLAN of the interface v for frames without a tag, 0 for none. ok is
// false if NetBox does not contain it.
func (g *vmBuilder) untagged(v model.Value) (vid model.Value, ok bool) {
	ref, mode := v.At("untagged_vlan"), v.At("mode").Str()
	if idOf(ref) == "" {
		return model.IntOf(0), slices.Contains([]string{"access", "tagged", "tagged-all"}, mode)
	}
	return g.vid(ref)
}

// tagged returns the VLANs of the interface v for frames with a tag. ok is false if NetBox
// does not contain them.
func (g *vmBuilder) tagged(v model.Value) (vids model.Value, ok bool) {
	refs := v.At("tagged_vlans").Items()
	switch mode := v.At("mode").Str(); {
	case mode == "access":
		return model.ListOf(), true
	case mode != "tagged" || len(refs) == 0:
		return model.Value{}, false
	}
	items := make([]model.Value, 0, len(refs))
	for _, ref := range refs {
		vid, ok := g.vid(ref)
		if !ok {
			return model.Value{}, false
		}
		items = append(items, vid)
	}
	return model.ListOf(items...), true
}

func (g *vmBuilder) vid(ref model.Value) (vid model.Value, ok bool) {
	vlan := g.ix.find(kindVLAN, ref)
	if vlan == nil {
		g.omissions.add("VLANs", kindVLAN)
		return model.Value{}, false
	}
	vid = vlan.Value.At("vid")
	return vid, isAmount(vid)
}

// addAddress claims the primary address in the field name. It sets nic to the MAC address of
// the interface that has the address.
func (g *vmBuilder) addAddress(name string, nic *string) {
	ref := g.vm.Value.At(name)
	if idOf(ref) == "" || g.ignored[name] {
		return
	}
	r := g.primary(name)
	if r == nil {
		g.omissions.add("primary addresses", kindAddress)
		return
	}
	address := r.Value.At("address")
	if _, ok := host(address.Str()); !ok {
		return
	}
	g.add(name, address)
	if r.Value.At("assigned_object_type").Str() == strings.TrimPrefix(kindInterface, Type+"/") {
		*nic = g.ports.byInterface[idOf(r.Value.At("assigned_object_id"))]
	}
}

// primary returns the primary address in the field name of the virtual machine, or nil if it
// was not read. For a translated address (NAT), it returns the inner address.
func (g *vmBuilder) primary(name string) *model.Resource {
	r := g.ix.find(kindAddress, g.vm.Value.At(name))
	if r == nil {
		return nil
	}
	if inside := r.Value.At("nat_inside"); idOf(inside) != "" {
		return g.ix.find(kindAddress, inside)
	}
	return r
}

// addTags claims the slugs of the tags, if the virtual machine has a tag that is not ignored.
func (g *vmBuilder) addTags() {
	if g.ignored["tags"] {
		return
	}
	var slugs []string
	for _, tag := range g.vm.Value.At("tags").Items() {
		name := tag.Str()
		if name == "" {
			continue
		}
		if g.ix.tags[name] == nil && !g.ix.covers(kindTag) {
			g.omissions.add("tags", kindTag)
			return
		}
		if slug := slugOf(g.ix.tags[name], name); !g.shared.ignores(slug) && !g.shared.ignores(name) {
			slugs = append(slugs, slug)
		}
	}
	if len(slugs) > 0 {
		g.add("tags", texts(slugs))
	}
}

// texts returns the sorted list of the strings of all, without duplicates.
func texts(all []string) model.Value {
	slices.Sort(all)
	all = slices.Compact(all)
	items := make([]model.Value, len(all))
	for i, s := range all {
		items[i] = model.StringOf(s)
	}
	return model.ListOf(items...)
}

// slugOf returns a tag in the form in which the systems can have it: its slug, or the slug
// that NetBox would derive from name.
func slugOf(tag *model.Resource, name string) string {
	if tag != nil && tag.Value.At("slug").Str() != "" {
		return strings.ToLower(tag.Value.At("slug").Str())
	}
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_'
	}), "-")
}

// sharedData is the data that all claims of one snapshot share.
type sharedData struct {
	schema *model.Schema
	// slugs maps the lower-case names and slugs of tags to slugs.
	slugs       map[string]string
	ignoredTags []string
	bridgeVLANs map[string]int64
}

func newSharedData(config Config, ix *index) *sharedData {
	d := &sharedData{schema: schema(), slugs: map[string]string{}, ignoredTags: config.IgnoreTags, bridgeVLANs: config.BridgeVLANs}
	tags := byID(ix.of[kindTag])
	for _, tag := range tags {
		d.slugs[strings.ToLower(nameOf(tag))] = slugOf(tag, nameOf(tag))
	}
	for _, tag := range tags {
		slug := slugOf(tag, nameOf(tag))
		d.slugs[slug] = slug
	}
	return d
}

// ignores reports whether tag matches a pattern of ignored tags.
func (d *sharedData) ignores(tag string) bool {
	return slices.ContainsFunc(d.ignoredTags, func(pattern string) bool {
		ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(tag))
		return ok && err == nil
	})
}

// node returns the claim of r, a virtual machine or device, on the Kubernetes node with the
// same name. The claim only requires that the node exists.
func (d *deriver) node(ix *index, r *model.Resource, source string) model.Claim {
	what, address := "NetBox VM ", "virtual-machines/"
	if r.Kind == kindDevice {
		what, address = "NetBox device ", "devices/"
	}
	claim := model.Claim{Declaration: d.env.Name, Source: source, Address: address + r.ID, Kind: kindNode, ID: strings.ToLower(nameOf(r)),
		Name: nameOf(r), ClaimApply: model.ClaimApply{MayBeAbsent: mayBeAbsent(r)}, Value: model.MapOf(), Lens: present{}, ClaimHistory: model.ClaimHistory{AuditEvents: d.nodeEvents(ix, r), WriterUnknown: cmp.Or(ix.snapshot.LogUnread, r.WriterUnknown), LogUnread: ix.snapshot.LogUnread}}
	if claim.ID == "" {
		claim.ID, claim.Name = what+r.ID, what+r.ID
		claim.Unchecked = fmt.Sprintf("%s%s has no name: give it the name of the node", what, r.ID)
	}
	return claim
}
