package pvetest

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// holds reports whether the account has a privilege on a path.
func (c *Cluster) holds(privilege, at string) bool {
	for ; ; at = path.Dir(at) {
		if held, ok := c.Rights[at]; ok {
			return slices.Contains(held, privilege)
		}
		if at == "/" {
			return false
		}
	}
}

// privileges are the privileges that accounts can have.
func privileges() []string {
	all := slices.Concat(Auditor()["/"], []string{"VM.Monitor", "VM.Allocate", "VM.PowerMgmt", "Sys.Modify", "Sys.Console", "Datastore.Allocate", "Datastore.AllocateSpace", "Pool.Allocate", "User.Modify", "Group.Allocate", "Permissions.Modify"})
	for _, part := range []string{"CPU", "Memory", "Network", "Disk", "Options", "Cloudinit", "HWType"} {
		all = append(all, "VM.Config."+part)
	}
	return all
}

// permissions returns the answer to /access/permissions: the privileges on every path of the
// access control list and the pools, without paths on which there are none. With a path, it is the only one.
func (c *Cluster) permissions(only string) Row {
	paths := []string{"/", "/access", "/access/groups", "/nodes", "/pool", "/sdn", "/storage", "/vms"}
	paths = slices.AppendSeq(paths, maps.Keys(c.Rights))
	for name := range c.Pools {
		paths = append(paths, "/pool/"+name)
	}
	for _, g := range c.Guests {
		if g.Pool != "" {
			paths = append(paths, "/vms/"+strconv.Itoa(g.ID))
		}
	}
	for _, row := range c.Lists["/access/acl"] {
		if at, ok := row["path"].(string); ok {
			paths = append(paths, at)
		}
	}
	if only != "" {
		paths = []string{only}
	}
	answer := Row{}
	for _, at := range paths {
		held := Row{}
		for _, privilege := range privileges() {
			if c.holds(privilege, at) {
				held[privilege] = 1
			}
		}
		if len(held) > 0 {
			answer[at] = held
		}
	}
	return answer
}

// A privilegeRule is the privilege that paths of the API require.
type privilegeRule struct {
	// prefix is the prefix of the paths.
	prefix string
	// privilege is required on path, or, for a row of a list, on the object's path below it.
	privilege, path string
	// row is the key with the id of the object, in a list that omits hidden objects; "" if the
	// whole request is refused.
	row string
}

// privilegeRules returns the rules for paths outside of guests and nodes. The first matching
// rule applies.
func privilegeRules() []privilegeRule {
	return []privilegeRule{
		{"/access/acl", "Sys.Audit", "/access", "-"},
		{"/access/users", "Sys.Audit", "/access/groups", "-"},
		{"/access/groups", "Sys.Audit", "/access/groups", "groupid"},
		{"/access/domains/", "Sys.Audit", "/access/realm", ""},
		{"/storage", "Datastore.Audit", "/storage", "storage"},
		{"/cluster/sdn/zones", "SDN.Audit", "/sdn/zones", "zone"},
		{"/cluster/sdn/controllers", "SDN.Audit", "/sdn/controllers", "controller"},
		{"/cluster/sdn/ipams", "SDN.Audit", "/sdn/ipams", "ipam"},
		{"/cluster/sdn/dns", "SDN.Audit", "/sdn/dns", "dns"},
		{"/cluster/sdn/vnets", "SDN.Audit", "/sdn/zones", "vnet"},
		{"/cluster/mapping/pci", "Mapping.Audit", "/mapping/pci", "id"},
		{"/cluster/mapping/usb", "Mapping.Audit", "/mapping/usb", "id"},
		{"/cluster/mapping/dir", "Mapping.Audit", "/mapping/dir", "id"},
		{"/cluster/notifications", "Mapping.Audit", "/mapping/notifications", "name"},
		{"/cluster/replication", "VM.Audit", "/vms", "guest"},
		{"/cluster/log", "Sys.Syslog", "/", "-"},
		{"/cluster/acme/plugins", "Sys.Modify", "/", ""},
		{"/cluster/firewall/groups", "", "", ""},
		{"/cluster/acme", "", "", ""},
		{"/cluster/tasks", "Sys.Audit", "/", "-"},
		{"/cluster/", "Sys.Audit", "/", ""},
	}
}

// missingPrivilege returns the privilege that the account lacks for a path, or "".
func (c *Cluster) missingPrivilege(at string) string {
	for _, g := range privilegeRules() {
		if !strings.HasPrefix(at, g.prefix) {
			continue
		}
		if g.row != "" || g.privilege == "" || c.holds(g.privilege, g.path) {
			return ""
		}
		return "(" + g.path + ", " + g.privilege + ")"
	}
	if parts := strings.Split(at, "/"); len(parts) > 3 && parts[1] == "nodes" && !isGuestPath(parts) && parts[3] != "tasks" && !c.holds("Sys.Audit", "/nodes/"+parts[2]) {
		return "(/nodes/" + parts[2] + ", Sys.Audit)"
	}
	return ""
}

func isGuestPath(parts []string) bool {
	return len(parts) > 3 && (parts[3] == "qemu" || parts[3] == "lxc")
}

// visible returns the rows of a list that the account may see.
func (c *Cluster) visible(at string, rows []Row) []Row {
	for _, g := range privilegeRules() {
		if !strings.HasPrefix(at, g.prefix) || g.row == "" {
			continue
		}
		return slices.DeleteFunc(slices.Clone(rows), func(row Row) bool {
			where := g.path
			if name, ok := row[g.row]; ok {
				where += "/" + fmt.Sprint(name)
			}
			return !c.holds(g.privilege, where)
		})
	}
	return rows
}
