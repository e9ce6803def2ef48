package bus

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A collection is what the path of a request leads to, whose next part is the id
// of an object.
type collection struct {
	kind string
	// itself are the fields that an update of the object itself may touch; "" any.
	itself string
	// doors are the parts of a path below an object, with the fields behind each.
	// Those behind "action/NAME" are touched by the action of that name.
	doors map[string]string
}

// collections are those of all services, by the part of a path.
func collections() map[string]collection {
	tags := map[string]string{"tags": "tags"}
	return map[string]collection{
		"servers":              {normalize.Server, "access_ipv4 access_ipv6 description name", serverDoors()},
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

func serverDoors() map[string]string {
	doors := map[string]string{
		"metadata": "metadata", "tags": "tags", "os-interface": "interfaces", "os-volume_attachments": "volumes",
		"action/addSecurityGroup": "security_groups", "action/removeSecurityGroup": "security_groups",
	}
	// Requests have some of the names with a prefix.
	for name, fields := range ServerActions() {
		doors["action/"+name], doors["action/os-"+name] = fields, fields
	}
	return doors
}

// auditing reads what keystonemiddleware's audit filter tells, in CADF, of the
// requests to any service: who sent it, its path, and how it ended.
// https://docs.openstack.org/keystonemiddleware/latest/audit.html
func auditing() map[string]reader {
	known := collections()
	return map[string]reader{"audit.http.response": func(n *notice) []Act {
		by := n.payload.At("initiator")
		n.userID, n.user = httpclient.Printable(by.At("id").Str()), httpclient.Printable(by.At("name").Str())
		n.request, n.origin = httpclient.Printable(by.At("request_id").Str()), httpclient.Printable(by.At("global_request_id").Str())
		n.id = cmp.Or(httpclient.Printable(n.payload.At("id").Str()), n.id)
		if n.payload.At("outcome").Str() != "success" {
			return nil
		}
		a, ok := requested(known, n.payload.At("requestPath").Str(), n.payload.At("action").Str())
		if !ok {
			return nil
		}
		if a.Kind == normalize.Keypair {
			a.Owner = cmp.Or(a.Owner, n.userID)
		}
		if a.ID == "" {
			a.Began = timeOf(n.payload.At("eventTime").Str())
		}
		return []Act{a}
	}}
}

// requested tells what a request that succeeded did to the object that its path
// names. The path of one that made an object ends before its name.
func requested(known map[string]collection, path, action string) (Act, bool) {
	u, err := url.Parse(path)
	if err != nil {
		return Act{}, false
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	i := slices.IndexFunc(parts, func(part string) bool { return known[part].kind != "" })
	if i < 0 {
		return Act{}, false
	}
	c := known[parts[i]]
	if i+1 == len(parts) {
		return Act{Ref: model.Ref{Kind: c.kind}, Deed: model.Created}, action == "create"
	}
	below := parts[i+2:]
	a := Act{Ref: model.Ref{Kind: c.kind, ID: parts[i+1]}, Owner: httpclient.Printable(u.Query().Get("user_id"))}
	verb, name, _ := strings.Cut(action, "/")
	switch {
	case verb == "read" || verb == "unknown":
		return Act{}, false
	case len(below) == 0 && verb == "delete":
		a.Deed = model.Deleted
		return a, true
	case len(below) == 0:
		a.Fields, a.Broad = strings.Fields(c.itself), true
		return a, verb == "update"
	}
	door := below[0]
	if door == "action" {
		if name == "forceDelete" || name == "os-force_delete" {
			a.Deed = model.Deleted
			return a, true
		}
		door += "/" + name
	}
	fields, ok := c.doors[door]
	a.Fields = strings.Fields(fields)
	if len(below) == 2 && (door == "metadata" || door == "os-extra_specs") {
		a.Fields = []string{entryPath(fields, below[1])}
	}
	return a, ok
}

// entryPath is where an entry of a map stands.
func entryPath(field, name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return field + "." + name
	}
	return field + "[" + strconv.Quote(name) + "]"
}
