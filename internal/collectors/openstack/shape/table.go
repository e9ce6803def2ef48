package shape

import (
	"net/url"

	"github.com/driftd/driftd/internal/model"
)

// The tables hold the kinds that clouds have many objects of, then those of Nova
// and Glance, and those of Neutron.

// common are the fields that most of Neutron's kinds have.
const common = " name description tags/set"

// crowds are the kinds that large clouds have most objects of.
func crowds() []entry {
	return []entry{
		{name: Server, service: Compute, path: "servers/detail", rows: "servers", belongs: ToProject, microversion: "2.46",
			fields: "name description/derived OS-EXT-STS:vm_state flavor/reference image/reference key_name metadata/map tags/set " +
				"OS-EXT-AZ:availability_zone/derived config_drive/boolean accessIPv4/address accessIPv6/address security_groups/names " +
				"os-extended-volumes:volumes_attached/ids>volumes locked/boolean",
			joined: "flavor_name/derived flavor_vcpus/derivednumber flavor_ram/derivednumber flavor_disk/derivednumber " +
				"image_name/derived server_groups/set interfaces/interfaces",
			busy: []busy{{"status", "BUILD REBUILD RESIZE REVERT_RESIZE MIGRATING UNKNOWN"}, {"OS-EXT-STS:task_state", "deleting soft-deleting restoring"}},
			// Before 2.69 Nova says nothing of a cell that is down.
			roll:   &Roll{Path: "servers", Since: "2.69", Why: "Nova's cell that holds it does not answer: see nova-manage cell_v2 list_cells"},
			labels: "metadata", rates: servers()},
		{name: Port, service: Networking, path: "ports", belongs: ToProject,
			fields: "network_id mac_address/mac admin_state_up/boolean device_id device_owner fixed_ips/fixed allowed_address_pairs/pairs " +
				"extra_dhcp_opts/options security_groups/set port_security_enabled/boolean binding:vnic_type binding:profile dns_name dns_domain " +
				"qos_policy_id propagate_uplink_status/boolean mac_learning_enabled/boolean numa_affinity_policy" + common,
			admin: "profile", joined: "unprotected/volatile", labels: "tags", rates: ports()},
		{name: SecurityGroupRule, service: Networking, path: "security-group-rules", rows: "security_group_rules", belongs: ToProject,
			fields: "security_group_id direction ethertype protocol/protocol port_range_min/number port_range_max/number " +
				"remote_ip_prefix/address remote_group_id remote_address_group_id description",
			joined: "open_to/volatile", rates: groupRules()},
		{name: Volume, service: BlockStorage, path: "volumes/detail", rows: "volumes", belongs: ToProject,
			fields: "name description size/number volume_type availability_zone/derived bootable/boolean encrypted/boolean multiattach/boolean " +
				"metadata/volume snapshot_id source_volid consistencygroup_id attachments/attachments",
			busy:   []busy{{"status", "creating attaching detaching extending deleting retyping reserved downloading restoring-backup reverting maintenance"}},
			labels: "metadata", rates: []rate{{fields: "attachments", severity: model.High, why: "decides who reads and writes it"}, labelled("name description")}},
		{name: FloatingIP, service: Networking, path: "floatingips", belongs: ToProject,
			fields: "floating_ip_address/address floating_network_id port_id port_details/device>device_id fixed_ip_address/address router_id/derived description " +
				"dns_name dns_domain qos_policy_id port_forwardings/forwardings tags/set",
			labels: "tags", rates: floatingIPs()},
	}
}

// computing are the other kinds of Nova, and those of Glance.
func computing() []entry {
	return []entry{
		{name: Image, service: Imaging, path: "images", belongs: ToProject,
			fields: "name status visibility protected/boolean os_hidden/boolean container_format disk_format min_disk/number min_ram/number " +
				"checksum/derived size/derivednumber tags/set */properties>properties",
			busy: []busy{{"status", "queued saving uploading importing pending_delete deleted"}},
			// Glance lists hidden images only where they are asked for.
			rest: url.Values{"os_hidden": {"true"}}, labels: "tags", rates: images()},
		{name: ServerGroup, service: Compute, path: "os-server-groups", rows: "server_groups", belongs: ToProject, microversion: "2.46", counted: true,
			fields: "name policies"},
		{name: Keypair, service: Compute, path: "os-keypairs", rows: "keypairs", belongs: ToUser, microversion: "2.46", inner: "keypair",
			fields: "name public_key/trimmed fingerprint/derived type",
			rates: []rate{{fields: "public_key", severity: model.High, why: login},
				{verdicts: unmanaged(), severity: model.Medium, why: login}}},
		{name: Flavor, service: Compute, path: "flavors/detail", rows: "flavors", belongs: ToNobody, microversion: "2.61",
			fields: "name description ram/number disk/number vcpus/number swap/zero OS-FLV-EXT-DATA:ephemeral/number rxtx_factor/number " +
				"os-flavor-access:is_public/boolean OS-FLV-DISABLED:disabled/boolean extra_specs/map",
			admin: "extra_specs", query: url.Values{"is_public": {"None"}},
			rates: []rate{{fields: "is_public", where: is("is_public", "true"), severity: model.High, why: everyProject}, labelled("description")}},
	}
}

const (
	login        = "decides who can log in"
	reach        = "decides who can reach it"
	routes       = "decides where packets go"
	everyProject = "every project can use it"
)

// labelled rates fields that only people read.
func labelled(fields string) rate { return rate{fields: fields, severity: model.Low, why: "a label"} }

func servers() []rate {
	return []rate{
		{fields: "vm_state", where: is("vm_state", "error"), severity: model.High, why: "the server is in error"},
		{fields: "security_groups", severity: model.High, why: reach},
		{fields: "key_name", severity: model.High, why: login},
		{fields: "interfaces", severity: model.Medium, why: "decides which networks it is in"},
		labelled("description tags"),
	}
}

func images() []rate {
	public := is("visibility", "public", "community")
	return []rate{
		{fields: "visibility", where: public, severity: model.High, why: everyProject},
		{verdicts: unmanaged(), where: public, severity: model.High, why: everyProject},
		{fields: "checksum size", severity: model.High, why: "decides what servers are made from"},
		labelled("tags"),
	}
}
