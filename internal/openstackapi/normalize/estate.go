package normalize

import (
	"cmp"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// An Estate is the content of a cloud that one scan read.
type Estate struct {
	// Project is the id of the token's project, and User that of its user, whose keypairs were
	// read.
	Project, User string
	// AllProjects reports whether the objects of every project were requested. Otherwise those
	// of the project were, and other objects in the lists belong to other projects.
	AllProjects bool
	// Admin reports whether the token has the role admin.
	Admin bool
	// Taken is when the scan began.
	Taken time.Time
	// Objects are the objects of the lists, by kind name. A kind that could not be read has no
	// entry.
	Objects map[string][]Object
}

// Resources returns the objects joined with those of other lists, and the objects that cannot
// be compared now. Both are sorted, independently of the order of the objects. Servers whose
// ports were not read cannot be compared: their interfaces are not known.
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
					Place: r.Place, Name: cmp.Or(r.Name, r.ID), Parent: r.Parent, SystemOwned: cmp.Or(r.SystemOwned, e.changingReason(o))})
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

// settleTime is how long an object may be in a transient state, such as building, before it
// counts as stuck.
const settleTime = time.Hour

// changingReason returns why no declaration of the object is expected yet: it changed a moment
// ago. It returns "" if it did not.
func (e *Estate) changingReason(o *Object) string {
	last := o.Updated
	if last.Before(o.Created) {
		last = o.Created
	}
	if last.IsZero() || e.Taken.Sub(last) > settleTime {
		return ""
	}
	return "it is changing now"
}

// hidden returns the fields of an object that are visible to an administrator only. For an
// administrator it returns none: a field that is missing then does not exist in the cloud.
func (e *Estate) hidden(o *Object) []model.UnreadField {
	if e.Admin {
		return nil
	}
	fields := make([]model.UnreadField, len(o.Hidden))
	for i, name := range o.Hidden {
		fields[i] = model.UnreadField{Name: name, Reason: "the token may not read its " + name + ": the service's policy requires the role admin, " +
			"unless it allows another role"}
	}
	return fields
}

// place returns the project or user that the object belongs to. Neutron returns a project for
// every object, even for those that belong to none; other rows may not have one.
func (e *Estate) place(kind string, o *Object) string {
	switch {
	case o.Place == "" && kind == Keypair:
		return e.User
	case o.Place == "" && !e.AllProjects && (kind == Volume || kind == ServerGroup):
		return e.Project
	}
	return o.Place
}

// A joiner joins the objects of the lists of an estate.
type joiner struct {
	estate *Estate
	// byID are the objects by kind and id.
	byID map[model.Ref]*Object
	// portsByDevice are the ports by the ids of their devices, in the order of their creation.
	portsByDevice map[string][]*Object
	// groupsByServer are the ids of the server groups by the ids of their members.
	groupsByServer map[string][]string
	// openRules are the rules that open a security group to the world, by the group's id.
	openRules        map[string][]*Object
	routerInterfaces []string
}

func newJoiner(e *Estate) *joiner {
	j := &joiner{estate: e, byID: map[model.Ref]*Object{}, portsByDevice: map[string][]*Object{}, groupsByServer: map[string][]string{}, openRules: map[string][]*Object{},
		routerInterfaces: routerInterfaces()}
	for kind, objects := range e.Objects {
		for i := range objects {
			j.byID[model.Ref{Kind: kind, ID: objects[i].ID}] = &objects[i]
		}
	}
	for i := range e.Objects[Port] {
		port := &e.Objects[Port][i]
		if device := port.Value.At("device_id").Str(); device != "" {
			j.portsByDevice[device] = append(j.portsByDevice[device], port)
		}
	}
	for _, ports := range j.portsByDevice {
		slices.SortFunc(ports, func(a, b *Object) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	}
	for i := range e.Objects[ServerGroup] {
		for _, server := range e.Objects[ServerGroup][i].members {
			j.groupsByServer[server] = append(j.groupsByServer[server], e.Objects[ServerGroup][i].ID)
		}
	}
	for i := range e.Objects[SecurityGroupRule] {
		if rule := &e.Objects[SecurityGroupRule][i]; opensToWorld(rule.Value) {
			group := rule.Value.At("security_group_id").Str()
			j.openRules[group] = append(j.openRules[group], rule)
		}
	}
	return j
}

// join adds to a resource the values from other lists. It returns why the resource cannot be
// compared now, or "".
func (j *joiner) join(r *model.Resource, o *Object) string {
	r.SystemOwned = j.foreignOwner(r)
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

// foreignOwner returns the owner of a resource that does not belong to the project, or "".
func (j *joiner) foreignOwner(r *model.Resource) string {
	switch e := j.estate; {
	case e.AllProjects || r.Kind == Keypair:
	case r.Kind == Flavor:
		return "it belongs to no project"
	case r.Place != "" && r.Place != e.Project:
		return "of project " + r.Place
	}
	return ""
}

// find returns the object of the kind with the id, or nil.
func (j *joiner) find(kind, id string) *Object { return j.byID[model.Ref{Kind: kind, ID: id}] }

// nameOf returns the name of an object; its id if it was not read or has no name.
func (j *joiner) nameOf(kind, id string) string {
	if o := j.find(kind, id); o != nil {
		return cmp.Or(o.Name, id)
	}
	return id
}

// wasRead reports whether the list of a kind was read.
func (j *joiner) wasRead(kind string) bool {
	_, ok := j.estate.Objects[kind]
	return ok
}
