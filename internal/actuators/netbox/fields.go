package netbox

import (
	"cmp"
	"context"
	"math/big"
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
			if known, err = a.part(ctx, s, vm, list, func(row model.Value) bool { return isElement(list, row, element) }); err != nil {
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
	return "", "", "", refuse(guardKind, "%s: driftd writes name, status, device, vcpus, memory and disk of a virtual machine, the size of its disks, and whether its interfaces are enabled", path)
}

// isElement reports whether an object of a list is the one with a name or a MAC address.
func isElement(list string, row model.Value, element string) bool {
	if list == disksPath {
		return row.At("name").Str() == element
	}
	mac := cmp.Or(row.At("primary_mac_address", "mac_address").Str(), row.At("mac_address").Str())
	return element != "" && strings.EqualFold(mac, element)
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
