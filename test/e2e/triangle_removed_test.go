//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/netboxlab"
	"github.com/driftd/driftd/test/pvelab"
)

// TestTriangleRemoved deletes the virtual machine of a guest in NetBox: the guest is unmanaged,
// and the user who deleted its virtual machine is named. Without the right to read the
// changelog, the reason names that right for every change in NetBox.
func TestTriangleRemoved(t *testing.T) {
	t.Parallel()
	tri := newTriangle(t, oneCLI(t))
	config, err := os.ReadFile(filepath.Join(tri.dir, "driftd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	tri.write("driftd.yaml", strings.Replace(string(config), "  - {name: infra", "  # - {name: infra", 1))
	vm := tri.id(machines, "db-01")
	tri.by("mara", "DELETE", tri.at(machines, "db-01"), nil)
	removed := tri.netbox.LastChange()
	var unmanaged []model.Finding
	for _, f := range tri.scan().Findings {
		if f.Verdict == model.Unmanaged {
			unmanaged = append(unmanaged, f)
		}
	}
	want := fmt.Sprintf("object-change %d, which deleted db-01 (NetBox VM %d)", removed, vm)
	if len(unmanaged) != 1 || unmanaged[0].Name != "db-01" || unmanaged[0].Actor.Name != "mara" || unmanaged[0].Actor.Evidence != want {
		t.Errorf("unmanaged: %+v, want db-01 by mara, %s", unmanaged, want)
	}
	tri.onPVE(func(pve *pvelab.Lab) { pve.SetConfig(301, "memory", "1024", "carol@pve") })
	tri.by("mara", "PATCH", tri.at(machines, "app-01"), map[string]any{"memory": 1024})
	models := slices.DeleteFunc(tri.netbox.Models(), func(m string) bool { return m == "core.objectchange" })
	tri.netbox.Grant("driftd", netboxlab.Permission{Models: models, Actions: []string{"view"}})
	if err := os.RemoveAll(filepath.Join(tri.dir, "state")); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, f := range tri.scan().Findings {
		if f.Source == "pve" {
			said[f.Name] = f.Actor.Name + ": " + f.Actor.Reason
		}
	}
	if !strings.HasPrefix(said["web-01"], "carol@pve") {
		t.Errorf("the actor of a guest changed on Proxmox VE is in its log: %q", said)
	}
	if got := said["app-01"]; !strings.Contains(got, "grant view on core.objectchange") || strings.Contains(got, "access.log") {
		t.Errorf("without the changelog, app-01 is %q", got)
	}
}
