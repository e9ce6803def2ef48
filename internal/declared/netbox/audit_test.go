package netbox

import (
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestCreationExcludesLaterChanges derives claims from creations that are no evidence for some
// fields, because those changed later.
func TestCreationExcludesLaterChanges(t *testing.T) {
	t.Parallel()
	const eth0 = "interfaces[name=eth0]"
	for _, tc := range []struct {
		reason string
		kind   string
		id     string
		except []string
		want   string
	}{
		{"virtual machine", kindMachine, "6", []string{"memory", "site"}, "1 [] except [memory site]"},
		{"interface", kindInterface, "11", []string{"mtu", "untagged_vlan"}, "0 [" + eth0 + "] except [" + eth0 + ".vlan]"},
		{"interface with a new MAC address", kindInterface, "11", []string{"primary_mac_address"}, "0 [" + eth0 + "] except [" + eth0 + "]"},
		{"disk", kindDisk, "1", []string{"size"}, "0 [disks[name=root]] except [disks[name=root].size]"},
		{"unchanged disk", kindDisk, "1", nil, "0 [disks[name=root]] except []"},
	} {
		s := netbox(t, lab)
		s.AuditEvents = []model.AuditEvent{{Ref: model.Ref{Kind: tc.kind, ID: tc.id}, Action: model.Created, Excluded: tc.except, Actor: model.Actor{Name: "mara", At: at(1)}}}
		var got []string
		for _, event := range derive(t, estate(), s, nil).Claims[0].AuditEvents {
			got = append(got, fmt.Sprintf("%d %v except %v", event.Action, slices.Clip(event.Fields), event.Excluded))
		}
		if diff := gocmp.Diff([]string{tc.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}
