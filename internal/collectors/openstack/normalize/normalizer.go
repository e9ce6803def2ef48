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

// A Normalizer makes the rows of one cloud canonical. It is for one goroutine: it
// keeps texts that repeat from row to row once.
type Normalizer struct {
	context table.Context
	// fields collects what an object has, for one object at a time.
	fields []model.Field
}

// New returns a Normalizer.
func New() *Normalizer {
	return &Normalizer{context: table.Context{Plain: plain, Texts: table.Texts{}}}
}

// An Object is one row of a list in its canonical form.
type Object struct {
	// ID is OpenStack's; of a keypair its name.
	ID string
	// Name is what people call it, or "".
	Name string
	// Place is the id of the project that it belongs to; "" where the row does not
	// say, and of a keypair, whose rows never do.
	Place string
	// User is the id of the user who made it; "" where the row does not say.
	User  string
	Value model.Value
	// Identities are what else it is known by, beside what Estate.Resources adds.
	Identities []model.Identity
	// Created is when it came to be, Updated when it last changed, as the service
	// counts; zero where the row does not say.
	Created, Updated time.Time
	// Busy says why it cannot be compared now; "" when it can.
	Busy string
	// Hidden are the names of the fields of which the row has no key, and that the
	// service shows to administrators alone.
	Hidden []string

	// members are the servers of a server group.
	members []string
}

// Object reads a row of the kind's list. A row without an id is an error.
func (s *Normalizer) Object(k *Kind, row model.Value) (Object, error) {
	if k.prepare != nil {
		row = k.prepare(row)
	}
	o := Object{ID: row.At(k.key()).Str(), Busy: k.busyness(row)}
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

// key is the field of a row that tells objects apart.
func (k *Kind) key() string {
	if k.Belongs == ToUser {
		return "name"
	}
	return "id"
}

// busyness says why an object cannot be compared now, or "".
func (k *Kind) busyness(row model.Value) string {
	for _, b := range k.busy {
		if state := row.At(b.field).Str(); state != "" && slices.Contains(strings.Fields(b.states), state) {
			return fmt.Sprintf("it cannot be compared while its %s is %s: the next look tries again", snake(b.field), state)
		}
	}
	return ""
}

// hidden returns the names of the administrators' fields of which the row has no key.
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

// timeOf reads a time in UTC; Cinder leaves the zone out. What is none is zero.
func timeOf(text string) time.Time {
	return decode.Time(text, time.RFC3339, "2006-01-02T15:04:05")
}
