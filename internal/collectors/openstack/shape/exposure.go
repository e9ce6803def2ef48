package shape

import "github.com/driftd/driftd/internal/model"

// exposed returns the fields of a kind that have an exposure.
func exposed(kind string) []model.ExposedField {
	fields := func(what model.Exposure, paths ...string) []model.ExposedField {
		var list []model.ExposedField
		for _, path := range paths {
			list = append(list, model.ExposedField{Path: path, What: what})
		}
		return list
	}
	switch kind {
	case SecurityGroup, SecurityGroupRule, FloatingIP:
		return fields(model.ExposesReach, "")
	case Port:
		return fields(model.ExposesReach, "allowed_address_pairs", "device_id", "fixed_ips", "network_id", "port_security_enabled", "security_groups")
	case Network:
		return fields(model.ExposesReach, "port_security_enabled", "router:external", "shared")
	case Subnet:
		return fields(model.ExposesReach, "gateway_ip", "host_routes")
	case Router:
		return fields(model.ExposesReach, "external_gateway_info", "routes")
	case Keypair:
		return fields(model.ExposesAccess, "")
	case Image:
		return append(fields(model.ExposesCode, "checksum", "status"), fields(model.ExposesAccess, "visibility")...)
	case Server:
		return append(fields(model.ExposesCode, "image", "os-extended-volumes:volumes_attached"),
			append(fields(model.ExposesAccess, "key_name"), fields(model.ExposesReach, "interfaces", "security_groups")...)...)
	case Volume:
		return fields(model.ExposesAccess, "attachments")
	}
	return nil
}
