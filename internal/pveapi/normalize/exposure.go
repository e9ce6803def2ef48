package normalize

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// exposed returns the fields of a kind that have an exposure, by live path.
func exposed(kind string) []model.ExposedField {
	switch kind {
	case User, Token, Group, Role, Realm, ACL, PoolMember:
		return table.Exposed(model.ExposesAccess, "")
	case FirewallOptions, FirewallRules, FirewallGroup, FirewallAlias, FirewallIPSet, NodeNetwork, SDNZone, SDNVnet, SDNSubnet:
		return table.Exposed(model.ExposesReach, "")
	case QEMU, LXC:
		networks := nic().UpTo(32).Of("net#")[0].Names()
		return slices.Concat(table.Exposed(model.ExposesCode, "hookscript args ostemplate cicustom unprivileged features"),
			table.Exposed(model.ExposesAccess, "sshkeys ciuser cipassword"), table.Exposed(model.ExposesReach, strings.Join(networks, " ")))
	}
	return nil
}
