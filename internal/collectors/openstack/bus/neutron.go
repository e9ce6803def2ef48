package bus

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// neutron returns the kinds by Neutron's names, with the field that lists objects of another
// kind that are created and deleted with it, without a notification of their own.
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

// neutronDecoders decodes Neutron's notifications. The start of an update has the body of the
// request, and its end the whole object.
func neutronDecoders() map[string]decodeFunc {
	decoders := map[string]decodeFunc{
		"router.interface.create": routerInterface(model.Created),
		"router.interface.delete": routerInterface(model.Deleted),
	}
	for _, event := range []string{"tag.create.end", "tag.update.end", "tag.delete.end", "tag.delete_all.end"} {
		decoders[event] = tagChange
	}
	for name, object := range neutron() {
		for suffix, action := range map[string]model.Action{"create": model.Created, "delete": model.Deleted} {
			decoders[name+"."+suffix+".end"] = func(n *notification) []Event {
				var events []Event
				for _, row := range rows(n.payload, name) {
					events = append(events, Event{Ref: model.Ref{Kind: object.kind, ID: row.At("id").Str()}, Action: action})
					for _, other := range row.At(object.with).Items() {
						events = append(events, Event{Ref: model.Ref{Kind: object.of, ID: idOf(other)}, Action: action})
					}
					events = append(events, serverInterface(name, row)...)
				}
				return events
			}
		}
		decoders[name+".update.start"] = func(n *notification) []Event { return updatedFields(n.payload, name, object.kind) }
		decoders[name+".update.end"] = func(n *notification) []Event {
			return []Event{{Ref: model.Ref{Kind: object.kind, ID: n.payload.At(name, "id").Str()}}}
		}
	}
	return decoders
}

// rows returns the objects of a notification: one, or several of a bulk request. For a deleted
// object, older versions of Neutron send the id only.
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

// idOf returns the id of a listed object, which is the object or its id.
func idOf(listed model.Value) string {
	if id := listed.At("id").Str(); id != "" {
		return id
	}
	return listed.Str()
}

// updatedFields returns the fields in the body of an update.
func updatedFields(payload model.Value, name, kind string) []Event {
	a := Event{Ref: model.Ref{Kind: kind, ID: payload.At("id").Str()}}
	for _, f := range payload.At(name).Fields() {
		a.Fields = append(a.Fields, fieldName(f.Name))
	}
	if kind == normalize.FloatingIP && slices.Contains(a.Fields, "port_id") {
		// Neutron takes these from the port by default.
		a.Fields = append(a.Fields, "device_id", "fixed_ip_address")
	}
	a.Fields = slices.Compact(slices.Sorted(slices.Values(a.Fields)))
	return []Event{a}
}

// fieldName returns the name of a request's field in the kinds' values.
func fieldName(raw string) string { return strings.ToLower(raw[strings.LastIndex(raw, ":")+1:]) }

// serverInterface returns the change of a server's interfaces by a port.
func serverInterface(name string, port model.Value) []Event {
	if name != "port" || !strings.HasPrefix(port.At("device_owner").Str(), "compute:") {
		return nil
	}
	return []Event{{Ref: model.Ref{Kind: normalize.Server, ID: port.At("device_id").Str()}, Fields: []string{"interfaces"}}}
}

// routerInterface decodes the connection of a router to a network by a port, or its end.
func routerInterface(action model.Action) decodeFunc {
	return func(n *notification) []Event {
		of := n.payload.At("router_interface")
		return []Event{{Ref: model.Ref{Kind: normalize.Port, ID: of.At("port_id").Str()}, Action: action}}
	}
}

// tagChange decodes a change of an object's tags.
func tagChange(n *notification) []Event {
	parent := strings.ReplaceAll(strings.TrimSuffix(n.payload.At("parent_resource").Str(), "s"), "-", "_")
	return []Event{{Ref: model.Ref{Kind: neutron()[parent].kind, ID: n.payload.At("parent_resource_id").Str()}, Fields: []string{"tags"}}}
}
