package openstack

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors/openstack/bus"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// An unknownWriter returns reasons for unknown authors.
type unknownWriter struct {
	// actions and keep are settings; fault is why the actions of a server could not be read.
	actions int
	keep    time.Duration
	fault   string
	// busState is the state of the bus; nil if none is configured.
	busState *bus.State
}

// A serviceLog describes which authors of changes a service records.
type serviceLog struct {
	// name is the display name of the service, and exchange that of its notifications.
	name, exchange string
	// itself is what its API records, and lacks what its notifications leave out.
	itself, lacks string
}

// serviceLogs returns the descriptions by the services' types in the catalogue.
func serviceLogs() map[string]serviceLog {
	return map[string]serviceLog{
		normalize.Networking: {name: "Neutron", exchange: "neutron", itself: "Neutron keeps no record of who did what"},
		normalize.Imaging: {name: "Glance", exchange: "glance", itself: "Glance keeps no record of who did what",
			lacks: "Glance's notifications name no user"},
		normalize.BlockStorage: {name: "Cinder", exchange: "cinder", itself: "Cinder keeps no record of who changed what"},
		normalize.Compute: {name: "Nova", exchange: "nova", itself: "Nova keeps no record of who changed what",
			lacks: "Nova's notifications do not name the user who changed it"},
	}
}

// of returns the reason why the author of a change of the kind may be unknown.
func (s unknownWriter) of(kind string) string {
	i := slices.IndexFunc(normalize.Kinds(), func(k *normalize.Kind) bool { return k.Name == kind })
	if i < 0 {
		return ""
	}
	r := serviceLogs()[normalize.Kinds()[i].Service]
	if kind == normalize.Server {
		r.itself = s.server()
		r.lacks = "Nova does not record who changed a server's metadata, tags, description or security groups"
	}
	switch {
	case s.busState == nil && r.lacks != "":
		return r.itself + ": set notifications, and add the audit middleware to " + r.name + " (docs/openstack.md)"
	case s.busState == nil:
		return r.itself + ": enable its notifications, and set notifications (docs/openstack.md)"
	case s.busState.Fault != "":
		return r.itself + ", and " + s.busState.Fault
	case slices.Contains(s.busState.Absent, r.exchange):
		return fmt.Sprintf("%s, and the notification bus has no exchange %s: enable the notifications of %s, or add its control_exchange to notifications.exchanges (docs/openstack.md)",
			r.itself, r.exchange, r.name)
	}
	text := fmt.Sprintf("the notifications since %s have no entry for this change: it is older than that or than %s (notifications.keep), or %s sends no notifications",
		s.busState.Since.UTC().Format("2006-01-02 15:04 UTC"), span(s.keep), r.name)
	if r.lacks != "" {
		text += "; " + r.lacks + ": the audit middleware does (docs/openstack.md)"
	}
	if kind == normalize.Server && (s.fault != "" || s.actions == 0) {
		text = r.itself + "; " + text
	}
	return text
}

// server returns what Nova records of the changes of a server.
func (s unknownWriter) server() string {
	switch {
	case s.actions == 0:
		return "the actions of servers are not read, because actions is 0"
	case s.fault != "":
		return "the actions of servers could not be read (" + s.fault + ")"
	}
	return fmt.Sprintf("Nova records who created, resized, stopped or deleted a server, which a scan reads for %d servers (actions), but not who changed its name, metadata, tags or security groups", s.actions)
}

// span formats a duration in days, or in hours and minutes below 48 hours.
func span(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", (d+12*time.Hour)/(24*time.Hour))
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
