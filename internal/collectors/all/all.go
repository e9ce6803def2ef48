// Package all lists the collectors that driftd has.
package all

import (
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/collectors/netbox"
	"github.com/driftd/driftd/internal/collectors/proxmox"
)

// Definitions returns every collector, by type.
func Definitions() []collectors.Definition {
	return []collectors.Definition{
		kubernetes.Definition(),
		netbox.Definition(),
		proxmox.Definition(),
	}
}
