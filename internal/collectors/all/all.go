// Package all lists the collectors of driftd.
package all

import (
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws"
	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/collectors/netbox"
	"github.com/driftd/driftd/internal/collectors/openstack"
	"github.com/driftd/driftd/internal/collectors/proxmox"
)

// Definitions returns the definitions of all collectors, sorted by type.
func Definitions() []collectors.Definition {
	return []collectors.Definition{
		aws.Definition(),
		kubernetes.Definition(),
		netbox.Definition(),
		openstack.Definition(),
		proxmox.Definition(),
	}
}
