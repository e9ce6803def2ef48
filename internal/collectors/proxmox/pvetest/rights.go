package pvetest

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// holds tells whether the account has a privilege on a path.
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

// permissions is the answer to /access/permissions: what is held on every path
// that the access rules and pools name, without those on which nothing is.
func (c *Cluster) permissions() Row {
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
	answer := Row{}
	for _, at := range paths {
		held := Row{}
		for _, privilege := range append(Auditor()["/"], "VM.Monitor") {
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

// A guard says what it takes to be answered.
type guard struct {
	// prefix of the paths that it guards.
	prefix string
	// privilege on path; rows are the objects' own, below path.
	privilege, path string
	// row is the key of a row that names the object, where the list is filtered;
	// "" where the whole path is refused.
	row string
}

// guards are the rules for what is neither a guest's nor a node's; the first
// that fits counts.
func guards() []guard {
	return []guard{
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

// refused returns what is lacking to be answered at all, or "".
func (c *Cluster) refused(at string) string {
	for _, g := range guards() {
		if !strings.HasPrefix(at, g.prefix) {
			continue
		}
		if g.row != "" || g.privilege == "" || c.holds(g.privilege, g.path) {
			return ""
		}
		return "(" + g.path + ", " + g.privilege + ")"
	}
	if parts := strings.Split(at, "/"); len(parts) > 3 && parts[1] == "nodes" && !isGuestPath(parts) && !c.holds("Sys.Audit", "/nodes/"+parts[2]) {
		return "(/nodes/" + parts[2] + ", Sys.Audit)"
	}
	return ""
}

func isGuestPath(parts []string) bool {
	return len(parts) > 3 && (parts[3] == "qemu" || parts[3] == "lxc")
}

// visible returns the rows of a list that the account may see.
func (c *Cluster) visible(at string, rows []Row) []Row {
	for _, g := range guards() {
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
