package normalize

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// A Normalizer converts the rows of one cloud into their canonical form. It keeps repeated
// texts once, and is not safe for concurrent use.
type Normalizer struct {
	context table.Context
	// fields collects the fields of one object at a time.
	fields []model.Field
}

// New returns a Normalizer.
func New() *Normalizer {
	return &Normalizer{context: table.Context{Plain: plain, Texts: table.Texts{}}}
}

// An Object is one row of a list in its canonical form.
type Object struct {
	// ID is the id of OpenStack, or the name of a keypair.
	ID string
	// Name is the display name, or "".
	Name string
	// Place is the id of its project; "" if the row has none. Rows of keypairs never have one.
	Place string
	// User is the id of the user who created it; "" if the row has none.
	User  string
	Value model.Value
	// Identities are its identities, without those that Estate.Resources adds.
	Identities []model.Identity
	// Created is when it was created, and Updated when it last changed, by the service's clock;
	// zero if the row does not have the time.
	Created, Updated time.Time
	// Busy is why it cannot be compared now; "" if it can.
	Busy string
	// Hidden are the names of the fields that the row lacks, and that the service returns to
	// administrators only.
	Hidden []string

	// members are the ids of the servers of a server group.
	members []string
}

// Object reads a row of the kind's list. A row without an id is an error.
func (s *Normalizer) Object(k *Kind, row model.Value) (Object, error) {
	if k.prepare != nil {
		row = k.prepare(row)
	}
	o := Object{ID: row.At(k.key()).Str(), Busy: k.busyReason(row)}
	if o.ID == "" {
		return Object{}, errors.New("a row has no " + k.key())
	}
	s.fields = k.fields.Read(&s.context, row, s.fields[:0])
	o.Value = model.MapOf(slices.Clone(s.fields)...)
	o.Hidden = k.hidden(row)
	o.Name = cmp.Or(o.Value.At("name").Text(), o.Value.At("floating_ip_address").Text())
	if address := o.Value.At("floating_ip_address").Str(); address != "" {
		o.Identities = []model.Identity{{By: "address", Value: address}}
	}
	if k.Belongs == ToProject {
		o.Place = s.context.Texts.Keep(firstText(row, "project_id", "tenant_id", "owner", "os-vol-tenant-attr:tenant_id"))
	}
	o.User = s.context.Texts.Keep(row.At("user_id").Str())
	o.Created, o.Updated = timeOf(firstText(row, "created_at", "created")), timeOf(firstText(row, "updated_at", "updated"))
	for _, member := range row.At("members").Items() {
		o.members = append(o.members, member.Str())
	}
	return o, nil
}

// key returns the field of a row that identifies the object.
func (k *Kind) key() string {
	if k.Belongs == ToUser {
		return "name"
	}
	return "id"
}

// busyReason returns why an object cannot be compared now, or "".
func (k *Kind) busyReason(row model.Value) string {
	for _, b := range k.busy {
		if state := row.At(b.field).Str(); state != "" && slices.Contains(strings.Fields(b.states), state) {
			return fmt.Sprintf("it cannot be compared while its %s is %s: the next scan tries again", snake(b.field), state)
		}
	}
	return ""
}

// hidden returns the names of the administrators' fields that the row lacks.
func (k *Kind) hidden(row model.Value) []string {
	var names []string
	for i := range k.fields {
		f := &k.fields[i]
		if _, shown := row.Get(f.Raw); !shown && slices.Contains(k.admin, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

func firstText(row model.Value, names ...string) string {
	for _, name := range names {
		if text := row.At(name).Str(); text != "" {
			return text
		}
	}
	return ""
}

// timeOf parses a time in UTC; Cinder leaves out the zone. It returns zero for an invalid text.
func timeOf(text string) time.Time {
	return decode.Time(text, time.RFC3339, "2006-01-02T15:04:05")
}
