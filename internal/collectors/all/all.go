// Package all lists the collectors that driftd has.
package all

import (
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws"
	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/collectors/netbox"
	"github.com/driftd/driftd/internal/collectors/openstack"
	"github.com/driftd/driftd/internal/collectors/proxmox"
)

// Definitions returns every collector, by type.
func Definitions() []collectors.Definition {
	return []collectors.Definition{
		aws.Definition(),
		kubernetes.Definition(),
		netbox.Definition(),
		openstack.Definition(),
		proxmox.Definition(),
	}
}
