package normalize

import (
	"cmp"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// An Estate is all that one look read of a cloud.
type Estate struct {
	// Project is the id of the token's project, User that of its user, whose
	// keypairs were read.
	Project, User string
	// AllProjects tells that the objects of every project were asked for. Without
	// it the project's own were, and what a service gives beside them is others'.
	AllProjects bool
	// Admin tells that the token has the role admin.
	Admin bool
	// Taken is when the look began.
	Taken time.Time
	// Objects are what the lists hold, by kind name. A kind that could not be read
	// has no entry.
	Objects map[string][]Object
}

// Resources returns the objects with what other lists tell of them, and those
// that cannot be compared now; both are sorted, whatever order the objects are
// in. Servers whose ports were not read cannot be compared: what they are
// plugged into is not known.
func (e *Estate) Resources(source string) ([]model.Resource, []model.Unread) {
	j := newJoiner(e)
	var resources []model.Resource
	var unread []model.Unread
	for kind, objects := range e.Objects {
		for i := range objects {
			o := &objects[i]
			r := model.Resource{Key: model.Key{Source: source, Kind: kind, ID: o.ID}, Place: e.place(kind, o), Name: o.Name,
				Value: o.Value, Identities: j.identities(kind, o), Created: o.Created, Updated: o.Updated}
			reason := cmp.Or(o.Busy, j.join(&r, o))
			if reason != "" {
				unread = append(unread, model.Unread{Ref: model.Ref{Kind: kind, ID: o.ID}, Identities: r.Identities, Reason: reason,
					Place: r.Place, Name: cmp.Or(r.Name, r.ID), Parent: r.Parent, SystemOwned: cmp.Or(r.SystemOwned, e.settling(o))})
				continue
			}
			r.UnreadFields = append(r.UnreadFields, e.hidden(o)...)
			r.Name = cmp.Or(r.Name, r.ID)
			resources = append(resources, r)
		}
	}
	slices.SortFunc(resources, func(a, b model.Resource) int { return a.Compare(b.Key) })
	slices.SortFunc(unread, func(a, b model.Unread) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return resources, unread
}

// settleTime is how long an object may be built, attached or saved before it is one that
// nobody finishes.
const settleTime = time.Hour

// settling says that a declaration of the object may yet come, since it changed just
// now, or "".
func (e *Estate) settling(o *Object) string {
	last := o.Updated
	if last.Before(o.Created) {
		last = o.Created
	}
	if last.IsZero() || e.Taken.Sub(last) > settleTime {
		return ""
	}
	return "it changes right now"
}

// hidden are the fields of an object that an administrator may see, and the token does
// not. What an administrator does not see either, the cloud does not have.
func (e *Estate) hidden(o *Object) []model.UnreadField {
	if e.Admin {
		return nil
	}
	fields := make([]model.UnreadField, len(o.Hidden))
	for i, name := range o.Hidden {
		fields[i] = model.UnreadField{Name: name, Reason: "its " + name + " is not shown to the token: the service's policy wants the role admin for it, " +
			"or lets another role read it"}
	}
	return fields
}

// place is whose the object is. Neutron says that of every object, though some
// are nobody's; other rows may not say it.
func (e *Estate) place(kind string, o *Object) string {
	switch {
	case o.Place == "" && kind == Keypair:
		return e.User
	case o.Place == "" && !e.AllProjects && (kind == Volume || kind == ServerGroup):
		return e.Project
	}
	return o.Place
}

// A joiner knows what the lists of an estate tell of each other's objects.
type joiner struct {
	estate *Estate
	// byID are the objects by their kinds and ids.
	byID map[model.Ref]*Object
	// plugged are the ports by the ids of the devices that they belong to, in the
	// order in which they were made.
	plugged map[string][]*Object
	// grouped are the ids of the server groups by those of their members.
	grouped map[string][]string
	// opening are the rules that open a security group to anybody, by its id.
	opening          map[string][]*Object
	routerInterfaces []string
}

func newJoiner(e *Estate) *joiner {
	j := &joiner{estate: e, byID: map[model.Ref]*Object{}, plugged: map[string][]*Object{}, grouped: map[string][]string{}, opening: map[string][]*Object{},
		routerInterfaces: routerInterfaces()}
	for kind, objects := range e.Objects {
		for i := range objects {
			j.byID[model.Ref{Kind: kind, ID: objects[i].ID}] = &objects[i]
		}
	}
	for i := range e.Objects[Port] {
		port := &e.Objects[Port][i]
		if device := port.Value.At("device_id").Str(); device != "" {
			j.plugged[device] = append(j.plugged[device], port)
		}
	}
	for _, ports := range j.plugged {
		slices.SortFunc(ports, func(a, b *Object) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	}
	for i := range e.Objects[ServerGroup] {
		for _, server := range e.Objects[ServerGroup][i].members {
			j.grouped[server] = append(j.grouped[server], e.Objects[ServerGroup][i].ID)
		}
	}
	for i := range e.Objects[SecurityGroupRule] {
		if rule := &e.Objects[SecurityGroupRule][i]; opensToAnybody(rule.Value) {
			group := rule.Value.At("security_group_id").Str()
			j.opening[group] = append(j.opening[group], rule)
		}
	}
	return j
}

// join adds to a resource what other lists tell of it. It returns why the
// resource cannot be compared now, or "".
func (j *joiner) join(r *model.Resource, o *Object) string {
	r.SystemOwned = j.foreign(r)
	switch r.Kind {
	case Server:
		return j.server(r)
	case Volume:
		j.volume(r)
	case Port:
		j.port(r)
	case SecurityGroup:
		j.group(r)
	case SecurityGroupRule:
		return j.rule(r, o)
	}
	return ""
}

// foreign says whose a resource is that is not the project's own, or "".
func (j *joiner) foreign(r *model.Resource) string {
	switch e := j.estate; {
	case e.AllProjects || r.Kind == Keypair:
	case r.Kind == Flavor:
		return "it belongs to no project"
	case r.Place != "" && r.Place != e.Project:
		return "of project " + r.Place
	}
	return ""
}

// find returns the object of this kind and id, or nil.
func (j *joiner) find(kind, id string) *Object { return j.byID[model.Ref{Kind: kind, ID: id}] }

// named returns what an object is called; its id where it was not read or has
// no name.
func (j *joiner) named(kind, id string) string {
	if o := j.find(kind, id); o != nil {
		return cmp.Or(o.Name, id)
	}
	return id
}

// wasRead tells whether the list of a kind was read.
func (j *joiner) wasRead(kind string) bool {
	_, ok := j.estate.Objects[kind]
	return ok
}
