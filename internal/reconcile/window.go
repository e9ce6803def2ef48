package reconcile

import (
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/hours"
)

// A Window is a freeze in the configuration, which forbids actions during some hours. A thaw does not end
// it.
type Window struct {
	// Name is the key of the window in the configuration.
	Name string
	// Sources are the names of the sources. Empty means all sources.
	Sources []string
	hours.Window
	// Location is the time zone of the hours.
	Location *time.Location
	Reason   string
}

// configured is the Control.Via of a Window.
const configured = "configuration"

// Open returns the freezes of the windows that are open at now, one for each source.
func Open(windows []Window, now time.Time) (held []Control) {
	for i := range windows {
		w := &windows[i]
		end := w.End(now.In(w.Location))
		if end.IsZero() {
			continue
		}
		c := Control{ID: w.Name, Kind: Freeze, Until: end.UTC(), Via: configured, At: now.UTC(), Reason: w.Reason}
		for _, source := range w.Sources {
			of := c
			of.Source = source
			held = append(held, of)
		}
		if len(w.Sources) == 0 {
			held = append(held, c)
		}
	}
	return held
}

// Scheduled reports whether a freeze comes from the configuration.
func (c *Control) Scheduled() bool { return c.Kind == Freeze && c.Via == configured }

// name returns what names a freeze without its person.
func (c *Control) name() string {
	if c.Scheduled() {
		return c.ID + " of the configuration"
	}
	return fmt.Sprintf("freeze %s", c.ID)
}
