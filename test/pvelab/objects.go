package pvelab

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
)

// collections are the lists whose rows are written in the same way: POST to the path adds a
// row, PUT and DELETE below it change and remove the row with the key.
func collections() map[string]string {
	return map[string]string{
		"/access/users":                      "userid",
		"/access/groups":                     "groupid",
		"/access/roles":                      "roleid",
		"/storage":                           "storage",
		"/cluster/backup":                    "id",
		"/cluster/ha/resources":              "sid",
		"/cluster/firewall/aliases":          "name",
		"/cluster/firewall/groups":           "group",
		"/cluster/firewall/ipset":            "name",
		"/cluster/sdn/zones":                 "zone",
		"/cluster/sdn/vnets":                 "vnet",
		"/nodes/{node}/network":              "iface",
		guestFirewall + "/aliases":           "name",
		guestFirewall + "/ipset":             "name",
		"/cluster/sdn/vnets/{above}/subnets": "subnet",
	}
}

const guestFirewall = "/nodes/{node}/(?P<kind>qemu|lxc)/{id}/firewall"

// clusterRoutes are the routes that write other objects than guests.
func (l *Lab) clusterRoutes() []route {
	routes := []route{
		on(http.MethodPost, "/pools", l.writePool),
		on(http.MethodDelete, "/pools", l.removePool),
		on(http.MethodDelete, "/pools/(?P<poolid>.+)", l.removePool),
	}
	for list, key := range collections() {
		// The path below a set or a group is its list, which pvetest serves.
		if !strings.HasSuffix(list, "/ipset") && !strings.HasSuffix(list, "/groups") {
			routes = append(routes, on(http.MethodGet, list+"/{row}", l.readRow(list, key)))
		}
		if strings.HasPrefix(list, "/cluster/sdn/") || strings.HasPrefix(list, "/nodes/{node}/network") { // pvetest changes the others
			routes = append(routes, on(http.MethodPut, list+"/{row}", l.changeRow(list, key)))
		}
		routes = append(routes,
			on(http.MethodPost, list, l.addRow(list, key)),
			on(http.MethodDelete, list+"/{row}", l.removeRow(list, key)))
	}
	return routes
}

// at returns the path of a pattern in pvetest; a guest's firewall does not depend on its node.
func at(pattern string, r request) string {
	pattern = strings.ReplaceAll(pattern, "(?P<kind>qemu|lxc)", "{kind}")
	if pattern != "/nodes/{node}/network" {
		pattern = strings.TrimPrefix(pattern, "/nodes/{node}")
	}
	for name := range r.path {
		pattern = strings.ReplaceAll(pattern, "{"+name+"}", r.path.Get(name))
	}
	return pattern
}

func (l *Lab) addRow(list, key string) func(request) (any, error) {
	return func(r request) (any, error) {
		added := row(r.form, "password")
		if added[key] == nil {
			return nil, fmt.Errorf("%s is missing", key)
		}
		l.Edit(func(c *pvetest.Cluster) {
			c.Lists[at(list, r)] = append(c.Lists[at(list, r)], added)
		})
		return nil, nil //nolint:nilnil // the API answers null
	}
}

func (l *Lab) readRow(list, key string) func(request) (any, error) {
	return l.onRow(list, key, func(c *pvetest.Cluster, found pvetest.Row, _ request) any { return single(c, list, found) })
}

// single returns a row in the form of a single response, which may differ from that in the
// list.
func single(c *pvetest.Cluster, list string, found pvetest.Row) pvetest.Row {
	alone := maps.Clone(found)
	switch list {
	case "/access/roles":
		alone = pvetest.Row{}
		for _, privilege := range words(found["privs"]) {
			alone[privilege] = 1
		}
	case "/access/groups":
		members := []string{}
		for _, user := range c.Lists["/access/users"] {
			if slices.Contains(words(user["groups"]), fmt.Sprint(found["groupid"])) {
				members = append(members, fmt.Sprint(user["userid"]))
			}
		}
		alone["members"] = members
	case "/access/users":
		alone["groups"] = words(found["groups"])
	}
	return alone
}

// words splits a list in a text.
func words(list any) []string {
	text, _ := list.(string)
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func (l *Lab) changeRow(list, key string) func(request) (any, error) {
	return l.onRow(list, key, func(_ *pvetest.Cluster, found pvetest.Row, r request) any {
		maps.Copy(found, row(r.form, "password", "rename"))
		for _, field := range deleted(r.form) {
			delete(found, field)
		}
		return nil
	})
}

func (l *Lab) removeRow(list, key string) func(request) (any, error) {
	return l.onRow(list, key, func(c *pvetest.Cluster, _ pvetest.Row, r request) any {
		c.Remove(at(list, r), key, r.path.Get("row"))
		return nil
	})
}

func (l *Lab) onRow(list, key string, do func(*pvetest.Cluster, pvetest.Row, request) any) func(request) (any, error) {
	return func(r request) (data any, err error) {
		l.Edit(func(c *pvetest.Cluster) {
			rows := c.Lists[at(list, r)]
			i := slices.IndexFunc(rows, func(row pvetest.Row) bool { return fmt.Sprint(row[key]) == r.path.Get("row") })
			if i < 0 {
				err = fmt.Errorf("%s '%s' does not exist", key, r.path.Get("row"))
				return
			}
			data = do(c, rows[i], r)
		})
		return data, err
	}
}

func (l *Lab) writePool(r request) (any, error) {
	name := r.form.Get("poolid") + r.path.Get("poolid")
	l.Edit(func(c *pvetest.Cluster) {
		pool := c.Pools[name]
		if comment, sent := r.form["comment"]; sent {
			pool.Comment = comment[0]
		}
		if c.Pools == nil {
			c.Pools = map[string]pvetest.Pool{}
		}
		c.Pools[name] = pool
	})
	return nil, nil //nolint:nilnil // the API answers null
}

func (l *Lab) removePool(r request) (any, error) {
	l.Edit(func(c *pvetest.Cluster) { delete(c.Pools, r.form.Get("poolid")+r.path.Get("poolid")) })
	return nil, nil //nolint:nilnil // the API answers null
}
