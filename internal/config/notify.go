package config

import (
	"time"

	"github.com/driftd/driftd/internal/moment"
)

// Match says which findings are meant: all that is given must fit, and of a
// list one is enough. Everything but verdict and severity is a glob.
type Match struct {
	Source      []string          `mapstructure:"source"`
	Kind        []string          `mapstructure:"kind"`
	Resource    []string          `mapstructure:"resource"`
	Namespace   []string          `mapstructure:"namespace"`
	Declaration []string          `mapstructure:"declaration"`
	Verdict     []string          `mapstructure:"verdict"`
	Severity    []string          `mapstructure:"severity"`
	Owner       []string          `mapstructure:"owner"`
	Label       map[string]string `mapstructure:"label"`
}

// An OwnerRule names who answers for what it fits.
type OwnerRule struct {
	Match Match  `mapstructure:"match"`
	Owner string `mapstructure:"owner"`
}

// Notify says who is told of findings.
type Notify struct {
	// URL is where people reach driftd's pages; "" means that messages have no
	// links.
	URL string `mapstructure:"url"`
	// UncheckedAfter is how long a finding may be unchecked before somebody is
	// told.
	UncheckedAfter time.Duration `mapstructure:"unchecked_after"`
	// GroupWindow is how long findings join a message that was sent already.
	GroupWindow time.Duration `mapstructure:"group_window"`
	// Receivers have distinct names.
	Receivers []Receiver `mapstructure:"receivers"`
	// Routes are tried in order. Without any, every receiver is told of
	// everything but what is for information.
	Routes []Route `mapstructure:"routes"`
}

// A Receiver is one place where people are told. Its Settings belong to its
// type.
type Receiver struct {
	Name string `mapstructure:"name"`
	Type string `mapstructure:"type"`
	Rate Rate   `mapstructure:"rate"`
	// QuietHours are when it is told only of what is as bad as Except says.
	QuietHours QuietHours `mapstructure:"quiet_hours"`
	// Digest is the time of day of a daily summary, "09:00"; "" means none.
	Digest string `mapstructure:"digest"`
	// Timezone of quiet hours and digest, as in "Europe/Berlin"; "" is the
	// machine's.
	Timezone string `mapstructure:"timezone"`
	Settings `mapstructure:"settings"`
}

// Rate bounds how many messages a receiver gets.
type Rate struct {
	Messages int           `mapstructure:"messages"`
	Per      time.Duration `mapstructure:"per"`
}

// QuietHours are a part of the day; From and To are times of day, "22:00", and
// the part may go over midnight.
type QuietHours struct {
	From string `mapstructure:"from"`
	To   string `mapstructure:"to"`
	// Days are those on which it begins: mon, tue …; empty means all.
	Days []string `mapstructure:"days"`
	// Except are severities that are told all the same, with those that are worse.
	Except []string `mapstructure:"except"`
}

// A Route sends the findings that it fits to receivers; the first that fits
// counts, unless it says to continue.
type Route struct {
	Match     Match    `mapstructure:"match"`
	Receivers []string `mapstructure:"receivers"`
	Continue  bool     `mapstructure:"continue"`
	// GroupBy is what findings of one message have in common: cause, source,
	// declaration, kind, namespace, resource, verdict, severity, owner, actor.
	GroupBy []string `mapstructure:"group_by"`
	// Repeat is how long after the last word on open findings they are called to
	// mind; 0 means never. It is never nil.
	Repeat *time.Duration `mapstructure:"repeat"`
}

// DefaultRepeat is the Repeat of a route that says nothing of it.
const DefaultRepeat = moment.Day

// A Trigger lets another system ask for a scan, with a signed request.
type Trigger struct {
	Name string `mapstructure:"name"`
	// Type says how requests are signed, see trigger.Types.
	Type       string `mapstructure:"type"`
	SecretFile string `mapstructure:"secret_file" path:"true"`
	// Sources and Declarations are what is read then; without both, everything.
	Sources      []string `mapstructure:"sources"`
	Declarations []string `mapstructure:"declarations"`
	// MinInterval is the least time between two scans that it makes.
	MinInterval time.Duration `mapstructure:"min_interval"`
}
