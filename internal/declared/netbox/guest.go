package netbox

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A composer makes the claims of one look.
type composer struct {
	*deriver
	ix     *index
	words  *glossary
	vmid   string
	unseen unseen
}

func newComposer(d *deriver, ix *index) *composer {
	return &composer{deriver: d, ix: ix, words: newGlossary(d.config, ix), vmid: d.vmidField(ix),
		unseen: unseen{ix: ix, count: map[omission]int{}}}
}

// A guest is what NetBox says of one virtual machine.
type guest struct {
	*composer
	vm     *model.Resource
	system *system
	ports  ports
	// value collects what is claimed, lens what View has to know besides.
	value []model.Field
	lens  *lens
}

// claim returns the claim of one virtual machine on a machine of a system.
func (c *composer) claim(vm *model.Resource, s *system, in placing) model.Claim {
	g := &guest{composer: c, vm: vm, system: s, ports: c.newPorts(c.ix.interfaces[vm.ID]), lens: &lens{glossary: c.words, system: s}}
	g.scalars()
	g.addStatus()
	g.addDevice()
	g.addDisks()
	g.addInterfaces()
	g.addAddress("primary_ip4", &g.lens.nic4)
	g.addAddress("primary_ip6", &g.lens.nic6)
	g.addTags()
	g.lens.declared = model.MapOf(g.value...)
	traces := g.traces()
	claim := model.Claim{
		Declaration: c.env.Name, Source: in.source, Address: "virtual-machines/" + vm.ID,
		Kind: s.kinds[0], ID: label(vm, "NetBox VM "), Name: cmp.Or(nameOf(vm), "VM "+vm.ID), Value: g.lens.declared, Lens: g.lens,
		ClaimMatching: model.ClaimMatching{Identities: g.identities(), ByIdentity: true, AltKinds: s.kinds[1:], Cohort: in.cohort, Doubt: g.doubt(in)},
		ClaimApply:    model.ClaimApply{MayBeAbsent: mayBeAbsent(vm)},
		ClaimHistory: model.ClaimHistory{AuditEvents: traces, WriterUnknown: cmp.Or(c.ix.snapshot.LogUnread, vm.WriterUnknown),
			LogUnread: c.ix.snapshot.LogUnread},
	}
	if len(traces) > 0 {
		claim.Since = traces[len(traces)-1].Actor.At
	}
	return claim
}

// label is what a claim is called while nothing live is found for it.
func label(r *model.Resource, what string) string {
	if name := nameOf(r); name != "" {
		return name + " (" + what + r.ID + ")"
	}
	return what + r.ID
}

// mayBeAbsent tells a status in which something need not exist: not yet, or no
// longer.
func mayBeAbsent(r *model.Resource) bool {
	return slices.Contains([]string{"planned", "staged", "decommissioning", "inventory"}, r.Value.At("status").Str())
}

// says claims a field, unless it is ignored.
func (g *guest) says(word string, v model.Value) {
	if !g.ignored[word] {
		g.value = append(g.value, model.Field{Name: word, Value: v})
	}
}

// scalars claims what stands in the virtual machine itself.
func (g *guest) scalars() {
	if name := nameOf(g.vm); name != "" {
		g.says("name", model.StringOf(name))
	}
	for _, word := range []string{"vcpus", "memory"} {
		if n := g.vm.Value.At(word); isAmount(n) {
			g.says(word, n)
		}
	}
}

// isAmount tells a number above zero.
func isAmount(v model.Value) bool {
	return v.Kind() == model.Number && !v.IsEmpty() && !strings.HasPrefix(v.Text(), "-")
}

func (g *guest) addStatus() {
	if status := g.vm.Value.At("status"); status.Str() == active || status.Str() == offline {
		g.says("status", status)
	}
}

func (g *guest) addDevice() {
	ref := g.vm.Value.At("device")
	if idOf(ref) == "" || g.ignored["device"] {
		return
	}
	device := g.ix.find(kindDevice, ref)
	switch {
	case device == nil:
		g.unseen.note("the device", kindDevice)
	case nameOf(device) != "":
		g.says("device", model.StringOf(nameOf(device)))
	}
}

// addDisks claims the virtual disks, or where there are none, or not all of them
// were read, what NetBox has as their sum.
func (g *guest) addDisks() {
	disks := g.ix.disks[g.vm.ID]
	sum := g.vm.Value.At("disk")
	switch {
	case g.ignored["disks"]:
	case len(disks) > 0 && g.ix.covers(kindDisk):
		g.says("disks", g.disks(disks))
		return
	case !g.ix.covers(kindDisk) && (len(disks) > 0 || isAmount(sum)):
		g.unseen.note("single disks", kindDisk)
	}
	if isAmount(sum) && !g.ignored["disks"] {
		g.says("disk", sum)
	}
}

func (g *guest) disks(disks []*model.Resource) model.Value {
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

// addInterfaces claims the interfaces that have a MAC address, where any has and
// all were read.
func (g *guest) addInterfaces() {
	if g.ignored["interfaces"] {
		return
	}
	if !g.ix.covers(kindInterface) {
		g.unseen.note("interfaces", kindInterface)
		return
	}
	if g.ports.hidden > 0 {
		g.unseen.note("MAC addresses", kindMAC)
	}
	if len(g.ports.keyed) == 0 {
		return
	}
	items := make([]model.Value, len(g.ports.keyed))
	for i, p := range g.ports.keyed {
		items[i] = g.port(p)
	}
	g.says("interfaces", model.ListOf(items...))
	g.lens.also, g.lens.nameless = g.ports.also, g.ports.nameless
}

// port is what NetBox says of one interface.
func (g *guest) port(p port) model.Value {
	v := p.r.Value
	fields := []model.Field{{Name: "mac", Value: model.StringOf(p.mac)}}
	say := func(word string, v model.Value) {
		if !g.ignored[word] {
			fields = append(fields, model.Field{Name: word, Value: v})
		}
	}
	if name := nameOf(p.r); name != "" {
		fields = append(fields, model.Field{Name: "name", Value: model.StringOf(name)})
	}
	if bridge := v.At("custom_fields", "bridge"); bridge.Str() != "" {
		say("bridge", bridge)
	}
	if enabled := v.At("enabled"); enabled.Kind() == model.Bool {
		say("enabled", enabled)
	}
	if vid, ok := g.untagged(v); ok {
		say("vlan", vid)
	}
	if vids, ok := g.tagged(v); ok {
		say("tagged_vlans", vids)
	}
	return model.MapOf(fields...)
}

// untagged returns the VLAN whose frames an interface gets without a tag, 0 for
// none; ok is false where NetBox does not say.
func (g *guest) untagged(v model.Value) (vid model.Value, ok bool) {
	ref, mode := v.At("untagged_vlan"), v.At("mode").Str()
	if idOf(ref) == "" {
		return model.IntOf(0), slices.Contains([]string{"access", "tagged", "tagged-all"}, mode)
	}
	return g.vid(ref)
}

// tagged returns the VLANs whose frames an interface gets with their tags.
func (g *guest) tagged(v model.Value) (vids model.Value, ok bool) {
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

func (g *guest) vid(ref model.Value) (vid model.Value, ok bool) {
	vlan := g.ix.find(kindVLAN, ref)
	if vlan == nil {
		g.unseen.note("VLANs", kindVLAN)
		return model.Value{}, false
	}
	vid = vlan.Value.At("vid")
	return vid, isAmount(vid)
}

// addAddress claims a primary address; nic gets the MAC address of the interface
// that has it.
func (g *guest) addAddress(word string, nic *string) {
	ref := g.vm.Value.At(word)
	if idOf(ref) == "" || g.ignored[word] {
		return
	}
	r := g.primary(word)
	if r == nil {
		g.unseen.note("primary addresses", kindAddress)
		return
	}
	address := r.Value.At("address")
	if _, ok := host(address.Str()); !ok {
		return
	}
	g.says(word, address)
	if r.Value.At("assigned_object_type").Str() == strings.TrimPrefix(kindInterface, Type+"/") {
		*nic = g.ports.byInterface[idOf(r.Value.At("assigned_object_id"))]
	}
}

// primary returns the address that the machine itself has as its primary one: of
// one that is translated the inner one. It is nil where that was not seen.
func (g *guest) primary(word string) *model.Resource {
	r := g.ix.find(kindAddress, g.vm.Value.At(word))
	if r == nil {
		return nil
	}
	if inside := r.Value.At("nat_inside"); idOf(inside) != "" {
		return g.ix.find(kindAddress, inside)
	}
	return r
}

// addTags claims the tags by their slugs, where NetBox names any that counts.
func (g *guest) addTags() {
	if g.ignored["tags"] {
		return
	}
	var slugs []string
	for _, tag := range g.vm.Value.At("tags").Items() {
		name := tag.Str()
		if name == "" {
			continue
		}
		if g.ix.named[name] == nil && !g.ix.covers(kindTag) {
			g.unseen.note("tags", kindTag)
			return
		}
		if slug := slugOf(g.ix.named[name], name); !g.words.ignores(slug) && !g.words.ignores(name) {
			slugs = append(slugs, slug)
		}
	}
	if len(slugs) > 0 {
		g.says("tags", texts(slugs))
	}
}

// texts returns the list of the texts, each once, sorted.
func texts(all []string) model.Value {
	slices.Sort(all)
	all = slices.Compact(all)
	items := make([]model.Value, len(all))
	for i, s := range all {
		items[i] = model.StringOf(s)
	}
	return model.ListOf(items...)
}

// slugOf is a tag as the systems can write it: its slug, or what NetBox would make
// of its name.
func slugOf(tag *model.Resource, name string) string {
	if tag != nil && tag.Value.At("slug").Str() != "" {
		return strings.ToLower(tag.Value.At("slug").Str())
	}
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_'
	}), "-")
}

// A glossary is what all claims of one look share.
type glossary struct {
	schema *model.Schema
	// slugs are the tags by what a system may call them.
	slugs       map[string]string
	ignoredTags []string
	bridgeVLANs map[string]int64
}

func newGlossary(config Config, ix *index) *glossary {
	w := &glossary{schema: schema(), slugs: map[string]string{}, ignoredTags: config.IgnoreTags, bridgeVLANs: config.BridgeVLANs}
	tags := byID(ix.of[kindTag])
	for _, tag := range tags {
		w.slugs[strings.ToLower(nameOf(tag))] = slugOf(tag, nameOf(tag))
	}
	for _, tag := range tags {
		slug := slugOf(tag, nameOf(tag))
		w.slugs[slug] = slug
	}
	return w
}

// ignores tells whether a tag is one side's own on purpose.
func (w *glossary) ignores(tag string) bool {
	return slices.ContainsFunc(w.ignoredTags, func(pattern string) bool {
		ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(tag))
		return ok && err == nil
	})
}

// node is the claim of a virtual machine or device on the Kubernetes node of its
// name: only that it is there.
func (d *deriver) node(ix *index, r *model.Resource, source string) model.Claim {
	what, address := "NetBox VM ", "virtual-machines/"
	if r.Kind == kindDevice {
		what, address = "NetBox device ", "devices/"
	}
	claim := model.Claim{Declaration: d.env.Name, Source: source, Address: address + r.ID, Kind: kindNode, ID: strings.ToLower(nameOf(r)),
		Name: nameOf(r), ClaimApply: model.ClaimApply{MayBeAbsent: mayBeAbsent(r)}, Value: model.MapOf(), Lens: present{}, ClaimHistory: model.ClaimHistory{AuditEvents: d.written(ix, r), WriterUnknown: r.WriterUnknown, LogUnread: ix.snapshot.LogUnread}}
	if claim.ID == "" {
		claim.ID, claim.Name = what+r.ID, what+r.ID
		claim.Unchecked = fmt.Sprintf("%s%s has no name: name it as the node is", what, r.ID)
	}
	return claim
}
