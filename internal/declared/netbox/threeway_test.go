package netbox

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
)

// terraform returns the declaration of a Terraform state with the guest of lab.
func terraform(t *testing.T, memory, cores int) model.Declaration {
	t.Helper()
	tables, err := mapping.Load()
	if err != nil {
		t.Fatal(err)
	}
	typ, ok := tables.Find("registry.example.org/bpg/proxmox", "proxmox_virtual_environment_vm")
	if !ok {
		t.Fatal("no table for the virtual machine")
	}
	mapped, err := typ.Claim(parse(t, fmt.Sprintf(`{"id":"101","vm_id":101,"node_name":"pve1","name":"app-01","started":true,"on_boot":false,"acpi":true,"tags":["prod","web-shop"],
		"memory":[{"dedicated":%d,"floating":0}],"cpu":[{"cores":%d,"sockets":2}],"network_device":[
		{"model":"virtio","bridge":"vmbr0","mac_address":"BC:24:11:00:00:01","vlan_id":100,"firewall":true},
		{"model":"virtio","bridge":"vmbr1","mac_address":"BC:24:11:00:00:02","trunks":"200-201"}]}`, memory, cores)), model.NewSealer([]byte("installation")))
	if err != nil {
		t.Fatal(err)
	}
	return model.Declaration{Name: "infra", Governs: []string{"pve"}, Claims: []model.Claim{{Declaration: "infra", Address: "proxmox_virtual_environment_vm.app",
		Kind: mapped.Kind, ID: mapped.ID, Place: mapped.Place, Name: mapped.Name, Value: mapped.Value, Lens: mapped.Lens, Complete: true, RecordOnly: true}}}
}

// TestThreeWayComparison compares NetBox, Terraform and Proxmox, each with its own fields.
func TestThreeWayComparison(t *testing.T) {
	t.Parallel()
	tests := []struct {
		reason, netbox, old, new, mac string
		memory, cores                 int
		want                          []string
	}{
		{reason: "all agree", memory: 4096, cores: 2},
		{reason: "all three differ", memory: 2048, cores: 2, old: "memory: 4096", new: "memory: 8192",
			want: []string{"memory[0].dedicated infra=2048 intent=4096 live 8192; infra, intent and pve all differ; by ann"}},
		{reason: "NetBox differs", memory: 4096, cores: 2, netbox: `"memory":1024,`,
			want: []string{"memory[0].dedicated infra=4096 intent=1024 live 4096; intent differs, infra and pve agree; by ann"}},
		{reason: "all three differ in processors, with cores for each socket", memory: 4096, cores: 8, old: "cores: 2", new: "cores: 3",
			want: []string{"cpu[0].cores infra=8 intent=4 live 3; infra, intent and pve all differ; by unknown"}},
		{reason: "Proxmox differs in processors: not disputed", memory: 4096, cores: 2, old: "cores: 2", new: "cores: 3"},
		{reason: "Terraform differs, in other units", memory: 4096, cores: 8,
			want: []string{"cpu[0].cores infra=8 intent=4 live 2; infra differs, intent and pve agree; by unknown"}},
		{reason: "NetBox has another MAC address", memory: 4096, cores: 2, mac: "BC:24:11:00:00:0A",
			want: []string{"network_device[0].mac_address infra=BC:24:11:00:00:01 intent=BC:24:11:00:00:0A live BC:24:11:00:00:01; intent differs, infra and pve agree; by bob"}},
		{reason: "Proxmox differs: not disputed", memory: 4096, cores: 2, old: "tag=100", new: "tag=300"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			edited := strings.Replace(lab, `"memory":4096,`, orText(test.netbox, `"memory":4096,`), 1)
			edited = strings.ReplaceAll(edited, `"mac_address":"BC:24:11:00:00:01"`, `"mac_address":"`+orText(test.mac, "BC:24:11:00:00:01")+`"`)
			s := netbox(t, edited)
			s.AuditEvents = []model.AuditEvent{{Ref: model.Ref{Kind: kindMAC, ID: "30"}, Fields: []string{"mac_address"}, Actor: model.Actor{Name: "bob", At: at(4), Confidence: model.Exact}}, {Ref: model.Ref{Kind: kindMachine, ID: "6"}, Fields: []string{"memory"}, Actor: model.Actor{Name: "ann", At: at(5), Confidence: model.Exact}}}
			live := pve(guestOf(kindQEMU, "101", strings.Replace(qemu101, orText(test.old, "\n"), orText(test.new, "\n"), 1)))
			var got []string
			for _, subject := range match.Match(live, []model.Declaration{derive(t, estate(), s, nil), terraform(t, test.memory, test.cores)}) {
				for _, o := range diff.Compare(&subject, diff.Options{}) {
					if o.Verdict == model.Disputed {
						got = append(got, dispute(o))
					}
				}
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLiveDifferenceIsReportedOnce has a live value that differs from two equal declarations,
// which use different fields.
func TestLiveDifferenceIsReportedOnce(t *testing.T) {
	t.Parallel()
	outcomeLines := func(old, changed string) map[string]bool {
		lines := map[string]bool{}
		live := pve(guestOf(kindQEMU, "101", strings.Replace(qemu101, old, changed, 1)))
		for _, subject := range match.Match(live, []model.Declaration{derive(t, estate(), netbox(t, lab), nil), terraform(t, 4096, 2)}) {
			for _, o := range diff.Compare(&subject, diff.Options{}) {
				for _, c := range o.Changes {
					lines[fmt.Sprintf("%s %s by %s", o.Verdict, c.LivePath, o.Claim.Declaration)] = true
				}
			}
		}
		return lines
	}
	before := outcomeLines("name: ", "name: ")
	for _, test := range []struct{ old, changed, want string }{
		{"memory: 4096", "memory: 8192", "changed memory by infra"},
		{"cores: 2", "cores: 3", "changed cores by infra"},
		{"tag=100", "tag=300", "changed net0.tag by infra"},
		{"virtio=bc:24:11:00:00:01", "virtio=bc:24:11:00:00:09", "changed net0.macaddr by infra"},
		{"trunks=200-201", "trunks=200-202", "changed net1.trunks by infra"},
		{"status: running", "status: stopped", "changed status by infra"},
		{"name: app-01", "name: app-02", "moved name by infra"},
		{"tags: web-shop;prod", "tags: prod", "changed tags by infra"},
	} {
		var got []string
		for line := range outcomeLines(test.old, test.changed) {
			if !before[line] {
				got = append(got, line)
			}
		}
		if diff := gocmp.Diff([]string{test.want}, got); diff != "" {
			t.Errorf("%s: %s", test.changed, diff)
		}
	}
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func dispute(o model.Outcome) string {
	var b strings.Builder
	for _, c := range o.Changes {
		b.WriteString(c.Path)
		for _, claim := range c.Claims {
			fmt.Fprintf(&b, " %s=%s", claim.Declaration, claim.Value.Text())
		}
		fmt.Fprintf(&b, " live %s", c.Live.Text())
	}
	return b.String() + "; " + o.Reason + "; by " + o.Actor.Name
}
