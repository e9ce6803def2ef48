package config

import (
	"time"

	"github.com/driftd/driftd/internal/timeparse"
)

// Match selects findings: all given lists must match, and a list matches if one of its items
// does. All items except verdicts and severities are glob patterns.
type Match struct {
	// Source matches the source's name.
	Source []string `mapstructure:"source"`
	// Kind matches the kind, as in kubernetes/*.
	Kind []string `mapstructure:"kind"`
	// Resource matches the resource, as in shop/*.
	Resource []string `mapstructure:"resource"`
	// Namespace matches the namespace.
	Namespace []string `mapstructure:"namespace"`
	// Declaration matches the name of the declaration.
	Declaration []string `mapstructure:"declaration"`
	// Verdict is the full name of a verdict.
	Verdict []string `mapstructure:"verdict"`
	// Severity is one of critical, high, medium, low or info.
	Severity []string `mapstructure:"severity"`
	// Owner matches the owner that the owner rules set; it is valid in routes only.
	Owner []string `mapstructure:"owner"`
	// Label matches the object's labels and tags by name.
	Label map[string]string `mapstructure:"label"`
}

// An OwnerRule sets the owner of the findings that it matches.
type OwnerRule struct {
	// Match selects the findings.
	Match Match `mapstructure:"match"`
	// Owner is the person or team responsible.
	Owner string `mapstructure:"owner"`
}

// Notify configures notifications.
type Notify struct {
	// URL is the public URL of driftd's pages; "" means that messages have no links.
	URL string `mapstructure:"url"`
	// UncheckedAfter is the time after which an unchecked finding causes a notification.
	UncheckedAfter time.Duration `mapstructure:"unchecked_after"`
	// GroupWindow is the time after a message during which further findings are added to it.
	GroupWindow time.Duration `mapstructure:"group_window"`
	// Receivers are the places to which messages are sent. They have distinct names.
	Receivers []Receiver `mapstructure:"receivers"`
	// Routes are tried in order. Without any, every receiver gets all findings except those of
	// severity info.
	Routes []Route `mapstructure:"routes"`
}

// A Receiver is a destination of messages. Its Settings depend on its type.
type Receiver struct {
	// Name identifies the receiver. It consists of letters, digits, dots, dashes and underscores. Sent
	// messages are stored under it.
	Name string `mapstructure:"name"`
	// Type is the protocol: alertmanager, netbox, shoutrrr, slack or webhook.
	Type string `mapstructure:"type"`
	// Rate limits the number of messages.
	Rate Rate `mapstructure:"rate"`
	// QuietHours is a part of the day in which only findings of the severities in its
	// exceptions are sent.
	QuietHours QuietHours `mapstructure:"quiet_hours"`
	// Digest is the time of day of a daily summary, "09:00". By default, there is none.
	Digest string `mapstructure:"digest"`
	// Timezone is the time zone of quiet hours and digest, as in "Europe/Berlin". The default is that of
	// the machine.
	Timezone string `mapstructure:"timezone"`
	// Settings depend on the type; see its section below.
	Settings `mapstructure:"settings"`
}

// Rate limits the number of messages to a receiver.
type Rate struct {
	// Messages is the maximum number of messages within the period; one additional message reports how many
	// were held back. 0 means no limit.
	Messages int `mapstructure:"messages"`
	// Per is the period.
	Per time.Duration `mapstructure:"per"`
}

// QuietHours is a part of the day. From and To are times of day, "22:00". It may include midnight.
type QuietHours struct {
	// From is the time of day at which it begins, "22:00".
	From string `mapstructure:"from"`
	// To is the time of day at which it ends. If it is earlier than From, the quiet hours end on the next
	// day.
	To string `mapstructure:"to"`
	// Days are the days on which it begins: mon, tue …; the default is every day.
	Days []string `mapstructure:"days"`
	// Except are severities that are sent during quiet hours; more severe findings are sent
	// too.
	Except []string `mapstructure:"except"`
}

// A Route sends the findings that it matches to receivers. The first route that matches applies. If it sets
// continue, the following routes are tried, too.
type Route struct {
	// Match selects the findings. The default is all findings.
	Match Match `mapstructure:"match"`
	// Receivers are the names of the receivers.
	Receivers []string `mapstructure:"receivers"`
	// Continue makes driftd try the following routes, too.
	Continue bool `mapstructure:"continue"`
	// GroupBy lists the properties by which findings are grouped into messages: cause, source,
	// declaration, kind, namespace, resource, verdict, severity, owner, actor.
	GroupBy []string `mapstructure:"group_by"`
	// Repeat is the time between the last message about open findings and a reminder; 0 means no reminders.
	Repeat *time.Duration `mapstructure:"repeat"`
}

// DefaultRepeat is the default of Route.Repeat. Load sets it, so that Repeat is never nil.
const DefaultRepeat = timeparse.Day

// A Trigger is a webhook that starts a scan. Its requests are signed.
type Trigger struct {
	// Name is part of the path: requests go to /hooks/NAME.
	Name string `mapstructure:"name"`
	// Type is the signature scheme: github, gitlab, gitea, forgejo, netbox or standard.
	Type string `mapstructure:"type"`
	// SecretFile is a file with the shared secret. It is read for each request.
	SecretFile string `mapstructure:"secret_file" path:"true"`
	// Sources are the names of the sources to scan. If both sources and declarations are empty, everything
	// is scanned.
	Sources []string `mapstructure:"sources"`
	// Declarations are the names of the declarations to read.
	Declarations []string `mapstructure:"declarations"`
	// MinInterval is the minimum time between two scans that the trigger starts.
	MinInterval time.Duration `mapstructure:"min_interval"`
}
