package proxmox

import (
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// A foreignField is a field of one kind that Proxmox VE stores with the objects of another
// kind. If the account cannot see all of those, the answer lacks the field, with status 200.
// The field is changed by a request for the other kind.
type foreignField struct {
	// kind is the kind that has the field. field is "" for any field.
	kind, field string
	// of is the kind that stores the field: needs(of) are the privileges to see it.
	of string
}

func foreignFields() []foreignField {
	return []foreignField{
		// PVE/API2/Cluster.pm leaves the pool out of a row if the account lacks Pool.Audit on the
		// pool.
		{normalize.QEMU, "pool", normalize.Pool}, {normalize.LXC, "pool", normalize.Pool},
		// The collector adds these fields from /access/acl.
		{normalize.User, "acl", normalize.ACL}, {normalize.Group, "acl", normalize.ACL},
		// Without Sys.Audit on /, the answer has only the console and the style of tags.
		{normalize.ClusterOptions, "", normalize.ClusterOptions},
	}
}

// hiddenFieldReason returns why objects of a kind may lack a field, or "".
func (sc *scan) hiddenFieldReason(f foreignField) string {
	reason := sc.hiddenReason(f.of)
	if reason == "" && f.of == normalize.ACL {
		reason = sc.aclError
	}
	switch {
	case reason == "":
		return ""
	case f.field == "":
		return "some fields are hidden: " + reason
	}
	return "its " + f.field + " is hidden: " + reason
}

// unreadFields returns the fields that objects may lack, by kind.
func (sc *scan) unreadFields() map[string][]model.UnreadField {
	all := map[string][]model.UnreadField{}
	for _, f := range foreignFields() {
		if reason := sc.hiddenFieldReason(f); reason != "" {
			all[f.kind] = append(all[f.kind], model.UnreadField{Name: f.field, Reason: reason})
		}
	}
	return all
}

// loggedElsewhere returns model.Kind.LoggedElsewhere of a kind.
func (sc *scan) loggedElsewhere(kind string) map[string]string {
	fields := map[string]string{}
	for _, f := range foreignFields() {
		if f.kind == kind && f.of != kind {
			fields[f.field] = sc.writerUnknown(f.of)
		}
	}
	return fields
}
