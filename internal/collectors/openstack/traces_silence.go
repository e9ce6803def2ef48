package openstack

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors/openstack/bus"
	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
)

// A silence says why nobody can be named.
type silence struct {
	// actions and keep are settings; fault says why a server could not be asked.
	actions int
	keep    time.Duration
	fault   string
	// heard is how well the bus could be heard; nil where there is none.
	heard *bus.State
}

// A recorder is a service, and what it tells of who did what to its objects.
type recorder struct {
	// name is what people call it, exchange where it notifies.
	name, exchange string
	// itself is what it keeps of that, lacks what its notices leave out.
	itself, lacks string
}

// recorders are the services, by what the catalogue calls them.
func recorders() map[string]recorder {
	return map[string]recorder{
		normalize.Networking: {name: "Neutron", exchange: "neutron", itself: "Neutron keeps no record of who did what"},
		normalize.Imaging: {name: "Glance", exchange: "glance", itself: "Glance keeps no record of who did what",
			lacks: "Glance's notifications name no user"},
		normalize.BlockStorage: {name: "Cinder", exchange: "cinder", itself: "Cinder keeps no record of who changed what"},
		normalize.Compute: {name: "Nova", exchange: "nova", itself: "Nova keeps no record of who changed what",
			lacks: "Nova's notifications do not tell who changed it"},
	}
}

// of says of a kind why nobody may be known to have changed an object.
func (s silence) of(kind string) string {
	i := slices.IndexFunc(normalize.Kinds(), func(k *normalize.Kind) bool { return k.Name == kind })
	if i < 0 {
		return ""
	}
	r := recorders()[normalize.Kinds()[i].Service]
	if kind == normalize.Server {
		r.itself = s.server()
		r.lacks = "Nova does not tell who changed a server's metadata, tags, description or security groups"
	}
	switch {
	case s.heard == nil && r.lacks != "":
		return r.itself + ": set notifications, and put the audit middleware before " + r.name + " (docs/openstack.md)"
	case s.heard == nil:
		return r.itself + ": let it notify, and set notifications (docs/openstack.md)"
	case s.heard.Fault != "":
		return r.itself + ", and " + s.heard.Fault
	case slices.Contains(s.heard.Absent, r.exchange):
		return fmt.Sprintf("%s, and nothing on the notification bus is published to %s: let %s notify, or name its control_exchange in notifications.exchanges (docs/openstack.md)",
			r.itself, r.exchange, r.name)
	}
	text := fmt.Sprintf("the notifications since %s tell nothing of it: it was before that, more than %s ago (notifications.keep), or %s does not notify",
		s.heard.Since.UTC().Format("2006-01-02 15:04 UTC"), span(s.keep), r.name)
	if r.lacks != "" {
		text += "; " + r.lacks + ": the audit middleware before it would (docs/openstack.md)"
	}
	if kind == normalize.Server && (s.fault != "" || s.actions == 0) {
		text = r.itself + "; " + text
	}
	return text
}

// server is what Nova keeps of who did what to a server.
func (s silence) server() string {
	switch {
	case s.actions == 0:
		return "Nova is not asked who did what: actions is 0"
	case s.fault != "":
		return "Nova could not be asked who did what (" + s.fault + ")"
	}
	return fmt.Sprintf("Nova keeps who made, resized, stopped or deleted a server, of which a look asks %d (actions), and not who changed its name, metadata, tags or security groups", s.actions)
}

// span writes a duration as people do.
func span(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", (d+12*time.Hour)/(24*time.Hour))
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
