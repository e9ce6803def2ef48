// Package all lists the loaders that driftd has.
package all

import (
	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/acceptances"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/declared/netbox"
	"github.com/driftd/driftd/internal/declared/terraform"
)

// Definitions returns every loader, by type.
func Definitions() []declared.Definition {
	return []declared.Definition{
		acceptances.Definition(),
		manifests.Definition(),
		netbox.Definition(),
		terraform.Definition(),
	}
}

// Jobs returns what a box must be able to do for the loaders.
func Jobs() map[string]box.Job { return manifests.Jobs() }
