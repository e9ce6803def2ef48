package bus

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// Via is the model.Actor.Via of actors that come from notifications.
const Via = "OpenStack notification"

// maxNotification is the maximum size of a notification, in bytes.
const maxNotification = 8 << 20

// errMalformed does not quote the message, which may contain secrets.
var errMalformed = errors.New("not a notification of oslo.messaging")

// A notification is one decoded notification.
type notification struct {
	event, id string
	at        time.Time
	// userID and user identify the user, request is the id of the request, and origin that of
	// the request to another service that caused it.
	userID, user, request, origin string
	payload                       model.Value
}

// A Decoder decodes notifications. It is safe for concurrent use.
type Decoder struct{ decoders map[string]decodeFunc }

// A decodeFunc returns the changes in a notification. Decode sets the fields other than Ref,
// Action, Fields, Broad, Began and Owner.
type decodeFunc func(n *notification) []Event

// NewDecoder returns a Decoder.
func NewDecoder() *Decoder {
	d := &Decoder{map[string]decodeFunc{}}
	for _, table := range []map[string]decodeFunc{neutronDecoders(), novaDecoders(), cinderDecoders(), auditDecoders()} {
		for event, read := range table {
			d.decoders[event] = read
		}
	}
	return d
}

// Decode decodes one message and returns the changes of objects that driftd reads. It returns none
// if the notification has no user, as for changes by a service itself. pending reports whether the
// request has only started and may still fail.
func (d *Decoder) Decode(message []byte) (events []Event, pending bool, err error) {
	n, err := parse(message)
	if err != nil {
		return nil, false, err
	}
	read := d.decoders[strings.TrimPrefix(n.event, "compute.")]
	if read == nil {
		return nil, false, nil
	}
	events = read(n)
	if n.userID == "" && n.user == "" || n.at.IsZero() {
		return nil, false, nil
	}
	kept := events[:0]
	for _, a := range events {
		a.At, a.UserID, a.User, a.Request, a.Origin, a.Via, a.Evidence = n.at, n.userID, n.user, n.request, n.origin, Via, n.evidence()
		a.limitFields()
		if a.Kind != "" && (a.ID != "" || !a.Began.IsZero()) && len(a.ID) <= maxID {
			kept = append(kept, a)
		}
	}
	return kept, strings.HasSuffix(n.event, ".start"), nil
}

// Limits of an event: the length of the object's id and of a field's path, in bytes, and the
// number of fields.
const (
	maxID     = 512
	maxFields = 64
)

// limitFields removes the fields of an event if they are too many or too long: then any field
// may have changed.
func (a *Event) limitFields() {
	long := func(path string) bool { return len(path) > maxID }
	if len(a.Fields) > maxFields || slices.ContainsFunc(a.Fields, long) {
		a.Fields = nil
	}
}

func (n *notification) evidence() string { return strings.TrimSpace(n.event + " " + n.id) }

// parse parses a notification, with or without its envelope.
// https://docs.openstack.org/oslo.messaging/latest/reference/serializer.html
func parse(message []byte) (*notification, error) {
	if len(message) > maxNotification {
		return nil, errMalformed
	}
	v, err := decode.JSON(message)
	if err != nil {
		return nil, errMalformed
	}
	if inner, ok := v.Get("oslo.message"); ok {
		if v, err = decode.JSON([]byte(inner.Str())); err != nil {
			return nil, errMalformed
		}
	}
	n := &notification{event: v.At("event_type").Str(), id: printable.Text(v.At("message_id").Str()), at: timeOf(v.At("timestamp").Str()), payload: v.At("payload")}
	if n.event == "" {
		return nil, errMalformed
	}
	context := func(name string) string { return printable.Text(v.At("_context_" + name).Str()) }
	n.userID, n.user = cmp.Or(context("user_id"), context("user")), context("user_name")
	n.request, n.origin = context("request_id"), context("global_request_id")
	// Nova's versioned notifications wrap each object.
	if data, ok := n.payload.Get("nova_object.data"); ok {
		n.payload = data
		n.userID = cmp.Or(n.userID, printable.Text(data.At("action_initiator_user").Str()))
		n.request = cmp.Or(n.request, printable.Text(data.At("request_id").Str()))
	}
	return n, nil
}

// timeOf parses the time of a notification, in UTC. It returns zero for an invalid text.
func timeOf(text string) time.Time {
	return decode.Time(text, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700")
}
