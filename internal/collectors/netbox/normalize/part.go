package normalize

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// The kinds whose objects have parts.
const (
	virtualMachine = "virtualization.virtualmachine"
	device         = "dcim.device"
)

// A Groups describes which objects belong together: a virtual machine or a device, and its parts,
// which NetBox changes together. A change of an object outside of a group, if the object can be
// read alone, affects no other object.
type Groups struct {
	kinds map[string]*Kind
	parts map[string][]Parts
}

// A Parts describes the parts of one kind that an object has.
type Parts struct {
	Kind *Kind
	// Filter is the parameter of the kind's list that selects the parts of an object by its ID.
	Filter string
}

// NewGroups returns the groups of the kinds.
func NewGroups(kinds []*Kind) *Groups {
	g := &Groups{kinds: map[string]*Kind{}, parts: map[string][]Parts{}}
	for _, k := range kinds {
		g.kinds[k.Name] = k
	}
	const ofMachine, ofDevice = "virtual_machine_id", "device_id"
	for _, name := range []string{"virtualization.vminterface", "virtualization.virtualdisk", "ipam.ipaddress", "dcim.macaddress"} {
		g.add(virtualMachine, name, ofMachine)
	}
	for _, name := range []string{"dcim.interface", "ipam.ipaddress", "dcim.macaddress"} {
		g.add(device, name, ofDevice)
	}
	for _, e := range components() {
		g.add(device, e.model, ofDevice)
	}
	return g
}

func (g *Groups) add(whole, part, filter string) {
	whole = Type + "/" + whole
	g.parts[whole] = append(g.parts[whole], Parts{g.kinds[Type+"/"+part], filter})
}

// Parts returns descriptions of the parts that an object of the kind can have.
func (g *Groups) Parts(kind string) []Parts { return g.parts[kind] }

// Kind returns the kind with the name. It returns nil if the kind is unknown, or if its objects
// cannot be read alone because a change of one also appears in objects of other kinds.
func (g *Groups) Kind(name string) *Kind {
	alone := []string{virtualMachine, device, "ipam.prefix", "ipam.iprange"}
	for _, parts := range g.parts {
		for _, p := range parts {
			alone = append(alone, p.Kind.Model)
		}
	}
	if k := g.kinds[name]; k != nil && slices.Contains(alone, k.Model) {
		return k
	}
	return nil
}

// Owner returns the object to which a part with the value belongs, or the zero Ref if there is
// none.
func (g *Groups) Owner(kind string, value model.Value) model.Ref {
	if typ := value.At("assigned_object_type").Str(); typ != "" {
		return g.ref(typ, value.At("assigned_object_id"))
	}
	for field, whole := range map[string]string{"virtual_machine": virtualMachine, "device": device} {
		isPart := slices.ContainsFunc(g.parts[Type+"/"+whole], func(p Parts) bool { return p.Kind.Name == kind })
		if id := value.At(field); isPart && !id.IsNull() {
			return g.ref(whole, id)
		}
	}
	return model.Ref{}
}

func (g *Groups) ref(name string, id model.Value) model.Ref {
	if g.Kind(Type+"/"+name) == nil || id.Text() == "" {
		return model.Ref{}
	}
	return model.Ref{Kind: Type + "/" + name, ID: id.Text()}
}
