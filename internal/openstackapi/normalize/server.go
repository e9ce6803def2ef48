package normalize

import (
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// server adds the names of a server's flavor and image, its groups and its interfaces.
func (j *joiner) server(r *model.Resource) string {
	if !j.wasRead(Port) {
		return "its interfaces are not known, because " + Port + " was not read"
	}
	j.addReferenced(r, "flavor", Flavor, "name", "vcpus", "ram", "disk")
	j.addReferenced(r, "image", Image, "name")
	switch groups := j.groupsByServer[r.ID]; {
	case !j.wasRead(ServerGroup):
		r.UnreadFields = append(r.UnreadFields, model.UnreadField{Name: "server_groups", Reason: "its server_groups is not known: " + ServerGroup + " was not read"})
	case len(groups) > 0:
		r.Value = r.Value.With("server_groups", sortedTexts(groups))
	}
	if ports := j.portsByDevice[r.ID]; len(ports) > 0 {
		r.Value = r.Value.With("interfaces", interfaces(ports))
	}
	return ""
}

// identities returns the identities of an object. Inventories identify a server by its id, its
// MAC addresses and its name, which is not unique.
func (j *joiner) identities(kind string, o *Object) []model.Identity {
	if kind != Server {
		return o.Identities
	}
	known := []model.Identity{{By: "uuid", Value: o.ID}}
	for _, port := range j.portsByDevice[o.ID] {
		if mac := port.Value.At("mac_address").Str(); mac != "" {
			known = append(known, model.Identity{By: "mac", Value: strings.ToUpper(mac)})
		}
	}
	if o.Name != "" {
		known = append(known, model.Identity{By: "name", Value: strings.ToLower(o.Name)})
	}
	return known
}

// addReferenced adds fields of the object that a field of the resource refers to. If that
// object was deleted, the resource keeps the reference only.
func (j *joiner) addReferenced(r *model.Resource, field, kind string, names ...string) {
	o := j.find(kind, r.Value.At(field).Str())
	if o == nil {
		return
	}
	for _, name := range names {
		if v, ok := o.Value.Get(name); ok {
			r.Value = r.Value.With(field+"_"+name, v)
		}
	}
}

// interfaces returns the values of a server's ports as its interfaces.
func interfaces(ports []*Object) model.Value {
	items := make([]model.Value, len(ports))
	for i, port := range ports {
		fields := []model.Field{{Name: "port", Value: model.StringOf(port.ID)}}
		for _, f := range []struct{ from, name string }{{"network_id", "network"}, {"mac_address", "mac"}, {"fixed_ips", "fixed_ips"}} {
			if value, ok := port.Value.Get(f.from); ok {
				fields = append(fields, model.Field{Name: f.name, Value: value})
			}
		}
		items[i] = model.MapOf(fields...)
	}
	return model.ListOf(items...)
}

// sortedTexts returns a sorted list of the texts without duplicates.
func sortedTexts(texts []string) model.Value {
	texts = slices.Clone(texts)
	slices.Sort(texts)
	texts = slices.Compact(texts)
	items := make([]model.Value, len(texts))
	for i, text := range texts {
		items[i] = model.StringOf(text)
	}
	return model.ListOf(items...)
}

// bootTime is the maximum time in which Nova creates the volumes of a new server.
const bootTime = time.Hour

// volume sets the owner of volumes that Nova creates with a server. It gives them no name, or a
// generated one; a user's volume has another name.
func (j *joiner) volume(r *model.Resource) {
	for _, attachment := range r.Value.At("attachments").Items() {
		id := attachment.At("server_id").Str()
		server := j.find(Server, id)
		if r.Name == "" && id != "" && (!j.wasRead(Server) || server != nil && server.Created.IsZero()) {
			r.SystemOwned = "may be made with server " + id + ", which could not be read"
			continue
		}
		if server == nil || r.Name != "" && r.Name != server.ID+"-blank-vol" {
			continue
		}
		if age := r.Created.Sub(server.Created); age >= 0 && age <= bootTime {
			r.SystemOwned = "made with server " + j.nameOf(Server, server.ID)
		}
	}
}
