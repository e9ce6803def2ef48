//go:build e2e

package e2e

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/test/netboxlab"
)

const netboxHookConfig = `
state_dir: state
schedule: {every: 24h, jitter: 0s}
server: {listen: "%s"}
sources:
  - {name: netbox, type: netbox, settings: {url: "%s", token_file: netbox-token}}
declarations:
  - {name: infra, type: terraform, governs: [netbox], settings: {engine: state, state: [terraform.tfstate]}}
triggers:
  - {name: netbox, type: netbox, secret_file: hook-secret, sources: [netbox], min_interval: 0s}
`

// A hookDesk is a desk with a daemon that gets the webhooks of NetBox.
type hookDesk struct {
	*desk
	daemon *daemon
	// sent counts the webhooks: no two are alike.
	sent int
}

// newHookDesk declares two machines, each with an interface and an address. more returns what is added to the
// configuration; nil for nothing.
func newHookDesk(t *testing.T, more func(*desk) string) *hookDesk {
	t.Helper()
	d := &hookDesk{desk: newDesk(t, "4.6.8")}
	d.by("svc-terraform", "POST", "virtualization/cluster-types", netboxlab.Object{"name": "Proxmox VE", "slug": "pve"})
	d.by("svc-terraform", "POST", "virtualization/clusters", netboxlab.Object{"name": "prod", "type": 1})
	var resources []map[string]any
	declare := func(kind, name string, attributes map[string]any) {
		resources = append(resources, map[string]any{"mode": "managed", "type": kind, "name": name, "provider": `provider["registry.terraform.io/e-breuninger/netbox"]`,
			"instances": []any{map[string]any{"schema_version": 0, "attributes": attributes, "sensitive_attributes": []any{}}}})
	}
	for i, name := range []string{"app", "db"} {
		id, address := fmt.Sprint(i+1), fmt.Sprintf("10.0.0.%d/24", i+1)
		d.by("svc-terraform", "POST", machines, netboxlab.Object{"name": name, "cluster": 1, "memory": 1024})
		d.by("svc-terraform", "POST", nics, netboxlab.Object{"name": "eth0", "virtual_machine": i + 1})
		d.by("svc-terraform", "POST", addresses, netboxlab.Object{"address": address, "assigned_object_type": "virtualization.vminterface", "assigned_object_id": i + 1})
		declare("netbox_virtual_machine", name, map[string]any{"id": id, "name": name, "cluster_id": 1, "memory_mb": 1024})
		declare("netbox_interface", name, map[string]any{"id": id, "name": "eth0", "virtual_machine_id": i + 1})
		declare("netbox_ip_address", name, map[string]any{"id": id, "ip_address": address, "interface_id": i + 1, "dns_name": ""})
	}
	state, err := json.Marshal(map[string]any{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "desk", "outputs": map[string]any{}, "resources": resources})
	if err != nil {
		t.Fatal(err)
	}
	d.write("terraform.tfstate", string(state))
	d.write("hook-secret", "correct-horse")
	i := &installation{t: t, dir: d.dir, address: freeAddress(t)}
	config := fmt.Sprintf(netboxHookConfig, i.address, d.url)
	if more != nil {
		config += more(d.desk)
	}
	d.write("driftd.yaml", config)
	d.daemon = i.serve()
	return d
}

// event sends webhooks about objects of a type, waits for a scan that begins after them, and
// compares the findings of its report.
func (d *hookDesk) event(reason, objectType string, ids []int, want ...string) {
	d.t.Helper()
	since := time.Now()
	for _, id := range ids {
		d.sent++
		body := fmt.Sprintf(`{"event": "updated", "timestamp": "%d", "object_type": %q, "username": "innocent", "data": {"id": %d, "memory": 1}}`, d.sent, objectType, id)
		d.post(body)
	}
	d.daemon.eventually(startTimeout, reason, func() error {
		r, err := d.daemon.report()
		if err != nil {
			return err
		}
		var got []string
		for _, f := range r.Findings {
			got = append(got, describeFinding(f)...)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !r.Scan.Started.After(since) || !slices.Equal(got, want) {
			return fmt.Errorf("the scan of %s found\n%s\nwant\n%s", r.Scan.Started, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		return nil
	})
}

func (d *hookDesk) post(body string) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, "http://"+d.daemon.address+"/hooks/netbox", strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	mac := hmac.New(sha512.New, []byte("correct-horse"))
	mac.Write([]byte(body))
	r.Header.Set("X-Hook-Signature", hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusAccepted {
		d.t.Errorf("POST /hooks/netbox: %s, want 202", resp.Status)
	}
}

// TestNetBoxHooks sends webhooks of NetBox to a daemon: it reads the objects that they name, and
// uses nothing else of them.
func TestNetBoxHooks(t *testing.T) {
	t.Parallel()
	const vm = "virtualization.virtualmachine"
	d := newHookDesk(t, nil)
	entry := func(user string, change int) string { return fmt.Sprintf(" by %s (object-change %d)", user, change) }
	d.event("nothing has changed", vm, []int{1})

	d.netbox.Requests() // of the scans so far
	memory := `changed netbox_virtual_machine.app: memory_mb 1024 -> 8192` + entry("mara", d.by("mara", "PATCH", machines+"/1", netboxlab.Object{"memory": 8192}))
	d.event("an edit", vm, []int{1}, memory)
	for _, r := range d.netbox.Requests() {
		if strings.Contains(r, "/dcim/sites/") || strings.Contains(r, "/api/virtualization/virtual-machines/") && !strings.Contains(r, "id=1") {
			t.Errorf("driftd requested %s for one machine", r)
		}
	}
	d.event("an id that does not exist", vm, []int{4711}, memory)

	d.netbox.Break(netboxlab.Fault{Path: "/api/virtualization/", Status: http.StatusBadGateway})
	d.by("mara", "PATCH", machines+"/1", netboxlab.Object{"memory": 1024})
	d.event("NetBox does not answer", vm, []int{1}, memory, "unchecked netbox_interface.app", "unchecked netbox_interface.db",
		"unchecked netbox_virtual_machine.app", "unchecked netbox_virtual_machine.db")
	d.netbox.Break()
	d.event("NetBox answers again", vm, []int{1})

	made := d.by("jonas", "POST", machines, netboxlab.Object{"name": "extra", "cluster": 1})
	extra := "unmanaged netbox/virtualization.virtualmachine extra" + entry("jonas", made)
	d.event("a new machine", vm, []int{d.id(machines, "extra")}, extra)

	gone := d.by("priya", "DELETE", machines+"/2", nil)
	removed := []string{extra, "missing netbox_virtual_machine.db" + entry("priya", gone), "missing netbox_interface.db" + entry("priya", gone-1), "missing netbox_ip_address.db" + entry("priya", gone-2)}
	d.event("a deletion with parts", vm, []int{2}, removed...)

	edited := d.by("mara", "PATCH", addresses+"/1", netboxlab.Object{"dns_name": "app.example.net"})
	many := make([]int, 150)
	for i := range many {
		many[i] = i + 1
	}
	dns := `changed netbox_ip_address.app: dns_name "" -> "app.example.net"` + entry("mara", edited)
	d.event("a burst", "ipam.ipaddress", many, append(removed, dns)...)

	log := d.daemon.finishedLog()
	for _, want := range []string{`read="3 of 11 objects`, `read="0 of 11 objects`, "cannot read single objects, reads the whole source"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s", want)
		}
	}
}
