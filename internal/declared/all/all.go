// Package all lists the definitions of all loaders.
package all

import (
	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/acceptances"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/declared/netbox"
	"github.com/driftd/driftd/internal/declared/terraform"
)

// Definitions returns the definitions of all loaders, sorted by type.
func Definitions() []declared.Definition {
	return []declared.Definition{
		acceptances.Definition(),
		manifests.ArgoCDDefinition(),
		manifests.FluxDefinition(),
		manifests.HelmDefinition(),
		manifests.Definition(),
		netbox.Definition(),
		terraform.Definition(),
	}
}

// Jobs returns the sandbox jobs of all loaders, by name.
func Jobs() map[string]box.Job { return manifests.Jobs() }
