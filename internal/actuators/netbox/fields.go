package netbox

import (
	"context"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
)

// A target is a field of an object that is to have a value.
type target struct {
	// path is the path in the claim, and name the name of the field in NetBox.
	path, name string
	object     object
	// holder is the object that refers to the object: the machine of a primary address, or the interface of a MAC address; nil for none.
	holder *object
	// value is what the field gets, in the form of a request.
	value model.Value
}

// locate finds the objects and fields of the paths of a claim on a machine. Objects are read once.
func (a *Actuator) locate(ctx context.Context, s *netboxapi.Session, vm *object, paths []string) ([]target, error) {
	all := make([]target, len(paths))
	read := map[string]target{"": {object: *vm}}
	for i, path := range paths {
		element, name, list, err := split(path)
		if err != nil {
			return nil, err
		}
		known, ok := read[list+element]
		if !ok {
			if known, err = a.find(ctx, s, vm, list, element); err != nil {
				return nil, err
			}
			read[list+element] = known
		}
		all[i] = known
		all[i].path, all[i].name = path, name
	}
	return all, nil
}

// find reads the object of a list that an element of a claim stands for, with its holder.
func (a *Actuator) find(ctx context.Context, s *netboxapi.Session, vm *object, list, element string) (t target, err error) {
	switch list {
	case addressesPath:
		t.holder = vm
		t.object, err = a.address(ctx, s, vm, element)
	case macsPath:
		return a.mac(ctx, s, vm, element)
	default:
		t.object, err = a.part(ctx, s, vm, list, element)
	}
	return t, err
}

// split returns the name of a path's field, and the list that has its object; "" for the machine. The element is the name of a disk or an
// interface, or the field of a primary address.
func split(path string) (element, name, list string, err error) {
	steps, ok := fieldpath.Parse(path)
	switch {
	case ok && len(steps) == 1:
		switch name := steps[0].Name; name {
		case "name", "status", "device", "vcpus", "memory", "disk":
			return "", name, "", nil
		case "primary_ip4", "primary_ip6":
			return name, "address", addressesPath, nil
		}
	case ok && len(steps) == 3 && len(steps[1].Keys) == 1:
		element := steps[1].Keys[0].Value
		switch steps[0].Name + " " + steps[2].Name {
		case "disks size":
			return element, "size", disksPath, nil
		case "interfaces enabled":
			return element, "enabled", interfacesPath, nil
		case "interfaces mac":
			return element, macField, macsPath, nil
		}
	}
	return "", "", "", refuse(guardKind, "%s: driftd writes name, status, device, vcpus, memory and disk of a virtual machine, its primary addresses, the size of its disks, and the MAC addresses of its interfaces and whether they are enabled", path)
}

// The fields with the MAC address of an interface: that of a MAC address, or of an interface before 4.2, and the one with which
// an interface refers to its primary MAC address.
const (
	macField     = "mac_address"
	primaryField = "primary_" + macField
)

// mac reads the object with the MAC address of an interface: the primary MAC address, or the only one. Before 4.2, that is the interface.
func (a *Actuator) mac(ctx context.Context, s *netboxapi.Session, vm *object, name string) (target, error) {
	nic, err := a.part(ctx, s, vm, interfacesPath, name)
	primary, apart := nic.value.Get(primaryField)
	if err != nil || !apart {
		return target{object: nic}, err
	}
	all := nic.value.At("mac_addresses").Items()
	switch {
	case !primary.IsNull():
	case len(all) == 1:
		primary = all[0]
	default:
		return target{}, refuse(guardKind, "interface %s has %d MAC addresses in NetBox, and none is its primary one: set that at %s", name, len(all), nic.path)
	}
	o, _, err := a.read(ctx, s, macsPath+primary.At("id").Text()+"/")
	if err == nil && !isOf(o.value, &nic) {
		err = refuse(guardKind, "MAC address %s is not assigned to interface %s: assign it at %s", o.value.At(macField).Text(), name, o.path)
	}
	return target{object: o, holder: &nic}, err
}

// isOf reports whether a MAC address is assigned to an interface.
func isOf(mac model.Value, nic *object) bool {
	return mac.At("assigned_object_type").Str() == vmInterface && mac.At("assigned_object_id").Text() == nic.value.At("id").Text()
}

// address reads the address that a field of a machine stands for: one of an interface of that machine.
func (a *Actuator) address(ctx context.Context, s *netboxapi.Session, vm *object, field string) (object, error) {
	id := vm.value.At(field, "id").Text()
	if id == "" {
		return object{}, refuse(guardStillSo, "NetBox has no %s for it: look again", field)
	}
	o, _, err := a.read(ctx, s, addressesPath+id+"/")
	switch {
	case err != nil:
		return object{}, err
	case !o.value.At("nat_inside").IsNull():
		return object{}, refuse(guardKind, "%s: the address is a translated one (NAT): look at %s%s", field, addressesPath, id)
	case o.value.At("assigned_object_type").Str() != vmInterface || o.value.At("assigned_object", "virtual_machine", "id").Text() != vm.value.At("id").Text():
		return object{}, refuse(guardKind, "%s: the address belongs to no interface of the machine: look at %s%s", field, addressesPath, id)
	}
	return o, nil
}

// documented returns a live value as NetBox has it. The live address may have no prefix length: it keeps that of NetBox, if it is in
// the same network.
func (t *target) documented(live *model.Value) (*model.Value, error) {
	if t.name != "address" {
		return live, nil
	}
	text := live.Str()
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		held, failed := netip.ParsePrefix(t.held(&t.object).Str())
		addr, err := netip.ParseAddr(text)
		if failed != nil || err != nil || !held.Masked().Contains(addr) {
			return nil, refuse(guardKind, "%s: the live system has %q, which is not one address with its prefix length", t.path, text)
		}
		prefix = netip.PrefixFrom(addr, held.Bits())
	}
	v := model.StringOf(prefix.String())
	return &v, nil
}

// checkFree refuses an address that NetBox has already. A MAC address that the same interface has becomes its primary one.
func (a *Actuator) checkFree(ctx context.Context, s *netboxapi.Session, t *target) error {
	if t.name != "address" && t.name != macField {
		return nil
	}
	list := t.object.list()
	wanted, _, _ := strings.Cut(t.value.Str(), "/")
	answer, _, err := s.Object(ctx, list, url.Values{t.name: {wanted}, "limit": {"0"}})
	rows := answer.At("results").Items()
	switch {
	case err != nil || len(rows) == 0:
		return err
	case list == macsPath && len(rows) == 1 && isOf(rows[0], t.holder) && canonical(rows[0].At(macField)).Equal(t.value):
		*t = target{path: t.path, name: primaryField, object: *t.holder, value: rows[0].At("id")}
		return nil
	}
	return refuse(guardKind, "%s: NetBox has %s already: look at %s%s, and remove what is wrong there", t.path, wanted, list, rows[0].At("id").Text())
}

// held returns the value of a field in the form of a claim; null if NetBox has none.
func (t *target) held(o *object) model.Value {
	v := o.value.At(t.name)
	switch t.name {
	case "status":
		return v.At("value")
	case "device":
		return v.At("name")
	case macField:
		return canonical(v)
	}
	return v
}

// canonical returns a MAC address in the form of a claim: upper case, with colons.
func canonical(v model.Value) model.Value {
	mac, err := net.ParseMAC(v.Str())
	if err != nil {
		return v
	}
	return model.StringOf(strings.ToUpper(mac.String()))
}

// sent returns a value in the form of a request.
func (t *target) sent(v model.Value) model.Value {
	if t.name == "device" {
		return model.MapOf(model.Field{Name: "name", Value: v})
	}
	return v
}

// same reports whether two values are equal: numbers by their value, because some versions of NetBox return them as texts.
func same(a, b model.Value) bool {
	x, y := number(a), number(b)
	if x == nil || y == nil {
		return a.Equal(b)
	}
	return x.Cmp(y) == 0
}

func number(v model.Value) *big.Rat {
	if v.Kind() != model.Number && v.Kind() != model.String {
		return nil
	}
	n, ok := new(big.Rat).SetString(v.Text())
	if !ok {
		return nil
	}
	return n
}
