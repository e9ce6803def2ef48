//go:build e2e_openstack

package openstack

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/openstacklab"
)

// TestOpenStack applies a configuration with the real provider, and edits the cloud by hand:
// driftd reports exactly these edits, with their actors.
func TestOpenStack(t *testing.T) {
	t.Parallel()
	p := newProject(t, "shop")
	p.apply()
	report := p.expect("nothing has changed since the apply")
	for _, c := range report.Coverage {
		if c.Failed() {
			t.Errorf("%s is not covered: %s", c.Kind, c.Reason)
		}
	}
	rule := p.edit()
	p.planFindsOnlyThePort()
	p.mend(rule)
	p.editMore()
}

// edit makes the changes of an incident as mara, and returns the rule that she created.
func (p *project) edit() (rule string) {
	p.t.Helper()
	p.by("mara", "network set --tag urgent web")
	rule = p.by("mara", "security group rule create --protocol tcp --dst-port 22 --remote-ip 0.0.0.0/0 web -f value -c id")
	p.by("mara", "server set --property owner=mara web")
	p.by("mara", "port delete spare")
	p.by("mara", "server create --flavor small --image debian --network web --wait rogue")
	p.expect("mara edited it by hand",
		`low changed openstack_networking_network_v2.web: tags ["prod"] -> ["prod","urgent"] by mara: a label`,
		`critical unmanaged openstack/security_group_rule ingress tcp 22 from 0.0.0.0/0 in web by mara: open to the world`,
		`medium changed openstack_compute_instance_v2.web: metadata.owner nothing -> "mara" by mara`,
		`high missing openstack_networking_port_v2.spare by mara`,
		`low unmanaged openstack/server rogue by mara`)
	return rule
}

// planFindsOnlyThePort plans with OpenTofu: of all edits the plan only has the deleted port, not
// the rule, the metadata, the added tag and the server.
func (p *project) planFindsOnlyThePort() {
	p.t.Helper()
	want := []string{"create openstack_networking_port_v2.spare"}
	actions, text := p.plan()
	if !slices.Equal(actions, want) {
		p.t.Errorf("OpenTofu plans %q, want %q", actions, want)
	}
	for _, unseen := range []string{"0.0.0.0/0", "urgent", "rogue", "mara"} {
		if strings.Contains(text, unseen) {
			p.t.Errorf("OpenTofu says something of %s: %s", unseen, text)
		}
	}
}

// mend undoes the manual changes; only a deleted port has to be created again.
func (p *project) mend(rule string) {
	p.t.Helper()
	p.by("mara", "network unset --tag urgent web")
	p.by("mara", "server unset --property owner web")
	p.by("mara", "server delete --wait rogue")
	p.by("mara", "security group rule delete "+rule)
	p.apply()
	p.expect("all of it is undone")
}

// editMore makes other changes as mara and as an administrator.
func (p *project) editMore() {
	p.t.Helper()
	address := p.by("mara", "floating ip create public -f value -c floating_ip_address")
	// Terraform's provider of this version does not support port security, which can only be
	// off without groups.
	p.by("mara", "port set --no-security-group --disable-port-security web")
	p.by("mara", "security group delete batch")
	p.by("mara", "volume set --property tier=batch data")
	// No host has a disk of that size.
	p.by("mara", "server create --flavor huge --image debian --network web --wait stuck")
	if status := p.by("mara", "server show stuck -f value -c status"); status != "ERROR" {
		p.t.Errorf("a server that no host can run is %s", status)
	}
	// Names are used twice.
	p.by("mara", "network create web")
	p.by("mara", "security group create web")
	p.admin("image set --public " + p.by("terraform", "image show golden -f value -c id"))
	p.expect("they did more by hand",
		"high unmanaged openstack/floatingip "+address+" by mara: decides what is reached from outside",
		`high changed openstack_networking_port_v2.web: port_security_enabled nothing -> false by mara: nothing filters what it sends and receives`,
		`high changed openstack_networking_port_v2.web: security_group_ids ["ID"] -> [] by mara: nothing filters what it sends and receives`,
		"high missing openstack_networking_secgroup_v2.batch by mara",
		"high missing openstack_networking_secgroup_rule_v2.batch by mara",
		`medium changed openstack_blockstorage_volume_v3.data: metadata.tier "web" -> "batch" by mara`,
		"low unmanaged openstack/server stuck by mara",
		"low unmanaged openstack/network web by mara",
		"low unmanaged openstack/security_group web by mara",
		`high changed openstack_images_image_v2.golden: visibility "private" -> "public" by admin: every project can use it`)
}

// TestOutOfReach scans a cloud that cannot be read, in full or in part: unread resources are
// never missing.
func TestOutOfReach(t *testing.T) {
	t.Parallel()
	p := newProject(t, "office")
	p.apply()
	p.expect("nothing has changed since the apply")

	p.write("driftd.yaml", p.config(", all_projects: true"))
	p.unchecked("its token sees one project", "office")
	p.write("driftd.yaml", p.config(", region: Nowhere"))
	p.unchecked("there is no such region", "Nowhere")
	p.write("driftd.yaml", p.config(""))
	p.by("terraform", "application credential delete driftd")
	p.unchecked("its credential is deleted", "check the password or the application credential")
	p.login(openstacklab.Region)
	p.expect("it has another credential")
}

// unchecked scans, and checks that nothing is missing and that the coverage has the reason.
func (p *project) unchecked(reason, says string) {
	p.t.Helper()
	report := p.scan()
	var told strings.Builder
	for _, c := range report.Coverage {
		if !c.Complete {
			fmt.Fprintf(&told, "%s %s: %s\n", c.Kind, c.Place, c.Reason)
		}
	}
	for _, f := range report.Findings {
		if f.Verdict != model.Unchecked {
			p.t.Errorf("%s: %s", reason, strings.Join(p.describe(f), "\n"))
		}
	}
	if !strings.Contains(told.String(), says) {
		p.t.Errorf("%s: it says\n%s", reason, told.String())
	}
}
