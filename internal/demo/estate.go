package demo

import "fmt"

// A machine is a guest that Terraform, NetBox and Proxmox contain.
type machine struct {
	id   int
	name string
	node string
	// container reports whether the machine is a container; else it is a virtual machine.
	container bool
	cores     int
	// memory is in MB, disk in GB.
	memory, disk int
	tag          string
}

// machines returns the guests of the shop.
func machines() []machine {
	return []machine{
		{301, "web-01", "pve1", false, 2, 4096, 32, "web"},
		{302, "web-02", "pve2", false, 2, 4096, 32, "web"},
		{303, "app-01", "pve1", false, 4, 8192, 40, "app"},
		{304, "app-02", "pve3", false, 4, 8192, 40, "app"},
		{305, "db-01", "pve2", false, 8, 16384, 200, "db"},
		{306, "db-02", "pve3", false, 8, 16384, 200, "db"},
		{307, "queue-01", "pve3", false, 2, 4096, 20, "app"},
		{308, "cache-01", "pve1", false, 2, 8192, 20, "app"},
		{309, "mon-01", "pve2", false, 2, 4096, 100, "ops"},
		{310, "dns-01", "pve1", true, 1, 512, 4, "ops"},
		{311, "dns-02", "pve2", true, 1, 512, 4, "ops"},
		{312, "mail-01", "pve3", true, 1, 1024, 8, "ops"},
	}
}

// idOf returns the ID of a guest on Proxmox, or 0.
func idOf(name string) int {
	for _, m := range machines() {
		if m.name == name {
			return m.id
		}
	}
	return 0
}

// mac and address return the addresses of the guest's network device.
func (m machine) mac() string     { return fmt.Sprintf("BC:24:11:20:01:%02X", m.id-300) }
func (m machine) address() string { return fmt.Sprintf("10.20.1.%d/24", m.id-290) }

const (
	// gateway is the gateway of all guests.
	gateway = "10.20.1.1"
	// vip is the virtual address of the shop's load balancer.
	vip = "10.20.1.5/24"
)

// A network is a prefix of the shop.
type network struct {
	id          int
	prefix      string
	description string
}

func networks() []network {
	return []network{
		{1, "10.20.0.0/16", "the shop"},
		{2, "10.20.1.0/24", "servers"},
		{3, "10.20.8.0/22", "pods"},
		{4, "198.51.100.0/28", "public addresses"},
	}
}

// A rule is a rule of the firewall.
type rule struct{ proto, port, source, comment string }

// firewall returns the rules of the cluster. All other traffic is dropped.
func firewall() []rule {
	return []rule{
		{"tcp", "443", "", "the shop"},
		{"tcp", "22", "10.20.0.0/16", "from inside"},
		{"tcp", "5432", "10.20.1.0/24", "the databases"},
	}
}
