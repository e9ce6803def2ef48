package normalize

import (
	"sync"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// The names of the kinds.
const (
	QEMU            = "proxmox/qemu"
	LXC             = "proxmox/lxc"
	Pool            = "proxmox/pool"
	PoolMember      = "proxmox/pool_member"
	Storage         = "proxmox/storage"
	User            = "proxmox/user"
	Token           = "proxmox/token"
	Group           = "proxmox/group"
	Role            = "proxmox/role"
	Realm           = "proxmox/realm"
	ACL             = "proxmox/acl"
	ClusterOptions  = "proxmox/cluster_options"
	BackupJob       = "proxmox/backup_job"
	MetricsServer   = "proxmox/metrics_server"
	ReplicationJob  = "proxmox/replication_job"
	HAResource      = "proxmox/ha_resource"
	HARule          = "proxmox/ha_rule"
	HAGroup         = "proxmox/ha_group"
	MappingPCI      = "proxmox/mapping_pci"
	MappingUSB      = "proxmox/mapping_usb"
	MappingDir      = "proxmox/mapping_dir"
	SDNZone         = "proxmox/sdn_zone"
	SDNVnet         = "proxmox/sdn_vnet"
	SDNSubnet       = "proxmox/sdn_subnet"
	SDNController   = "proxmox/sdn_controller"
	SDNIpam         = "proxmox/sdn_ipam"
	SDNDNS          = "proxmox/sdn_dns"
	FirewallOptions = "proxmox/firewall_options"
	FirewallRules   = "proxmox/firewall_rules"
	FirewallGroup   = "proxmox/firewall_group"
	FirewallAlias   = "proxmox/firewall_alias"
	FirewallIPSet   = "proxmox/firewall_ipset"
	NodeNetwork     = "proxmox/node_network"
	NodeDNS         = "proxmox/node_dns"
	NodeHosts       = "proxmox/node_hosts"
	NodeConfig      = "proxmox/node_config"
	NodeTime        = "proxmox/node_time"
	ACMEAccount     = "proxmox/acme_account"
	ACMEPlugin      = "proxmox/acme_plugin"
	// NotificationTarget and NotificationMatcher have the same keys.
	NotificationTarget  = "proxmox/notification_target"
	NotificationMatcher = "proxmox/notification_matcher"
)

// A kind describes the objects of one kind in the API.
type kind struct {
	fields table.Fields
	// prepare converts an answer to the fields of the table; it may be nil.
	prepare func(raw model.Value) model.Value
	// reason is the reason of the severity of a change of any field; "" for the usual severity.
	reason string
}

// kinds are all kinds by name. Nothing writes to them.
var kinds = sync.OnceValue(func() map[string]kind {
	const access, reach = "decides who may do what", "decides who can be reached"
	return map[string]kind{
		QEMU: {fields: qemu()}, LXC: {fields: lxc()},
		Pool: {fields: pool()}, PoolMember: {fields: poolMember(), reason: access}, Storage: {fields: storage()},
		User: {fields: user(), reason: access}, Token: {fields: token(), reason: access}, Group: {fields: group(), reason: access},
		Role: {fields: role(), reason: access}, Realm: {fields: realm(), reason: access}, ACL: {fields: permission(), reason: access},
		ClusterOptions: {fields: clusterOptions()}, BackupJob: {fields: backupJob()}, MetricsServer: {fields: metricsServer()},
		ReplicationJob: {fields: replicationJob()}, HAResource: {fields: haResource()}, HARule: {fields: haRule()}, HAGroup: {fields: haGroup()},
		MappingPCI: {fields: mapping("node", "path")}, MappingUSB: {fields: mapping("node", "path", "id")}, MappingDir: {fields: mapping("node", "path")},
		SDNZone: {fields: sdnZone()}, SDNVnet: {fields: sdnVnet()}, SDNSubnet: {fields: sdnSubnet()},
		SDNController: {fields: sdnController()}, SDNIpam: {fields: sdnIpam()}, SDNDNS: {fields: sdnDNS()},
		FirewallOptions: {fields: firewallOptions(), reason: reach}, FirewallRules: {fields: firewallRules(), reason: reach},
		FirewallGroup: {fields: firewallGroup(), reason: reach}, FirewallAlias: {fields: firewallAlias(), reason: reach},
		FirewallIPSet: {fields: firewallIPSet(), reason: reach},
		NodeNetwork:   {fields: nodeNetwork(), prepare: withoutSplitAddress}, NodeDNS: {fields: nodeDNS(), prepare: withServers},
		NodeHosts: {fields: nodeHosts(), prepare: withEntries}, NodeConfig: {fields: nodeConfig()}, NodeTime: {fields: nodeTime()},
		ACMEAccount: {fields: acmeAccount()}, ACMEPlugin: {fields: acmePlugin()},
		NotificationTarget: {fields: notification()}, NotificationMatcher: {fields: notification()},
	}
})

// Kinds returns all kinds by name, with their schemas and severities. No schema is closed: a
// declaration of some fields does not concern the others.
func Kinds() map[string]*model.Kind {
	all := map[string]*model.Kind{}
	for name, k := range kinds() {
		all[name] = &model.Kind{Name: name, Schema: k.fields.Schema(), Labels: "tags", Severities: k.severities(name), Exposed: exposed(name)}
	}
	return all
}
