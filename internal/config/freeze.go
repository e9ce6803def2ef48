package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/hours"
	"github.com/driftd/driftd/internal/reconcile"
)

// A CalendarFreeze is a part of the week without actions. From and To are times of day, "22:00". It may
// include midnight. Without both, it covers whole days.
type CalendarFreeze struct {
	// From is the time of day at which it begins, "22:00".
	From string `mapstructure:"from"`
	// To is the time of day at which it ends. If it is earlier than From, the freeze ends on the next day.
	To string `mapstructure:"to"`
	// Days are the days on which it begins: mon, tue …; the default is every day.
	Days []string `mapstructure:"days"`
	// Timezone is the time zone of the times, as in "Europe/Berlin". The default is that of the machine.
	Timezone string `mapstructure:"timezone"`
	// Sources are the names of the sources on which there are no actions. The default is all sources.
	Sources []string `mapstructure:"sources"`
	// Reason is the reason that refusals contain.
	Reason string `mapstructure:"reason"`
}

// Windows returns the freezes in the form of package reconcile.
func (r *Reconcile) Windows() ([]reconcile.Window, error) {
	list := make([]reconcile.Window, len(r.Freezes))
	for i := range r.Freezes {
		f := &r.Freezes[i]
		w := reconcile.Window{Name: fmt.Sprintf("reconcile.freezes[%d]", i), Sources: f.Sources, Reason: f.Reason,
			Window: hours.Window{Days: weekdaysOf(f.Days), To: 24 * time.Hour}}
		var errs [3]error
		w.Location, errs[0] = locationOf(f.Timezone)
		if f.From != "" {
			w.From, errs[1] = TimeOfDay(f.From)
			w.To, errs[2] = TimeOfDay(f.To)
		}
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("%s: %w", w.Name, err)
		}
		list[i] = w
	}
	return list, nil
}

func (d *document) checkFreeze(at string, f *CalendarFreeze, known known) {
	whole := f.From == "" && f.To == ""
	switch {
	case whole && len(f.Days) == 0:
		d.add(at, "a freeze without times and days never ends: set them, or the mode of the rules to off")
	case whole:
		d.checkWords(at+".days", "day", f.Days, weekdays())
	default:
		d.checkHours(at, "freeze", f.From, f.To, f.Days)
	}
	if _, err := locationOf(f.Timezone); err != nil {
		d.add(at+".timezone", "%v", err)
	}
	if strings.TrimSpace(f.Reason) == "" {
		d.missing(at, "reason", "a freeze without a reason: give one, refusals have it")
	}
	d.checkNames(at+".sources", "source", f.Sources, known.sources)
}
