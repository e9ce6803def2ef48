package bus

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// Via is what an Actor comes through that a notification names.
const Via = "OpenStack notification"

// maxNotice bounds a notification, in bytes.
const maxNotice = 8 << 20

// errBroken says nothing of what is broken: it may hold secrets.
var errBroken = errors.New("not a notification of oslo.messaging")

// A notice is one notification, while it is being read.
type notice struct {
	event, id string
	at        time.Time
	// userID and user are who asked for it, request is what they asked, and origin
	// what they were asked.
	userID, user, request, origin string
	payload                       model.Value
}

// A Decoder reads notifications.
type Decoder struct{ readers map[string]reader }

// A reader tells what a notice says was done. What it returns needs no more than
// Ref, Deed, Fields, Broad, Began and Owner.
type reader func(n *notice) []Act

// NewDecoder returns a Decoder, which is safe for concurrent use.
func NewDecoder() *Decoder {
	d := &Decoder{map[string]reader{}}
	for _, table := range []map[string]reader{networking(), computing(), storing(), auditing()} {
		for event, read := range table {
			d.readers[event] = read
		}
	}
	return d
}

// Decode reads one message and returns what it says was done to objects that
// driftd reads: nothing where it names no user, as what a service does by itself.
// Begun tells that it speaks of a request that may yet fail.
func (d *Decoder) Decode(message []byte) (acts []Act, begun bool, err error) {
	n, err := parse(message)
	if err != nil {
		return nil, false, err
	}
	read := d.readers[strings.TrimPrefix(n.event, "compute.")]
	if read == nil {
		return nil, false, nil
	}
	acts = read(n)
	if n.userID == "" && n.user == "" || n.at.IsZero() {
		return nil, false, nil
	}
	kept := acts[:0]
	for _, a := range acts {
		a.At, a.UserID, a.User, a.Request, a.Origin, a.Via, a.Evidence = n.at, n.userID, n.user, n.request, n.origin, Via, n.evidence()
		a.bound()
		if a.Kind != "" && (a.ID != "" || !a.Began.IsZero()) && len(a.ID) <= maxID {
			kept = append(kept, a)
		}
	}
	return kept, strings.HasSuffix(n.event, ".start"), nil
}

// Bounds of what is kept of an act: bytes of the object's id and of a field's path,
// and fields.
const (
	maxID     = 512
	maxFields = 64
)

// bound lets an act that names more fields than any object has, or longer ones,
// name none: it may have touched any.
func (a *Act) bound() {
	long := func(path string) bool { return len(path) > maxID }
	if len(a.Fields) > maxFields || slices.ContainsFunc(a.Fields, long) {
		a.Fields = nil
	}
}

func (n *notice) evidence() string { return strings.TrimSpace(n.event + " " + n.id) }

// parse reads a notification, in its envelope or without one.
// https://docs.openstack.org/oslo.messaging/latest/reference/serializer.html
func parse(message []byte) (*notice, error) {
	if len(message) > maxNotice {
		return nil, errBroken
	}
	v, err := decode.JSON(message)
	if err != nil {
		return nil, errBroken
	}
	if inner, ok := v.Get("oslo.message"); ok {
		if v, err = decode.JSON([]byte(inner.Str())); err != nil {
			return nil, errBroken
		}
	}
	n := &notice{event: v.At("event_type").Str(), id: httpclient.Printable(v.At("message_id").Str()), at: timeOf(v.At("timestamp").Str()), payload: v.At("payload")}
	if n.event == "" {
		return nil, errBroken
	}
	context := func(name string) string { return httpclient.Printable(v.At("_context_" + name).Str()) }
	n.userID, n.user = cmp.Or(context("user_id"), context("user")), context("user_name")
	n.request, n.origin = context("request_id"), context("global_request_id")
	// Nova's versioned notifications wrap each object.
	if data, ok := n.payload.Get("nova_object.data"); ok {
		n.payload = data
		n.userID = cmp.Or(n.userID, httpclient.Printable(data.At("action_initiator_user").Str()))
		n.request = cmp.Or(n.request, httpclient.Printable(data.At("request_id").Str()))
	}
	return n, nil
}

// timeOf reads the times of notifications, which are in UTC; zero where it is
// none.
func timeOf(text string) time.Time {
	return decode.Time(text, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700")
}
