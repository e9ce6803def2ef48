// Package all lists the definitions of all receiver types.
package all

import (
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/alertmanager"
	"github.com/driftd/driftd/internal/notify/netbox"
	"github.com/driftd/driftd/internal/notify/shoutrrr"
	"github.com/driftd/driftd/internal/notify/slack"
	"github.com/driftd/driftd/internal/notify/webhook"
)

// Definitions returns the definitions of all receivers, sorted by type.
func Definitions() []notify.Definition {
	return []notify.Definition{
		alertmanager.Definition(),
		netbox.Definition(),
		shoutrrr.Definition(),
		slack.Definition(),
		webhook.Definition(),
	}
}
