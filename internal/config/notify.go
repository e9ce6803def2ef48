package config

import (
	"time"

	"github.com/driftd/driftd/internal/moment"
)

// Match says which findings are meant: all that is given must fit, and of a
// list one is enough. Everything but verdict and severity is a glob.
type Match struct {
	// Source fits the source's name.
	Source []string `mapstructure:"source"`
	// Kind fits the kind, as in kubernetes/*.
	Kind []string `mapstructure:"kind"`
	// Resource fits the resource, as in shop/*.
	Resource []string `mapstructure:"resource"`
	// Namespace fits the namespace.
	Namespace []string `mapstructure:"namespace"`
	// Declaration fits the declaration's name.
	Declaration []string `mapstructure:"declaration"`
	// Verdict is one of the verdicts, in full.
	Verdict []string `mapstructure:"verdict"`
	// Severity is one of critical, high, medium, low or info.
	Severity []string `mapstructure:"severity"`
	// Owner fits whom the owners' rules name; it stands in routes only.
	Owner []string `mapstructure:"owner"`
	// Label fits labels of the object by name, tags too.
	Label map[string]string `mapstructure:"label"`
}

// An OwnerRule names who answers for what it fits.
type OwnerRule struct {
	// Match says for which findings.
	Match Match `mapstructure:"match"`
	// Owner is who answers for them, in words that people know.
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
	// Receivers are the places where people are told. They have distinct names.
	Receivers []Receiver `mapstructure:"receivers"`
	// Routes are tried in order. Without any, every receiver is told of
	// everything but what is for information.
	Routes []Route `mapstructure:"routes"`
}

// A Receiver is one place where people are told. Its Settings belong to its
// type.
type Receiver struct {
	// Name is yours to choose, of letters, digits, dots, dashes and underscores.
	// What was told is kept by it.
	Name string `mapstructure:"name"`
	// Type is the kind of place: alertmanager, shoutrrr, slack or webhook.
	Type string `mapstructure:"type"`
	// Rate bounds how many messages it gets.
	Rate Rate `mapstructure:"rate"`
	// QuietHours are when it is told only of what is as bad as its exceptions
	// say.
	QuietHours QuietHours `mapstructure:"quiet_hours"`
	// Digest is the time of day of a daily summary, "09:00"; without it there is
	// none.
	Digest string `mapstructure:"digest"`
	// Timezone is that of quiet hours and digest, as in "Europe/Berlin"; without
	// it, the machine's.
	Timezone string `mapstructure:"timezone"`
	// Settings belong to the type; see its section below.
	Settings `mapstructure:"settings"`
}

// Rate bounds how many messages a receiver gets.
type Rate struct {
	// Messages is how many there may be within that time, and then one that says
	// how many more; 0 is no bound.
	Messages int `mapstructure:"messages"`
	// Per is the time in which they are counted.
	Per time.Duration `mapstructure:"per"`
}

// QuietHours are a part of the day; From and To are times of day, "22:00", and
// the part may go over midnight.
type QuietHours struct {
	// From is the time of day at which they begin, "22:00".
	From string `mapstructure:"from"`
	// To is the time of day at which they end, on the next day where it is
	// earlier.
	To string `mapstructure:"to"`
	// Days are those on which it begins: mon, tue …; without any, all of them.
	Days []string `mapstructure:"days"`
	// Except are severities that are told all the same, with those that are worse.
	Except []string `mapstructure:"except"`
}

// A Route sends the findings that it fits to receivers; the first that fits
// counts, unless it says to continue.
type Route struct {
	// Match says which findings; without it, all.
	Match Match `mapstructure:"match"`
	// Receivers are the names of those that are told.
	Receivers []string `mapstructure:"receivers"`
	// Continue lets the next routes be tried as well.
	Continue bool `mapstructure:"continue"`
	// GroupBy is what findings of one message have in common: cause, source,
	// declaration, kind, namespace, resource, verdict, severity, owner, actor.
	GroupBy []string `mapstructure:"group_by"`
	// Repeat is how long after the last word on open findings they are called to
	// mind; 0 means never.
	Repeat *time.Duration `mapstructure:"repeat"`
}

// DefaultRepeat is the Repeat of a route that says nothing of it, so that none
// is nil.
const DefaultRepeat = moment.Day

// A Trigger lets another system ask for a scan, with a signed request.
type Trigger struct {
	// Name is yours to choose: requests go to /hooks/NAME.
	Name string `mapstructure:"name"`
	// Type says how requests are signed: github, gitlab, gitea, forgejo, netbox
	// or standard.
	Type string `mapstructure:"type"`
	// SecretFile holds the secret that both sides know. It is read at each
	// request.
	SecretFile string `mapstructure:"secret_file" path:"true"`
	// Sources are the names of those that are read then; without sources and
	// declarations, everything is.
	Sources []string `mapstructure:"sources"`
	// Declarations are the names of those that are read then.
	Declarations []string `mapstructure:"declarations"`
	// MinInterval is the least time between two scans that it makes.
	MinInterval time.Duration `mapstructure:"min_interval"`
}
