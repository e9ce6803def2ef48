package netbox

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestReplacedMACAddress compares guests whose network devices have other MAC addresses than NetBox.
func TestReplacedMACAddress(t *testing.T) {
	t.Parallel()
	const (
		one, two, new9 = "BC:24:11:00:00:01", "BC:24:11:00:00:02", "BC:24:11:00:00:09"
		noDisks        = "virtualization.virtualdisk 1 -\nvirtualization.virtualdisk 2 -\n"
	)
	// eth returns an interface with a MAC address, without one if mac is "".
	eth := func(id, name, mac string) string {
		if mac != "" {
			mac = `,"mac_address":"` + mac + `"`
		}
		return "\nvirtualization.vminterface " + id + ` {"name":"` + name + `","virtual_machine":6` + mac + "}"
	}
	for _, tc := range []struct {
		reason, netbox, kind, live string
		want                       []string
	}{
		{"one device, in lower case", eth("11", "ens18", one) + "\nvirtualization.vminterface 12 -", kindQEMU, "net0: virtio=bc:24:11:00:00:09",
			[]string{`changed interfaces[name=ens18].mac net0.macaddr: "BC:24:11:00:00:01", live "BC:24:11:00:00:09"`}},
		{"the other device has its address", eth("11", "ens18", one) + eth("12", "ens19", two), kindQEMU, "net0: virtio=" + one + "\nnet1: virtio=" + new9,
			[]string{`changed interfaces[name=ens19].mac net1.macaddr: "BC:24:11:00:00:02", live "BC:24:11:00:00:09"`}},
		{"two devices, by their names", eth("11", "net0", one) + eth("12", "net1", two), kindQEMU, "net0: virtio=" + new9 + "\nnet1: virtio=BC:24:11:00:00:0A",
			[]string{`changed interfaces[name=net0].mac net0.macaddr: "BC:24:11:00:00:01", live "BC:24:11:00:00:09"`,
				`changed interfaces[name=net1].mac net1.macaddr: "BC:24:11:00:00:02", live "BC:24:11:00:00:0A"`}},
		{"devices of a container, by the names in it", eth("11", "eth0", one) + eth("12", "eth1", two), kindLXC, "rootfs: a:b\nnet0: name=eth1,hwaddr=" + new9 + "\nnet1: name=eth0,hwaddr=BC:24:11:00:00:0A",
			[]string{`changed interfaces[name=eth0].mac net1.hwaddr: "BC:24:11:00:00:01", live "BC:24:11:00:00:0A"`,
				`changed interfaces[name=eth1].mac net0.hwaddr: "BC:24:11:00:00:02", live "BC:24:11:00:00:09"`}},
		{"the address decides before the name", eth("11", "net1", one) + eth("12", "net0", two), kindQEMU, "net0: virtio=" + one + "\nnet1: virtio=" + two, nil},
		{"two of two are not paired", eth("11", "ens18", one) + eth("12", "ens19", two), kindQEMU, "net0: virtio=" + new9 + "\nnet1: virtio=BC:24:11:00:00:0A",
			[]string{`changed interfaces[name=ens18] : {"mac":"BC:24:11:00:00:01","name":"ens18"}, live -`, `changed interfaces[name=ens19] : {"mac":"BC:24:11:00:00:02","name":"ens19"}, live -`,
				`undeclared interfaces[name=net0] net0: -, live {"enabled":true,"mac":"BC:24:11:00:00:09","name":"net0"}`,
				`undeclared interfaces[name=net1] net1: -, live {"enabled":true,"mac":"BC:24:11:00:00:0A","name":"net1"}`}},
		{"a device that may be that of an interface without an address", eth("11", "ens18", one) + eth("12", "ens19", ""), kindQEMU, "net0: virtio=" + new9,
			[]string{`changed interfaces[name=ens18] : {"mac":"BC:24:11:00:00:01","name":"ens18"}, live -`}},
		{"an unknown device with the name of an interface", eth("11", "net1", one) + "\nvirtualization.vminterface 12 -", kindQEMU, "net0: virtio=" + one + "\nnet1: virtio=" + new9,
			[]string{`undeclared interfaces[name=net1 (BC:24:11:00:00:09)] net1: -, live {"enabled":true,"mac":"BC:24:11:00:00:09","name":"net1 (BC:24:11:00:00:09)"}`}},
		{"a second device with the address of an interface", eth("11", "net0", one) + eth("12", "ens19", ""), kindQEMU, "net0: virtio=" + one + "\nnet1: virtio=" + one,
			[]string{`undeclared interfaces[name=net1] net1: -, live {"enabled":true,"mac":"BC:24:11:00:00:01","name":"net1"}`}},
		{"two interfaces with one name", eth("11", "eth0", one) + eth("12", "eth0", two), kindQEMU, "net0: virtio=" + one + "\nnet1: virtio=" + new9,
			[]string{`changed interfaces[name=eth0 (12)].mac net1.macaddr: "BC:24:11:00:00:02", live "BC:24:11:00:00:09"`}},
		{"an address of another interface", "\ndcim.macaddress 33 {\"mac_address\":\"" + new9 + "\"}\n" + strings.TrimSuffix(eth("11", "ens18", one), "}") + `,"primary_mac_address":30,"mac_addresses":[30,33]}` + eth("12", "ens19", two), kindQEMU,
			"net0: virtio=" + one + "\nnet1: virtio=" + new9, []string{`changed interfaces[name=ens19].mac net1.macaddr: "BC:24:11:00:00:02", live "BC:24:11:00:00:09"`}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			vm := `virtualization.virtualmachine 6 {"name":"app-01","cluster":1,"custom_fields":{"vmid":101}}`
			d := derive(t, estate(), netbox(t, lab, vm, noDisks, tc.netbox), nil)
			name := map[string]string{kindQEMU: "name", kindLXC: "hostname"}[tc.kind]
			if diff := gocmp.Diff(tc.want, outcomes(d, pve(guestOf(tc.kind, "101", name+": app-01\nnode: pve1\n"+tc.live)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
