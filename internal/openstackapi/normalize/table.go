package normalize

import (
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// The tables hold the kinds with the most objects, then those of Nova and Glance, and those of
// Neutron.

const (
	login        = "decides who can log in"
	reach        = "decides who can reach it"
	routes       = "decides where packets go"
	everyProject = "every project can use it"
)

// largest returns the kinds with the most objects in large clouds.
func largest() []*Kind {
	return []*Kind{
		servers(), ports(),
		{Name: SecurityGroupRule, Service: Networking, Path: "security-group-rules", Rows: "security_group_rules", Belongs: ToProject,
			fields: table.Join(text().To(SecurityGroup).Of("security_group_id remote_group_id"), text().Of("direction ethertype remote_address_group_id"), text().Low().Of("description"),
				protocol().Of("protocol"), number().Of("port_range_min port_range_max"), address().Of("remote_ip_prefix")),
			joined: text().Volatile().Of("open_to"), exposed: table.Exposed(model.ExposesReach, ""), fallbackRules: groupRules()},
		{Name: Volume, Service: BlockStorage, Path: "volumes/detail", Rows: "volumes", Belongs: ToProject,
			fields: table.Join(text().Low().Of("name description"), number().Of("size"), derivedText().Of("availability_zone"),
				text().To(Volume).Of("source_volid"), text().Of("volume_type snapshot_id consistencygroup_id"),
				boolean().Of("bootable encrypted multiattach"), volumeMetadata().Of("metadata"),
				bag(text().To(Server).Of("server_id"), text().Of("device")).High("decides who reads and writes it").Of("attachments")),
			busy:   []busy{{"status", "creating attaching detaching extending deleting retyping reserved downloading restoring-backup reverting maintenance"}},
			labels: "metadata", exposed: table.Exposed(model.ExposesAccess, "attachments")},
		floatingIPs(),
	}
}

func servers() *Kind {
	return &Kind{Name: Server, Service: Compute, Path: "servers/detail", Rows: "servers", Belongs: ToProject, Microversion: "2.46",
		fields: table.Join(text().Of("name OS-EXT-STS:vm_state"), derivedText().Of("OS-EXT-AZ:availability_zone"), derivedText().Low().Of("description"),
			text().High(login).Of("key_name"), member("id").To(Flavor).Of("flavor"), member("id").To(Image).Of("image"), entries().Of("metadata"), set().Low().Of("tags"),
			boolean().Of("config_drive locked"), address().Of("accessIPv4 accessIPv6"),
			table.Set(member("name")).High(reach).Of("security_groups"), table.Set(member("id")).To(Volume).Of("os-extended-volumes:volumes_attached>volumes")),
		joined: table.Join(derivedText().Of("flavor_name image_name"), derivedNumber().Of("flavor_vcpus flavor_ram flavor_disk"), set().To(ServerGroup).Of("server_groups"),
			interfaceList().Medium("decides which networks it is in").Of("interfaces")),
		busy: []busy{{"status", "BUILD REBUILD RESIZE REVERT_RESIZE MIGRATING UNKNOWN"}, {"OS-EXT-STS:task_state", "deleting soft-deleting restoring"}},
		// Before 2.69 Nova leaves out the servers of a cell that is down.
		Index:  &Index{Path: "servers", Since: "2.69", Why: "Nova's cell that holds it does not answer: see nova-manage cell_v2 list_cells"},
		labels: "metadata",
		rules:  table.Rate(model.High, "the server is in error", "vm_state", table.Edited(), table.Is("vm_state", "error")),
		exposed: slices.Concat(table.Exposed(model.ExposesCode, "image volumes"),
			table.Exposed(model.ExposesAccess, "key_name"), table.Exposed(model.ExposesReach, "interfaces security_groups"))}
}

// computing returns the other kinds of Nova, and those of Glance.
func computing() []*Kind {
	return []*Kind{
		images(),
		{Name: ServerGroup, Service: Compute, Path: "os-server-groups", Rows: "server_groups", Belongs: ToProject, Microversion: "2.46", OffsetPaged: true,
			fields: text().Of("name policies")},
		{Name: Keypair, Service: Compute, Path: "os-keypairs", Rows: "keypairs", Belongs: ToUser, Microversion: "2.46",
			prepare: func(row model.Value) model.Value { return row.At("keypair") },
			fields: table.Join(text().Of("name type"), table.Text(strings.TrimSpace).High(login).Of("public_key"),
				derivedText().Of("fingerprint")),
			exposed: table.Exposed(model.ExposesAccess, ""), fallbackRules: table.Rate(model.Medium, login, "", table.Unmanaged())},
		{Name: Flavor, Service: Compute, Path: "flavors/detail", Rows: "flavors", Belongs: ToNone, Microversion: "2.61",
			fields: table.Join(text().Of("name"), text().Low().Of("description"), orZero().Of("swap"), entries().Of("extra_specs"),
				number().Of("ram disk vcpus OS-FLV-EXT-DATA:ephemeral rxtx_factor"), boolean().Of("os-flavor-access:is_public OS-FLV-DISABLED:disabled")),
			admin: []string{"extra_specs"}, query: url.Values{"is_public": {"None"}},
			rules: table.Rate(model.High, everyProject, "is_public", table.Edited(), table.Is("is_public", "true"))},
	}
}

func images() *Kind {
	public := table.Is("visibility", "public", "community")
	const source = "decides what servers are made from"
	return &Kind{Name: Image, Service: Imaging, Path: "images", Belongs: ToProject, prepare: withProperties,
		fields: table.Join(text().Of("name status visibility container_format disk_format"), boolean().Of("protected os_hidden"),
			number().Of("min_disk min_ram"), derivedText().High(source).Of("checksum"), derivedNumber().High(source).Of("size"),
			set().Low().Of("tags"), entries().Of("properties")),
		busy: []busy{{"status", "queued saving uploading importing pending_delete deleted"}},
		// Glance lists hidden images only if they are asked for.
		restQuery: url.Values{"os_hidden": {"true"}}, labels: "tags",
		rules: append(table.Rate(model.High, everyProject, "visibility", table.Edited(), public),
			table.Rate(model.High, everyProject, "", table.Unmanaged(), public)...),
		exposed: append(table.Exposed(model.ExposesCode, "checksum status"), table.Exposed(model.ExposesAccess, "visibility")...)}
}
