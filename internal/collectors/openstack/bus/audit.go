package bus

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/printable"
)

// A collection is the part of a request's path before the id of an object.
type collection struct {
	kind string
	// updateFields are the fields that an update of the object may change; "" for any.
	updateFields string
	// subpaths are the parts of a path below an object, with the fields that requests there
	// change. "action/NAME" is the action of that name.
	subpaths map[string]string
}

// collections returns the collections of all services, by the part of a path.
func collections() map[string]collection {
	tags := map[string]string{"tags": "tags"}
	return map[string]collection{
		"servers":              {normalize.Server, "access_ipv4 access_ipv6 description name", serverSubpaths()},
		"flavors":              {normalize.Flavor, "description", map[string]string{"os-extra_specs": "extra_specs"}},
		"os-keypairs":          {normalize.Keypair, "", nil},
		"os-server-groups":     {normalize.ServerGroup, "", nil},
		"networks":             {normalize.Network, "", tags},
		"subnets":              {normalize.Subnet, "", tags},
		"ports":                {normalize.Port, "", tags},
		"routers":              {normalize.Router, "", map[string]string{"tags": "tags", "add_extraroutes": "routes", "remove_extraroutes": "routes"}},
		"floatingips":          {normalize.FloatingIP, "", tags},
		"security-groups":      {normalize.SecurityGroup, "", tags},
		"security-group-rules": {normalize.SecurityGroupRule, "", nil},
		"images":               {normalize.Image, "", map[string]string{"tags": "tags", "members": "members", "actions": "status"}},
		"volumes": {normalize.Volume, "description metadata name", map[string]string{
			"metadata": "metadata", "action/os-extend": "size", "action/os-retype": "type volume_type",
			"action/os-attach": "attachments", "action/os-detach": "attachments", "action/os-set_bootable": "bootable",
			"action/os-set_image_metadata": "volume_image_metadata", "action/os-unset_image_metadata": "volume_image_metadata",
		}},
	}
}

func serverSubpaths() map[string]string {
	subpaths := map[string]string{
		"metadata": "metadata", "tags": "tags", "os-interface": "interfaces", "os-volume_attachments": "volumes",
		"action/addSecurityGroup": "security_groups", "action/removeSecurityGroup": "security_groups",
	}
	// Requests have some of the names with a prefix.
	for name, fields := range ServerActions() {
		subpaths["action/"+name], subpaths["action/os-"+name] = fields, fields
	}
	return subpaths
}

// auditDecoders decodes the CADF events of keystonemiddleware's audit filter: the user, path
// and outcome of the requests to any service.
// https://docs.openstack.org/keystonemiddleware/latest/audit.html
func auditDecoders() map[string]decodeFunc {
	known := collections()
	return map[string]decodeFunc{"audit.http.response": func(n *notification) []Event {
		by := n.payload.At("initiator")
		n.userID, n.user = printable.Text(by.At("id").Str()), printable.Text(by.At("name").Str())
		n.request, n.origin = printable.Text(by.At("request_id").Str()), printable.Text(by.At("global_request_id").Str())
		n.id = cmp.Or(printable.Text(n.payload.At("id").Str()), n.id)
		if n.payload.At("outcome").Str() != "success" {
			return nil
		}
		a, ok := parseRequest(known, n.payload.At("requestPath").Str(), n.payload.At("action").Str())
		if !ok {
			return nil
		}
		if a.Kind == normalize.Keypair {
			a.Owner = cmp.Or(a.Owner, n.userID)
		}
		if a.ID == "" {
			a.Began = timeOf(n.payload.At("eventTime").Str())
		}
		return []Event{a}
	}}
}

// parseRequest returns the change of a successful request, from its path. The path of a request
// that creates an object does not contain its id.
func parseRequest(known map[string]collection, path, action string) (Event, bool) {
	u, err := url.Parse(path)
	if err != nil {
		return Event{}, false
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	i := slices.IndexFunc(parts, func(part string) bool { return known[part].kind != "" })
	if i < 0 {
		return Event{}, false
	}
	c := known[parts[i]]
	if i+1 == len(parts) {
		return Event{Ref: model.Ref{Kind: c.kind}, Action: model.Created}, action == "create"
	}
	below := parts[i+2:]
	a := Event{Ref: model.Ref{Kind: c.kind, ID: parts[i+1]}, Owner: printable.Text(u.Query().Get("user_id"))}
	verb, name, _ := strings.Cut(action, "/")
	switch {
	case verb == "read" || verb == "unknown":
		return Event{}, false
	case len(below) == 0 && verb == "delete":
		a.Action = model.Deleted
		return a, true
	case len(below) == 0:
		a.Fields, a.Broad = strings.Fields(c.updateFields), true
		return a, verb == "update"
	}
	subpath := below[0]
	if subpath == "action" {
		if name == "forceDelete" || name == "os-force_delete" {
			a.Action = model.Deleted
			return a, true
		}
		subpath += "/" + name
	}
	fields, ok := c.subpaths[subpath]
	a.Fields = strings.Fields(fields)
	if len(below) == 2 && (subpath == "metadata" || subpath == "os-extra_specs") {
		a.Fields = []string{entryPath(fields, below[1])}
	}
	return a, ok
}

// entryPath returns the path of an entry of a map.
func entryPath(field, name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return field + "." + name
	}
	return field + "[" + strconv.Quote(name) + "]"
}
