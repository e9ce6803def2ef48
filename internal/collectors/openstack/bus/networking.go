package bus

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
	"github.com/driftd/driftd/internal/model"
)

// neutron says what Neutron calls the kinds, and in which field of an object it
// lists others that come and go with it, without a notice of their own.
func neutron() map[string]struct{ kind, with, of string } {
	return map[string]struct{ kind, with, of string }{
		"network":             {kind: normalize.Network, with: "subnets", of: normalize.Subnet},
		"subnet":              {kind: normalize.Subnet},
		"port":                {kind: normalize.Port},
		"router":              {kind: normalize.Router},
		"floatingip":          {kind: normalize.FloatingIP},
		"security_group":      {kind: normalize.SecurityGroup, with: "security_group_rules", of: normalize.SecurityGroupRule},
		"security_group_rule": {kind: normalize.SecurityGroupRule},
	}
}

// networking reads Neutron's notices. That an update began is told with the
// body of the request, and that it came to its end with the whole object.
func networking() map[string]reader {
	readers := map[string]reader{
		"router.interface.create": plugged(model.Created),
		"router.interface.delete": plugged(model.Deleted),
	}
	for _, event := range []string{"tag.create.end", "tag.update.end", "tag.delete.end", "tag.delete_all.end"} {
		readers[event] = tagged
	}
	for name, object := range neutron() {
		for action, deed := range map[string]model.Action{"create": model.Created, "delete": model.Deleted} {
			readers[name+"."+action+".end"] = func(n *notice) []Act {
				var acts []Act
				for _, row := range rows(n.payload, name) {
					acts = append(acts, Act{Ref: model.Ref{Kind: object.kind, ID: row.At("id").Str()}, Deed: deed})
					for _, other := range row.At(object.with).Items() {
						acts = append(acts, Act{Ref: model.Ref{Kind: object.of, ID: idOf(other)}, Deed: deed})
					}
					acts = append(acts, ofServer(name, row)...)
				}
				return acts
			}
		}
		readers[name+".update.start"] = func(n *notice) []Act { return asked(n.payload, name, object.kind) }
		readers[name+".update.end"] = func(n *notice) []Act {
			return []Act{{Ref: model.Ref{Kind: object.kind, ID: n.payload.At(name, "id").Str()}}}
		}
	}
	return readers
}

// rows returns the objects of a notice: one, or those that were made at once. Of
// one that went, an older Neutron tells no more than the id.
func rows(payload model.Value, name string) []model.Value {
	if many := payload.At(name + "s"); many.Kind() == model.List {
		return many.Items()
	}
	row := payload.At(name)
	if id := payload.At(name + "_id"); row.At("id").IsNull() && !id.IsNull() {
		row = model.MapOf(model.Field{Name: "id", Value: id})
	}
	return []model.Value{row}
}

// idOf returns the id of an object that is listed by it, or as a whole.
func idOf(listed model.Value) string {
	if id := listed.At("id").Str(); id != "" {
		return id
	}
	return listed.Str()
}

// asked tells which fields the body of an update names.
func asked(payload model.Value, name, kind string) []Act {
	a := Act{Ref: model.Ref{Kind: kind, ID: payload.At("id").Str()}}
	for _, f := range payload.At(name).Fields() {
		a.Fields = append(a.Fields, fieldName(f.Name))
	}
	if kind == normalize.FloatingIP && slices.Contains(a.Fields, "port_id") {
		// Neutron takes these from the port where nobody names them.
		a.Fields = append(a.Fields, "device_id", "fixed_ip_address")
	}
	a.Fields = slices.Compact(slices.Sorted(slices.Values(a.Fields)))
	return []Act{a}
}

// fieldName is what a field of a body is called in the kinds' values.
func fieldName(raw string) string { return strings.ToLower(raw[strings.LastIndex(raw, ":")+1:]) }

// ofServer tells that the server has an interface more, or less.
func ofServer(name string, port model.Value) []Act {
	if name != "port" || !strings.HasPrefix(port.At("device_owner").Str(), "compute:") {
		return nil
	}
	return []Act{{Ref: model.Ref{Kind: normalize.Server, ID: port.At("device_id").Str()}, Fields: []string{"interfaces"}}}
}

// plugged reads that a router was given an interface, or lost one: a port.
func plugged(deed model.Action) reader {
	return func(n *notice) []Act {
		of := n.payload.At("router_interface")
		return []Act{{Ref: model.Ref{Kind: normalize.Port, ID: of.At("port_id").Str()}, Deed: deed}}
	}
}

// tagged reads that an object's tags were changed.
func tagged(n *notice) []Act {
	parent := strings.ReplaceAll(strings.TrimSuffix(n.payload.At("parent_resource").Str(), "s"), "-", "_")
	return []Act{{Ref: model.Ref{Kind: neutron()[parent].kind, ID: n.payload.At("parent_resource_id").Str()}, Fields: []string{"tags"}}}
}
