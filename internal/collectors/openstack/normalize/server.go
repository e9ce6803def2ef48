package normalize

import (
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// server adds the names of what a server was made from, and what it is plugged
// into.
func (j *joiner) server(r *model.Resource) string {
	if !j.wasRead(Port) {
		return "what it is plugged into is not known, since " + Port + " was not read"
	}
	j.refer(r, "flavor", Flavor, "name", "vcpus", "ram", "disk")
	j.refer(r, "image", Image, "name")
	switch groups := j.grouped[r.ID]; {
	case !j.wasRead(ServerGroup):
		r.UnreadFields = append(r.UnreadFields, model.UnreadField{Name: "server_groups", Reason: "its server_groups is not known: " + ServerGroup + " was not read"})
	case len(groups) > 0:
		r.Value = r.Value.With("server_groups", textsOf(groups))
	}
	if ports := j.plugged[r.ID]; len(ports) > 0 {
		r.Value = r.Value.With("interfaces", interfaces(ports))
	}
	return ""
}

// identities are what else an object is known by. Inventories know a server by
// its id, its MAC addresses and its name, which another one may have.
func (j *joiner) identities(kind string, o *Object) []model.Identity {
	if kind != Server {
		return o.Identities
	}
	known := []model.Identity{{By: "uuid", Value: o.ID}}
	for _, port := range j.plugged[o.ID] {
		if mac := port.Value.At("mac_address").Str(); mac != "" {
			known = append(known, model.Identity{By: "mac", Value: strings.ToUpper(mac)})
		}
	}
	if o.Name != "" {
		known = append(known, model.Identity{By: "name", Value: strings.ToLower(o.Name)})
	}
	return known
}

// refer adds fields of the object that a field of the resource refers to, where it is in
// its list: one that was deleted is not, and the reference itself is compared.
func (j *joiner) refer(r *model.Resource, field, kind string, names ...string) {
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

// interfaces are what ports say of the server that they belong to.
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

// textsOf returns a sorted list of texts, each of them once.
func textsOf(texts []string) model.Value {
	texts = slices.Clone(texts)
	slices.Sort(texts)
	texts = slices.Compact(texts)
	items := make([]model.Value, len(texts))
	for i, text := range texts {
		items[i] = model.StringOf(text)
	}
	return model.ListOf(items...)
}

// bootTime is how long Nova may take to make the volumes of a new server.
const bootTime = time.Hour

// volume tells the volumes that Nova makes with a server from those that
// somebody attaches: it gives them no name, or one of its own making.
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
			r.SystemOwned = "made with server " + j.named(Server, server.ID)
		}
	}
}
