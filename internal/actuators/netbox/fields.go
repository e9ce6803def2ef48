package netbox

import (
	"cmp"
	"context"
	"math/big"
	"net/netip"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
	"github.com/driftd/driftd/internal/reconcile"
)

// A target is a field of an object that is to have a value.
type target struct {
	// path is the path in the claim, and name the name of the field in NetBox.
	path, name string
	object     object
}

// locate finds the objects and fields of the paths of a claim on a machine. Objects are read once.
func (a *Actuator) locate(ctx context.Context, s *netboxapi.Session, vm *object, paths []string) ([]target, error) {
	all := make([]target, len(paths))
	read := map[string]object{}
	for i, path := range paths {
		element, name, list, err := split(path)
		if err != nil {
			return nil, err
		}
		all[i] = target{path, name, *vm}
		if list == "" {
			continue
		}
		known, ok := read[list+element]
		if !ok {
			if list == addressesPath {
				known, err = a.address(ctx, s, vm, element)
			} else {
				known, err = a.part(ctx, s, vm, list, func(row model.Value) bool { return isElement(list, row, element) })
			}
			if err != nil {
				return nil, err
			}
			read[list+element] = known
		}
		all[i].object = known
	}
	return all, nil
}

// split returns the name of a path's field. That of a disk or an interface has the list that has it, and its name or its
// MAC address.
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
		switch {
		case steps[0].Name == "disks" && steps[2].Name == "size":
			return element, "size", disksPath, nil
		case steps[0].Name == "interfaces" && steps[2].Name == "enabled":
			return element, "enabled", interfacesPath, nil
		}
	}
	return "", "", "", refuse(guardKind, "%s: driftd writes name, status, device, vcpus, memory and disk of a virtual machine, its primary addresses, the size of its disks, and whether its interfaces are enabled", path)
}

// isElement reports whether an object of a list is the one with a name or a MAC address.
func isElement(list string, row model.Value, element string) bool {
	if list == disksPath {
		return row.At("name").Str() == element
	}
	mac := cmp.Or(row.At("primary_mac_address", "mac_address").Str(), row.At("mac_address").Str())
	return element != "" && strings.EqualFold(mac, element)
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
	case o.value.At("assigned_object_type").Str() != "virtualization.vminterface" || o.value.At("assigned_object", "virtual_machine", "id").Text() != vm.value.At("id").Text():
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

// checkFree refuses an address that NetBox has already.
func (a *Actuator) checkFree(ctx context.Context, s *netboxapi.Session, changes []reconcile.FieldChange) error {
	for _, c := range changes {
		if c.Path != "primary_ip4" && c.Path != "primary_ip6" {
			continue
		}
		host, _, _ := strings.Cut(c.New.Str(), "/")
		answer, _, err := s.Object(ctx, addressesPath, url.Values{"address": {host}, "limit": {"0"}})
		if err != nil {
			return err
		}
		if rows := answer.At("results").Items(); len(rows) > 0 {
			return refuse(guardKind, "%s: NetBox has %s already: look at %s%s", c.Path, host, addressesPath, rows[0].At("id").Text())
		}
	}
	return nil
}

// held returns the value of a field in the form of a claim; null if NetBox has none.
func (t *target) held(o *object) model.Value {
	v := o.value.At(t.name)
	switch t.name {
	case "status":
		return v.At("value")
	case "device":
		return v.At("name")
	}
	return v
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
