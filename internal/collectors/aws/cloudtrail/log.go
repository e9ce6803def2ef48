package cloudtrail

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Log is what is known of the changes in an account.
type Log struct {
	// Events are sorted by kind, ID and time.
	Events []model.AuditEvent

	home    string
	regions map[string][]*part
}

// A part is one of the places with the events of a region, and how far it was read.
type part struct {
	// of names the place. "%s" stands for regions.
	of string
	// unread is why it could not be read; "" if it was.
	unread string
	since  time.Time
	// left are the events that were not read yet.
	left string
}

// add adds what is known of a region.
func (l *Log) add(region string, p *part) { l.regions[region] = append(l.regions[region], p) }

// Unread returns which logs could not be read, and what to do; "" if all were.
func (l *Log) Unread() string {
	regions := map[[2]string][]string{}
	for region, parts := range l.regions {
		for _, p := range parts {
			if p.unread != "" {
				cause := [2]string{p.of, p.unread}
				regions[cause] = append(regions[cause], region)
			}
		}
	}
	var all []string
	for cause, in := range regions {
		slices.Sort(in)
		all = append(all, unread(cause[0], cause[1], in...))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func unread(of, reason string, regions ...string) string {
	return fmt.Sprintf(of, strings.Join(regions, ", ")) + " could not be read: " + reason
}

// Unknown returns why the actor of a change in a region may be unknown. "" or "global" is
// the region of global services.
func (l *Log) Unknown(region string) string {
	if region == "" || region == "global" {
		region = l.home
	}
	parts, ok := l.regions[region]
	if !ok {
		return "CloudTrail's log in " + region + " is not read: add the region to regions"
	}
	var read, rest []string
	for _, p := range parts {
		if p.unread != "" {
			rest = append(rest, unread(p.of, p.unread, region))
			continue
		}
		read = append(read, fmt.Sprintf(p.of, region)+" since "+p.since.UTC().Format("2006-01-02 15:04 UTC"))
		if p.left != "" {
			rest = append(rest, p.left)
		}
	}
	if len(read) > 0 {
		verb := " has"
		if len(read) > 1 {
			verb = " have"
		}
		rest = slices.Insert(rest, 0, strings.Join(read, " and ")+verb+" no event whose effect on it is known; events are up to 15 minutes late")
	}
	return strings.Join(rest, "; ")
}
