package netbox

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/collectortest"
	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/model"
)

// estateChange returns a change that happens at the time of the tests.
func estateChange(name string, names []model.ObjectName, edit func(*netboxtest.Estate)) collectortest.Change {
	return collectortest.Change{Name: name, Names: names, Make: func(estate http.Handler) { estate.(*netboxtest.Server).Edit(edit) }}
}

// logRow adds an entry to the changelog.
func logRow(e *netboxtest.Estate, action, model string, id int, before, after netboxtest.Row) {
	e.Changes = slices.Insert(e.Changes, 0, netboxtest.Change(e.Changes[0]["id"].(int)+1, "2026-11-20T06:59:00Z", "mallory", action, model, id, before, after))
}

// addRow adds a row to a list, whose ids stay sorted.
func addRow(e *netboxtest.Estate, path string, row netboxtest.Row) {
	list := e.Lists[path]
	list.Rows = append(slices.Clone(list.Rows), row)
	e.Lists[path] = list
}

func removeRow(e *netboxtest.Estate, path string, id int) {
	list := e.Lists[path]
	list.Rows = slices.DeleteFunc(slices.Clone(list.Rows), func(r netboxtest.Row) bool { return r["id"] == id })
	e.Lists[path] = list
}

func editRow(e *netboxtest.Estate, path string, id int, field string, value any) {
	list := e.Lists[path]
	list.Rows = slices.Clone(list.Rows)
	for i, r := range list.Rows {
		if r["id"] == id {
			list.Rows[i] = maps.Clone(r)
			list.Rows[i][field] = value
		}
	}
	e.Lists[path] = list
}

func TestContract(t *testing.T) {
	t.Parallel()
	collectortest.Run(t, collectortest.Subject{
		Open: func(t *testing.T, s collectortest.Settings) collectors.Collector {
			t.Helper()
			config := testConfig(t, s.URL)
			config.Timeout, config.MaxBody = s.Timeout, s.MaxBody
			// The contract reads all lists once for each fault and path.
			config.ExcludeKinds = []string{"circuits.*", "core.*", "dcim.*", "ipam.[a-hj-z]*", "ipam.iprange", "tenancy.*", "users.[a-np-z]*", "users.owner*",
				"vpn.*", "wireless.*", "extras.[d-s]*", "extras.co*", "extras.customl*", "extras.customfield?*", "extras.webhook", "virtualization.cluster?*", "virtualization.virtuald*", "virtualization.virtualmachinet*"}
			return testInventory(t, config)
		},
		Estate: func(order *rand.Rand) http.Handler { return netboxtest.New(netboxtest.Small(), order) },
		Weak:   netboxtest.New(netboxtest.Weak(), rand.New(rand.NewPCG(3, 3))),
		Changes: []collectortest.Change{
			estateChange("edit of a machine", []model.ObjectName{{Type: "virtualization.virtualmachine", ID: "6"}}, func(e *netboxtest.Estate) {
				editRow(e, "virtualization/virtual-machines", 6, "memory", 16384)
				logRow(e, "update", "virtualization.virtualmachine", 6, netboxtest.Row{"memory": 8192}, netboxtest.Row{"memory": 16384})
			}),
			estateChange("deletion of a machine with its parts", []model.ObjectName{{Type: "virtualmachine", ID: "6"}}, func(e *netboxtest.Estate) {
				for _, path := range []string{"virtualization/interfaces", "virtualization/virtual-disks"} {
					e.Lists[path] = netboxtest.List{}
				}
				removeRow(e, "virtualization/virtual-machines", 6)
				removeRow(e, "ipam/ip-addresses", 5)
				logRow(e, "delete", "virtualization.virtualmachine", 6, netboxtest.Row{"memory": 8192}, nil)
			}),
			estateChange("new machine", []model.ObjectName{{Type: "virtualization.virtualmachine", ID: "9"}}, func(e *netboxtest.Estate) {
				addRow(e, "virtualization/virtual-machines", netboxtest.Row{"id": 9, "name": "app-03", "memory": 1024})
				addRow(e, "virtualization/interfaces", netboxtest.Row{"id": 12, "name": "eth0",
					"virtual_machine": netboxtest.Ref("virtualization/virtual-machines", 9, "app-03")})
				logRow(e, "create", "virtualization.virtualmachine", 9, nil, netboxtest.Row{"memory": 1024})
			}),
			estateChange("address that moves to another machine", []model.ObjectName{{Type: "ipam.ipaddress", ID: "5"}}, func(e *netboxtest.Estate) {
				addRow(e, "virtualization/interfaces", netboxtest.Row{"id": 12, "name": "eth0",
					"virtual_machine": netboxtest.Ref("virtualization/virtual-machines", 7, "app-02")})
				editRow(e, "ipam/ip-addresses", 5, "assigned_object_id", 12)
				editRow(e, "virtualization/virtual-machines", 6, "primary_ip4", nil)
				logRow(e, "update", "ipam.ipaddress", 5, netboxtest.Row{"assigned_object_id": 3}, netboxtest.Row{"assigned_object_id": 12})
			}),
			estateChange("an id that does not exist", []model.ObjectName{{Type: "ipam.ipaddress", ID: "4711"}}, func(*netboxtest.Estate) {}),
		},
	})
}
