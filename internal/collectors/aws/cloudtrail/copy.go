package cloudtrail

import (
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// maxRead bounds the size of the records that a scan reads from a queue, or from a trail for a
// region, in bytes.
const maxRead = 8 << 20

// late is how long after an event its copy may be made: EventBridge tries to send for a day.
const late = 24 * time.Hour

// A copied decodes events that CloudTrail leaves in a trail or in a queue. Others may be able to
// write there, so that an event of a copy is at most likely, until the event history has it.
type copied struct {
	account    Account
	operations map[operation][]effect
	// from is the setting of the copy, place what the evidence names.
	from, place string
	now         time.Time
}

// decode returns the record of an event of a region that was copied at a time. It returns false for an
// event of another region or account, from after the copy or long before it, without an effect, and
// for one that LookupEvents would not return.
func (c *copied) decode(event model.Value, region string, at time.Time) (record, bool) {
	if category := event.At("eventCategory").Str(); category != "" && category != "Management" || event.At("readOnly").Text() != "false" {
		return record{}, false
	}
	var names []string
	for _, resource := range event.At("resources").Items() {
		arn := resource.At("ARN").Str()
		names = append(names, arn, arn[strings.LastIndexAny(arn, "/:")+1:])
	}
	r, ok := decodeEvent(event, names, c.account, c.operations)
	if !ok || r.Region != region || r.At.After(at.Add(delay)) || r.At.Before(at.Add(-late)) {
		return record{}, false
	}
	r.From, r.Actor = c.from, doubt(r.Actor)
	r.Actor.Evidence = strings.TrimPrefix(r.Actor.Evidence+", as in "+c.place, ", ")
	return r, true
}
