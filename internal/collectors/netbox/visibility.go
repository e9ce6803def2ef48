package netbox

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
	"github.com/driftd/driftd/internal/printable"
)

// visibility is the set of objects that the token has permission to view. NetBox answers a list
// with the visible objects only, with status 200. So a list proves absence only if a permission
// without constraints covers it.
type visibility struct {
	// identity is the user of the token, if it is known.
	identity string
	// all reports whether every object is visible: to a superuser, or by the setting
	// unrestricted.
	all bool
	// full are the models that are visible without constraints, and partial those of which some
	// objects may be hidden.
	full, partial map[string]bool
	// unknown is why the permissions are not known; "" if they are.
	unknown string
}

// restriction returns why a list of the model may lack objects, or "".
func (s visibility) restriction(name string) string {
	switch {
	case s.all || s.full[name]:
		return ""
	case s.unknown != "":
		return s.unknown
	case s.partial[name]:
		return "the constraints of the token's permissions hide a part of it: " + grant(name)
	}
	return "no permission of the token covers all of it: " + grant(name)
}

// intersect returns what is visible in both. The permissions of a token can change while lists are read.
func (s visibility) intersect(other visibility) visibility {
	switch {
	case other.all:
		return s
	case s.all:
		other.identity = s.identity
		return other
	case s.unknown != "" || other.unknown != "":
		return visibility{identity: s.identity, unknown: cmp.Or(s.unknown, other.unknown)}
	}
	both := visibility{identity: s.identity, full: map[string]bool{}, partial: map[string]bool{}}
	for _, models := range []map[string]bool{s.full, s.partial, other.full, other.partial} {
		for name := range models {
			both.full[name], both.partial[name] = s.full[name] && other.full[name], true
		}
	}
	return both
}

// A permission is an object permission of NetBox, reduced to the action "view".
type permission struct {
	id     int64
	models []string
	// constrained reports whether it has constraints.
	constrained   bool
	users, groups []int64
	usernames     []string
}

func (p permission) number() int64 { return p.id }

// parsePermission parses a row of the list of permissions. A permission that is disabled or
// does not allow "view" has no models.
func parsePermission(row model.Value) (permission, error) {
	id, err := number(row.At("id"))
	p := permission{id: id, constrained: isConstrained(row.At("constraints")), users: ids(row.At("users")), groups: ids(row.At("groups"))}
	for _, user := range row.At("users").Items() {
		p.usernames = append(p.usernames, user.At("username").Str())
	}
	canView := slices.ContainsFunc(row.At("actions").Items(), func(a model.Value) bool { return a.Text() == "view" })
	if !canView || row.At("enabled").Text() != "true" {
		return p, err
	}
	for _, m := range row.At("object_types").Items() {
		p.models = append(p.models, strings.ToLower(m.Str()))
	}
	return p, err
}

// isConstrained reports whether constraints restrict the objects. Constraints in a list are
// alternatives, so an empty one lifts the others.
func isConstrained(constraints model.Value) bool {
	if constraints.Kind() == model.List && len(constraints.Items()) > 0 {
		return !slices.ContainsFunc(constraints.Items(), model.Value.IsEmpty)
	}
	return constraints.Kind() == model.List || !constraints.IsEmpty()
}

// ids returns the ids of nested objects, or of a list of numbers.
func ids(v model.Value) []int64 {
	var all []int64
	for _, item := range v.Items() {
		if item.Kind() == model.Map {
			item = item.At("id")
		}
		if id, err := number(item); err == nil {
			all = append(all, id)
		}
	}
	return all
}

// readVisibility reads the permissions of the token.
func (sc *scan) readVisibility(ctx context.Context) visibility {
	who, err := sc.readAccount(ctx)
	if sc.config.Unrestricted {
		return visibility{identity: sc.identity(who, nil), all: true}
	}
	if err != nil {
		return visibility{identity: sc.identity(who, nil), unknown: visibilityUnknown(sc.config.errorReason(err))}
	}
	permissions, err := readList(ctx, sc.session, list{path: "users/permissions/", size: sc.config.PageSize, cursor: sc.cursor}, parsePermission)
	switch code := httpclient.Code(err); {
	case code == http.StatusForbidden && !netboxapi.TokenRejected(err), code == http.StatusNotFound:
		return visibility{identity: sc.identity(who, nil), unknown: visibilityUnknown("")}
	case err != nil:
		return visibility{identity: sc.identity(who, nil), unknown: visibilityUnknown(sc.config.errorReason(err))}
	}
	s := visibilityOfUser(who, permissions)
	if !who.known {
		s = visibilityOfUnknownUser(permissions, sc.readMembers(ctx))
	}
	s.identity = sc.identity(who, permissions)
	return s
}

// visibilityUnknown returns the reason for unknown permissions, with the next step.
func visibilityUnknown(why string) string {
	text := "the permissions of the token are not known: "
	if why != "" {
		text += why + ": "
	}
	return text + "grant view on " + normalize.Permission + " (NetBox: Admin > Permissions), or set unrestricted: true"
}

// An account is the user of the token. known is false before NetBox 4.5, which does not return
// it.
type account struct {
	known bool
	id    int64
	name  string
	// groups and permissions are the ids of those that the user has, visible to the token or
	// not.
	groups, permissions []int64
}

// readAccount reads the user of the token. It returns no error if this version does not have
// the endpoint.
func (sc *scan) readAccount(ctx context.Context) (account, error) {
	v, _, err := sc.session.Object(ctx, "authentication-check/", url.Values{})
	if httpclient.Code(err) == http.StatusNotFound {
		return account{}, nil
	}
	if err != nil {
		return account{}, err
	}
	id, err := number(v.At("id"))
	if err != nil {
		return account{}, &httpclient.Unexpected{Reason: "the answer has no user"}
	}
	a := account{known: true, id: id, name: printable.Text(v.At("username").Str()), groups: ids(v.At("groups"))}
	for _, p := range v.At("permissions").Items() {
		// A disabled permission grants nothing, and revokes nothing.
		if permissions := ids(model.ListOf(p)); p.At("enabled").Text() != "false" {
			a.permissions = append(a.permissions, permissions...)
		}
	}
	return a, nil
}

// identity returns the name of the token's user, or the best description of it.
func (sc *scan) identity(who account, permissions []permission) string {
	if who.known {
		return who.name
	}
	var names []string
	for _, p := range permissions {
		if slices.Contains(p.models, normalize.Permission) && len(p.groups) == 0 {
			names = append(names, p.usernames...)
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 1 && names[0] != "" {
		return names[0] + ", by its permissions"
	}
	return fmt.Sprintf("the owner of %s (this version does not return the name)", sc.session.Token())
}

// visibilityOfUser returns the visibility of objects for a known user. Permissions are cumulative:
// one without constraints makes all objects of a model visible, even if other permissions are
// hidden. Only a superuser can read permissions without a permission to view them.
func visibilityOfUser(who account, permissions []permission) visibility {
	mine := slices.DeleteFunc(slices.Clone(permissions), func(p permission) bool {
		return !slices.Contains(p.users, who.id) && !slices.ContainsFunc(p.groups, func(g int64) bool { return slices.Contains(who.groups, g) })
	})
	looking := slices.ContainsFunc(mine, func(p permission) bool { return len(p.models) > 0 })
	if !looking && len(who.groups) == 0 && len(who.permissions) == 0 {
		return visibility{all: true}
	}
	s := visibility{full: map[string]bool{}, partial: map[string]bool{}}
	for _, p := range mine {
		for _, m := range p.models {
			s.partial[m] = s.partial[m] || p.constrained
			s.full[m] = s.full[m] || !p.constrained
		}
	}
	return s
}

// A principal is a user or a group.
type principal struct {
	group bool
	id    int64
}

// grantees returns the users and groups that have the permission.
func (p permission) grantees() []principal {
	var all []principal
	for _, u := range p.users {
		all = append(all, principal{id: u})
	}
	for _, g := range p.groups {
		all = append(all, principal{group: true, id: g})
	}
	return all
}

// members are the users and groups that are visible to the token.
type members struct {
	// read reports whether the token may read both lists.
	read  bool
	users int
	// permissions are the ids of the permissions that they have.
	permissions []int64
}

// A member is a user or a group, with the ids of its permissions.
type member struct {
	id          int64
	permissions []int64
}

func (p member) number() int64 { return p.id }

// readMembers reads the users and groups, for versions that do not return the user of the token. A
// permission of a user or group that is not in the list of permissions is hidden from the token.
func (sc *scan) readMembers(ctx context.Context) members {
	p := members{read: true}
	for _, path := range []string{"users/users/", "users/groups/"} {
		rows, err := readList(ctx, sc.session, list{path: path, fields: "id,permissions", size: sc.config.PageSize, cursor: sc.cursor}, func(row model.Value) (member, error) {
			id, err := number(row.At("id"))
			return member{id, ids(row.At("permissions"))}, err
		})
		p.read = p.read && err == nil
		for _, r := range rows {
			p.permissions = append(p.permissions, r.permissions...)
		}
		if path == "users/users/" {
			p.users = len(rows)
		}
	}
	return p
}

// visibilityOfUnknownUser returns the visibility of objects for a token whose user NetBox does not
// return. The user can read permissions, so the token sees at least the objects that are visible to
// every user with that right. If no user has it, the token belongs to a superuser, who can read
// users and groups as well.
func visibilityOfUnknownUser(permissions []permission, members members) visibility {
	for _, id := range members.permissions {
		if !slices.ContainsFunc(permissions, func(p permission) bool { return p.id == id }) {
			return visibility{unknown: visibilityUnknown("some permissions are hidden from it")}
		}
	}
	readers := readersOf(permissions)
	switch {
	case len(readers) > 0:
		return visibilityOfReaders(permissions, readers)
	case members.read && members.users > 0:
		return visibility{all: true}
	}
	return visibility{unknown: visibilityUnknown("no user is known who may read permissions")}
}

// readersOf returns the users and groups that may read permissions.
func readersOf(permissions []permission) []principal {
	var all []principal
	for _, p := range permissions {
		if slices.Contains(p.models, normalize.Permission) {
			all = append(all, p.grantees()...)
		}
	}
	return all
}

// visibilityOfReaders returns the objects that are visible to every reader.
func visibilityOfReaders(permissions []permission, readers []principal) visibility {
	s := visibility{full: map[string]bool{}, partial: map[string]bool{}}
	free := map[string][]principal{}
	for _, p := range permissions {
		for _, m := range p.models {
			s.partial[m] = s.partial[m] || p.constrained
			if !p.constrained {
				free[m] = append(free[m], p.grantees()...)
			}
		}
	}
	for m, those := range free {
		s.full[m] = !slices.ContainsFunc(readers, func(r principal) bool { return !slices.Contains(those, r) })
	}
	return s
}
