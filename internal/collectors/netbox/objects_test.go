package netbox

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

// objectsAfter reads the small estate in full, changes it, and reads objects.
func objectsAfter(t *testing.T, change func(*netboxtest.Server), names ...model.ObjectName) (part, last model.Snapshot, err error) {
	t.Helper()
	server := newServer(netboxtest.Small())
	c := listen(t, server)
	last, err = c.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	change(server)
	part, err = c.CollectObjects(t.Context(), names, &last)
	return part, last, err
}

func TestWholeError(t *testing.T) {
	t.Parallel()
	vm, address := model.ObjectName{Type: "virtualization.virtualmachine", ID: "6"}, model.ObjectName{Type: "ipam.ipaddress", ID: "5"}
	nothing := func(*netboxtest.Server) {}
	tests := map[string]struct {
		name   model.ObjectName
		change func(*netboxtest.Server)
		want   string
	}{
		"a kind that concerns others": {model.ObjectName{Type: "extras.tag", ID: "1"}, nothing, "extras.tag is not a kind whose objects are read alone"},
		"a cluster":                   {model.ObjectName{Type: "virtualization.cluster", ID: "2"}, nothing, "not a kind whose objects are read alone"},
		"an unknown kind":             {model.ObjectName{Type: "plugin.thing\x1b[31m", ID: "1"}, nothing, "not a kind whose objects are read alone"},
		"a bad id":                    {model.ObjectName{Type: vm.Type, ID: "6&id=7"}, nothing, "no valid id"},
		"a negative id":               {model.ObjectName{Type: vm.Type, ID: "-6"}, nothing, "no valid id"},
		"a hidden object": {address, func(s *netboxtest.Server) {
			s.Edit(func(e *netboxtest.Estate) {
				e.Lists["users/permissions"] = netboxtest.List{Rows: []netboxtest.Row{
					netboxtest.Permission(1, 8, netboxtest.Row{"tenant__slug": "payments"}, "users.objectpermission", "extras.customfield", "core.objectchange",
						"virtualization.virtualmachine", "virtualization.vminterface", "virtualization.virtualdisk", "ipam.ipaddress")}}
				e.Hidden = func(path string, row netboxtest.Row) bool { return path == "ipam/ip-addresses" && row["id"] == 5 }
			})
		}, "netbox/ipam.ipaddress 5 is not in the answer, and may be hidden"},
		"unknown permissions": {address, func(s *netboxtest.Server) {
			s.Edit(func(e *netboxtest.Estate) {
				e.Denied = []string{"users/permissions"}
				removeRow(e, "ipam/ip-addresses", 5)
			})
		}, "the permissions of the token are not known"},
		"a cache that ignores the query": {vm, func(s *netboxtest.Server) {
			s.Break("virtualization/virtual-machines", func(next http.Handler, w http.ResponseWriter, r *http.Request) {
				r.URL.RawQuery = "limit=100&fields=id,name&start=0"
				next.ServeHTTP(w, r)
			})
		}, "ignores the filter id of virtualization/virtual-machines"},
		"a filter that is refused": {vm, func(s *netboxtest.Server) {
			s.Break("virtualization/virtual-disks", faults.Status(http.StatusBadRequest, `{"virtual_machine_id": ["Select a valid choice."]}`))
		}, "refuses the filter of virtualization/virtual-disks"},
		"no custom fields": {vm, func(s *netboxtest.Server) {
			s.Edit(func(e *netboxtest.Estate) { e.Denied = []string{"extras/custom-fields"} })
		}, "the definitions of custom fields could not be read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := objectsAfter(t, tt.change, tt.name)
			if !errors.As(err, new(*collectors.WholeError)) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("got the error %v, want a WholeError with %q", err, tt.want)
			}
		})
	}
}

// TestObjectsFromACache checks that the answer of a cache is marked as stale.
func TestObjectsFromACache(t *testing.T) {
	t.Parallel()
	part, _, err := objectsAfter(t, func(s *netboxtest.Server) {
		s.Break("ipam/ip-addresses", func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Age", "30")
			next.ServeHTTP(w, r)
		})
	}, model.ObjectName{Type: "ipam.ipaddress", ID: "5"})
	if err != nil || len(part.Stale) == 0 {
		t.Errorf("the answer of a cache is not stale: %v", err)
	}
}

// TestObjectsThatBelongTogether checks which objects are read.
func TestObjectsThatBelongTogether(t *testing.T) {
	t.Parallel()
	machine := []string{"ipam.ipaddress 5", "virtualization.virtualdisk 1", "virtualization.virtualmachine 6", "virtualization.vminterface 3"}
	for name, tt := range map[string]struct {
		of   model.ObjectName
		want []string
	}{
		"a machine":            {model.ObjectName{Type: "virtualization.virtualmachine", ID: "6"}, machine},
		"its interface":        {model.ObjectName{Type: "vminterface", ID: "3"}, machine},
		"its disk":             {model.ObjectName{Type: "virtualdisk", ID: "1"}, machine},
		"its address":          {model.ObjectName{Type: "ipaddress", ID: "5"}, machine},
		"an address of nobody": {model.ObjectName{Type: "ipam.ipaddress", ID: "8"}, []string{"ipam.ipaddress 8"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part, last, err := objectsAfter(t, func(*netboxtest.Server) {}, tt.of)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range part.Reread {
				got = append(got, strings.TrimPrefix(r.Kind, "netbox/")+" "+r.ID)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("what was read (-want +got):\n%s", diff)
			}
			merged := last.With(&part)
			if len(merged.Resources) != len(last.Resources) || len(merged.Coverage) != len(last.Coverage) || !merged.Taken.Equal(last.Taken) {
				t.Errorf("the merged snapshot has %d resources of %d", len(merged.Resources), len(last.Resources))
			}
		})
	}
}

// TestKindNamed checks the names of kinds in events, before NetBox 4.3 and since.
func TestKindNamed(t *testing.T) {
	t.Parallel()
	kinds := normalize.Kinds()
	for typ, want := range map[string]string{"ipam.prefix": "netbox/ipam.prefix", "prefix": "netbox/ipam.prefix", "interface": "netbox/dcim.interface",
		"virtualmachine": "netbox/virtualization.virtualmachine", "ipam.role": "netbox/ipam.role", "tenancy.prefix": "", "": "", "plugin.thing": ""} {
		if got := kindNamed(kinds, typ); got != want {
			t.Errorf("%q means %q, want %q", typ, got, want)
		}
	}
	twice := slices.Concat(kinds, []*normalize.Kind{{Model: "plugin.prefix", Name: "netbox/plugin.prefix"}})
	if got := kindNamed(twice, "prefix"); got != "" {
		t.Errorf("a name of two kinds means %q", got)
	}
}
