//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestNetBoxMoved has one user who creates a virtual machine again and another one who moves
// its cluster, which moves its virtual machines without rows in the changelog: each is named
// for the changes of their own, and all moved fields have one cause.
func TestNetBoxMoved(t *testing.T) {
	t.Parallel()
	d := appliedDesk(t, oneCLI(t), "4.6.8")
	old := d.id(machines, "app-01")
	cluster := d.at("virtualization/clusters", "prod-fra")
	d.by("priya", "DELETE", d.at(machines, "app-01"), nil)
	d.by("priya", "POST", machines, map[string]any{"name": "app-01", "cluster": d.id("virtualization/clusters", "prod-fra"), "memory": 4096})
	d.by("admin", "POST", "dcim/sites", map[string]any{"name": "Berlin 1", "slug": "ber1"})
	site := d.id("dcim/sites", "Berlin 1")
	moved := d.by("jonas", "PATCH", cluster, map[string]any{"scope_type": "dcim.site", "scope_id": site})
	requests := map[string]int{}
	for _, f := range d.scan().Findings {
		for _, c := range f.Changes {
			who := f.Actor
			if c.Actor != nil {
				who = *c.Actor
			}
			switch {
			case c.Path == "id":
				if who.Name != "priya" || f.Severity != model.Medium || c.Declared == nil && c.Recorded == nil || !strings.Contains(f.Reason, fmt.Sprint(old)) {
					t.Errorf("%s, made again: %s by %+v: %s", f.Address, f.Severity, who, f.Reason)
				}
			case c.Path == "site_id" && strings.HasPrefix(f.Address, "netbox_virtual_machine."):
				requests[who.Request]++
				if who.Name != "jonas" || who.Confidence != model.Likely || !strings.HasPrefix(who.Evidence, fmt.Sprintf("object-change %d of cluster prod-fra", moved)) {
					t.Errorf("%s: its site by %+v", f.Address, who)
				}
			}
		}
	}
	if len(requests) != 1 || requests[""] > 0 {
		t.Errorf("virtual machines that moved, by request: %v", requests)
	}
}
