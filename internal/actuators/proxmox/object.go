package proxmox

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// An object describes how an object other than a guest or a list of rows is read and written.
type object struct {
	// list is the path of the list that has the objects, and key the field of their names in it. Without a key the path is
	// that of the object itself.
	list, key string
	// writes is the path that a PUT changes an object at, and also what it must have besides.
	writes string
	also   url.Values
	// guarded reports whether Proxmox VE compares a digest, whole whether a request removes the options that it does not have,
	// and empties whether an option is removed by setting it to nothing.
	guarded, whole, empties bool
	// options are the options that are put back.
	options string
	// owner is the path of the object whose privileges count, and privilege the one that is required; "" if it is not
	// known before Proxmox VE refuses a request.
	owner, privilege string
	// person is what needs a person, in words; "" for nothing.
	person string
}

// Changes that need a person.
const (
	personAccess  = "a change of who may do what"
	personCluster = "a change that concerns the whole cluster"
	personStarts  = "a change that starts, stops or moves a guest"
	personDisk    = "a disk that is attached again"
	personSize    = "a disk that is made larger, which cannot be undone"
)

// objectOf returns how the object with a key is read and written; ok is false if driftd does not write to it.
func objectOf(key model.Key) (o object, ok bool) {
	in := func(list string) string { return list + "/" + url.PathEscape(key.ID) }
	switch key.Kind {
	case normalize.Pool:
		return object{list: "/pools", key: "poolid", writes: "/pools", also: url.Values{"poolid": {key.ID}}, empties: true, options: " comment ", owner: "/pool/" + key.ID}, true
	case normalize.Storage:
		return object{list: "/storage", key: "storage", writes: in("/storage"), guarded: true, owner: "/storage/" + key.ID, person: personCluster,
			options: " bwlimit content disable max-protected-backups nodes preallocation prune-backups "}, true
	case normalize.BackupJob:
		return object{list: "/cluster/backup", key: "id", writes: in("/cluster/backup"), owner: onCluster,
			options: " all bwlimit comment compress dow enabled exclude fleecing ionice lockwait mailnotification mailto mode node notes-template performance pigz pool protected prune-backups remove repeat-missed schedule starttime stdexcludes stopwait storage vmid zstd "}, true
	case normalize.HAResource:
		return object{list: "/cluster/ha/resources", key: "sid", writes: in("/cluster/ha/resources"), guarded: true, owner: onCluster, person: personStarts,
			options: " comment failback group max_relocate max_restart state "}, true
	case normalize.ClusterOptions:
		return object{list: "/cluster/options", writes: "/cluster/options", owner: onCluster, person: personCluster,
			options: " bwlimit console crs description email_from ha keyboard language mac_prefix max_workers migration next-id notify "}, true
	case normalize.NodeConfig:
		path := "/nodes/" + url.PathEscape(key.ID) + "/config"
		return object{list: path, writes: path, guarded: true, owner: "/nodes/" + key.ID, options: " description "}, true
	case normalize.User:
		return object{list: "/access/users?full=1", key: "userid", writes: in("/access/users"), empties: true, owner: "/access", person: personAccess,
			options: " comment email enable expire firstname groups lastname "}, true
	case normalize.Group:
		return object{list: "/access/groups", key: "groupid", writes: in("/access/groups"), empties: true, owner: "/access", options: " comment "}, true
	case normalize.Role:
		return object{list: "/access/roles", key: "roleid", writes: in("/access/roles"), empties: true, owner: "/access", person: personAccess, options: " privs "}, true
	}
	return object{}, false
}

// firewallObject returns how the options of a firewall, or one of its aliases, are read and written.
func firewallObject(kind string, p place) object {
	o := object{list: p.list(kind), writes: p.list(kind), guarded: true, owner: p.owner, privilege: firewallPrivilege(p.owner), person: personFor(p.owner), options: firewallNames}
	if kind == normalize.FirewallAlias {
		o.key, o.whole, o.options = "name", true, aliasNames
		o.writes += "/" + url.PathEscape(p.name)
	}
	return o
}

// readObject reads an object.
func (a *Actuator) readObject(ctx context.Context, s *pveapi.Session, g *resource, key model.Key, _ string) error {
	o, ok := objectOf(key)
	name := key.ID
	if !ok {
		p, err := placeOf(ctx, s, key)
		if err != nil {
			return err
		}
		o, name = firewallObject(key.Kind, p), p.name
	}
	raw, err := o.read(ctx, s, name)
	if err != nil {
		return err
	}
	if raw.Kind() != model.Map {
		return &httpclient.Unexpected{Reason: "the answer is not an object"}
	}
	for _, f := range raw.Fields() {
		if f.Name != "digest" {
			g.rows = append(g.rows, row(f.Name, f.Value))
		}
	}
	g.object = o
	if g.digest = raw.At("digest").Text(); o.guarded && g.digest == "" {
		return errNoDigest
	}
	return nil
}

// read returns an object with a name as Proxmox VE has it. The error is errGone if its list does not have it.
func (o *object) read(ctx context.Context, s *pveapi.Session, name string) (model.Value, error) {
	if o.key == "" {
		return s.Get(ctx, o.list)
	}
	rows, err := rowsAt(ctx, s, o.list)
	if err != nil {
		return model.Value{}, err
	}
	at := slices.IndexFunc(rows, func(row model.Value) bool { return row.At(o.key).Text() == name })
	if at < 0 {
		return model.Value{}, errGone
	}
	return rows[at], nil
}

// isOwnAccount reports whether an object decides what the account that writes may do: its user.
func (a *Actuator) isOwnAccount(key model.Key) bool {
	user, _, _ := strings.Cut(a.options.Writing.Name(), "!")
	return key.Kind == normalize.User && key.ID == user
}
