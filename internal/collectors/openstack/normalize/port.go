package normalize

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// port says whose a port is that nobody is expected to declare, and whether it is
// less secured than its network would have it. Ports of routers stand for
// themselves: somebody plugged the router into a network.
func (j *joiner) port(r *model.Resource) {
	r.Name = cmp.Or(r.Name, firstAddress(r.Value))
	if network := j.find(Network, r.Value.At("network_id").Str()); network != nil && unsecured(r.Value) && !unsecured(network.Value) {
		r.Value = r.Value.With("unprotected", model.BoolOf(true))
	}
	device, owner := r.Value.At("device_id").Str(), r.Value.At("device_owner").Str()
	switch {
	case slices.Contains(j.routerInterfaces, owner):
	case j.find(Server, device) != nil || strings.HasPrefix(owner, "compute:"):
		r.SystemOwned = "belongs to server " + j.named(Server, device) + ", whose interfaces show it"
	case owner == "network:router_gateway":
		r.SystemOwned = "the gateway of router " + j.named(Router, device) + ", which shows it"
	case owner == "network:floatingip":
		r.SystemOwned = "the address of floating IP " + j.named(FloatingIP, device)
	case ownPort(owner):
		r.SystemOwned = "made by OpenStack itself (" + owner + ")"
	}
}

// routerInterfaces are the owners of ports by which routers are plugged into
// networks: plain ones, distributed ones, and those of pairs.
func routerInterfaces() []string {
	return []string{"network:router_interface", "network:router_interface_distributed", "network:ha_router_replicated_interface"}
}

// ownPort tells the owners of ports that the services make for themselves: for
// DHCP, metadata, pairs of routers, load balancers.
func ownPort(owner string) bool {
	for _, prefix := range []string{"network:", "Octavia", "neutron:"} {
		if strings.HasPrefix(owner, prefix) {
			return true
		}
	}
	return false
}

// unsecured tells whether a port or a network says that ports are not secured.
func unsecured(v model.Value) bool { return v.At("port_security_enabled").Text() == "false" }

func firstAddress(port model.Value) string {
	for _, ip := range port.At("fixed_ips").Items() {
		return ip.At("ip_address").Str()
	}
	return ""
}
