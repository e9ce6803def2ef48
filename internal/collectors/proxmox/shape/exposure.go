package shape

import (
	"strconv"

	"github.com/driftd/driftd/internal/model"
)

// exposed returns the fields of a kind that have an exposure; a path is that of a live
// field.
func exposed(kind string) []model.ExposedField {
	switch kind {
	case User, Token, Group, Role, Realm, ACL, PoolMember:
		return []model.ExposedField{{What: model.ExposesAccess}}
	case FirewallOptions, FirewallRules, FirewallGroup, FirewallAlias, FirewallIPSet:
		return []model.ExposedField{{What: model.ExposesReach}}
	case NodeNetwork, SDNZone, SDNVnet, SDNSubnet:
		return []model.ExposedField{{What: model.ExposesReach}}
	case QEMU, LXC:
		fields := []model.ExposedField{
			{Path: "hookscript", What: model.ExposesCode}, {Path: "args", What: model.ExposesCode}, {Path: "ostemplate", What: model.ExposesCode},
			{Path: "cicustom", What: model.ExposesCode}, {Path: "unprivileged", What: model.ExposesCode}, {Path: "features", What: model.ExposesCode},
			{Path: "sshkeys", What: model.ExposesAccess}, {Path: "ciuser", What: model.ExposesAccess}, {Path: "cipassword", What: model.ExposesAccess},
		}
		for i := range 32 {
			fields = append(fields, model.ExposedField{Path: "net" + strconv.Itoa(i), What: model.ExposesReach})
		}
		return fields
	}
	return nil
}
