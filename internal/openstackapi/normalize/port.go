package normalize

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// port sets the owner of ports that no declaration is expected for, and marks ports with less
// security than their network. Ports of router interfaces have no owner: a user connected the
// router to the network.
func (j *joiner) port(r *model.Resource) {
	r.Name = cmp.Or(r.Name, firstAddress(r.Value))
	if network := j.find(Network, r.Value.At("network_id").Str()); network != nil && portSecurityDisabled(r.Value) && !portSecurityDisabled(network.Value) {
		r.Value = r.Value.With("unprotected", model.BoolOf(true))
	}
	device, owner := r.Value.At("device_id").Str(), r.Value.At("device_owner").Str()
	switch {
	case slices.Contains(j.routerInterfaces, owner):
	case j.find(Server, device) != nil || strings.HasPrefix(owner, "compute:"):
		r.SystemOwned = "belongs to server " + j.nameOf(Server, device) + ", whose interfaces show it"
	case owner == "network:router_gateway":
		r.SystemOwned = "the gateway of router " + j.nameOf(Router, device) + ", which shows it"
	case owner == "network:floatingip":
		r.SystemOwned = "the address of floating IP " + j.nameOf(FloatingIP, device)
	case isServicePort(owner):
		r.SystemOwned = "made by OpenStack itself (" + owner + ")"
	}
}

// routerInterfaces returns the device owners of the ports that connect routers to networks: of
// plain, distributed and highly available routers.
func routerInterfaces() []string {
	return []string{"network:router_interface", "network:router_interface_distributed", "network:ha_router_replicated_interface"}
}

// isServicePort reports whether a service creates ports with the device owner for itself: for
// DHCP, metadata, highly available routers, load balancers.
func isServicePort(owner string) bool {
	for _, prefix := range []string{"network:", "Octavia", "neutron:"} {
		if strings.HasPrefix(owner, prefix) {
			return true
		}
	}
	return false
}

// portSecurityDisabled reports whether port security is disabled on a port or a network.
func portSecurityDisabled(v model.Value) bool { return v.At("port_security_enabled").Text() == "false" }

func firstAddress(port model.Value) string {
	for _, ip := range port.At("fixed_ips").Items() {
		return ip.At("ip_address").Str()
	}
	return ""
}
