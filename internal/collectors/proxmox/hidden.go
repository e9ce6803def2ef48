package proxmox

import (
	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/model"
)

// A foreignField is a field of one kind that Proxmox VE keeps with the objects of
// another. Who may not see all of those gets the object without the field and with
// 200, and who changed the field did it by a request for the other kind.
type foreignField struct {
	// kind has the field; "" stands for every field that an answer may leave out.
	kind, field string
	// of is the kind of which the field is a part: needs(of) is what it takes to see
	// it.
	of string
}

func foreignFields() []foreignField {
	return []foreignField{
		// PVE/API2/Cluster.pm leaves the pool out of a row without Pool.Audit on it.
		{normalize.QEMU, "pool", normalize.Pool}, {normalize.LXC, "pool", normalize.Pool},
		// The collector adds them from /access/acl.
		{normalize.User, "acl", normalize.ACL}, {normalize.Group, "acl", normalize.ACL},
		// Without Sys.Audit on / the answer has the console and the tags' style alone.
		{normalize.ClusterOptions, "", normalize.ClusterOptions},
	}
}

// hidden returns why objects of a kind may have been read without a field, or "".
func (l *look) hidden(f foreignField) string {
	reason := l.unseen(f.of)
	if reason == "" && f.of == normalize.ACL {
		reason = l.ruleFault
	}
	switch {
	case reason == "":
		return ""
	case f.field == "":
		return "not all fields are shown: " + reason
	}
	return "its " + f.field + " is not known: " + reason
}

// unreadFields are the fields without which objects may have been read, by kind.
func (l *look) unreadFields() map[string][]model.UnreadField {
	all := map[string][]model.UnreadField{}
	for _, f := range foreignFields() {
		if reason := l.hidden(f); reason != "" {
			all[f.kind] = append(all[f.kind], model.UnreadField{Name: f.field, Reason: reason})
		}
	}
	return all
}

// elsewhere returns model.Kind.Elsewhere of a kind.
func (l *look) elsewhere(kind string) map[string]string {
	fields := map[string]string{}
	for _, f := range foreignFields() {
		if f.kind == kind && f.of != kind {
			fields[f.field] = l.unsigned(f.of)
		}
	}
	return fields
}
