package netbox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A sight is what the token may see. NetBox answers a list with what the token
// may see of it and calls it a success, so a list proves absence only where a
// permission without constraints says that nothing was held back.
type sight struct {
	// identity is who the token is, as far as that is known.
	identity string
	// all tells that nothing is held back: a superuser, or the operator's word.
	all bool
	// whole are the models that are seen without constraints, part those of which
	// some objects may be held back.
	whole, part map[string]bool
	// unknown says why nothing is known of it; "" when it is.
	unknown string
}

// unseen says why a list of the model may lack objects, or "".
func (s sight) unseen(name string) string {
	switch {
	case s.all || s.whole[name]:
		return ""
	case s.unknown != "":
		return s.unknown
	case s.part[name]:
		return "the token sees a part of it, by the constraints of its permissions: " + grant(name)
	}
	return "no permission says that the token sees all of it: " + grant(name)
}

// A permission is one of NetBox's, as far as it lets somebody look.
type permission struct {
	id     int64
	models []string
	// bound tells that it has constraints.
	bound         bool
	users, groups []int64
	named         []string
}

func (p permission) number() int64 { return p.id }

// takePermission reads a row of the list of permissions; one that is disabled,
// or lets nobody look, has no models.
func takePermission(row model.Value) (permission, error) {
	id, err := number(row.At("id"))
	p := permission{id: id, bound: isBound(row.At("constraints")), users: ids(row.At("users")), groups: ids(row.At("groups"))}
	for _, user := range row.At("users").Items() {
		p.named = append(p.named, user.At("username").Str())
	}
	looks := slices.ContainsFunc(row.At("actions").Items(), func(a model.Value) bool { return a.Text() == "view" })
	if !looks || row.At("enabled").Text() != "true" {
		return p, err
	}
	for _, m := range row.At("object_types").Items() {
		p.models = append(p.models, strings.ToLower(m.Str()))
	}
	return p, err
}

// isBound tells constraints from none. Of a list one that asks for nothing
// lifts the others.
func isBound(constraints model.Value) bool {
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

// readSight finds out what the token may see.
func (l *look) readSight(ctx context.Context) sight {
	who, err := l.whoAmI(ctx)
	if l.config.Unrestricted {
		return sight{identity: l.identity(who, nil), all: true}
	}
	if err != nil {
		return sight{identity: l.identity(who, nil), unknown: notKnown(l.config.because(err))}
	}
	given, err := readList(ctx, l.session, list{path: "users/permissions/", size: l.config.PageSize, cursor: l.cursor}, takePermission)
	switch code := httpclient.Code(err); {
	case code == http.StatusForbidden && !refused(err), code == http.StatusNotFound:
		return sight{identity: l.identity(who, nil), unknown: notKnown("")}
	case err != nil:
		return sight{identity: l.identity(who, nil), unknown: notKnown(l.config.because(err))}
	}
	s := sightOfUser(who, given)
	if !who.known {
		s = sightOfAny(given, l.readPeople(ctx))
	}
	s.identity = l.identity(who, given)
	return s
}

// notKnown says that nothing is known of what the token sees, and what to do.
func notKnown(why string) string {
	text := "what the token may see is not known: "
	if why != "" {
		text += why + ": "
	}
	return text + "grant view on " + normalize.Permission + " (NetBox: Admin > Permissions), or set unrestricted: true"
}

// An account is who asks; known is false where NetBox does not say, before 4.5.
type account struct {
	known bool
	id    int64
	name  string
	// groups and permissions are what it was given, whether or not the token may
	// see them.
	groups, permissions []int64
}

// whoAmI asks NetBox whose token this is. An error is one that leaves open
// whether NetBox would have said it.
func (l *look) whoAmI(ctx context.Context) (account, error) {
	v, _, err := l.session.object(ctx, "authentication-check/", url.Values{})
	if httpclient.Code(err) == http.StatusNotFound {
		return account{}, nil
	}
	if err != nil {
		return account{}, err
	}
	id, err := number(v.At("id"))
	if err != nil {
		return account{}, &httpclient.Unexpected{Reason: "the answer names no user"}
	}
	a := account{known: true, id: id, name: httpclient.Printable(v.At("username").Str()), groups: ids(v.At("groups"))}
	for _, p := range v.At("permissions").Items() {
		// One that is disabled gives nothing, and takes nothing away.
		if given := ids(model.ListOf(p)); p.At("enabled").Text() != "false" {
			a.permissions = append(a.permissions, given...)
		}
	}
	return a, nil
}

// identity names who asks, as well as that is known.
func (l *look) identity(who account, given []permission) string {
	if who.known {
		return who.name
	}
	var names []string
	for _, p := range given {
		if slices.Contains(p.models, normalize.Permission) && len(p.groups) == 0 {
			names = append(names, p.named...)
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 1 && names[0] != "" {
		return names[0] + ", by its permissions"
	}
	return fmt.Sprintf("the owner of %s, whom this version does not name", l.session.token.public())
}

// sightOfUser is for a user who is known. Permissions add up, so whoever has one
// without constraints sees all of a model, whatever others are hidden. Nobody
// reads permissions without a permission to, but a superuser.
func sightOfUser(who account, given []permission) sight {
	mine := slices.DeleteFunc(slices.Clone(given), func(p permission) bool {
		return !slices.Contains(p.users, who.id) && !slices.ContainsFunc(p.groups, func(g int64) bool { return slices.Contains(who.groups, g) })
	})
	looking := slices.ContainsFunc(mine, func(p permission) bool { return len(p.models) > 0 })
	if !looking && len(who.groups) == 0 && len(who.permissions) == 0 {
		return sight{all: true}
	}
	s := sight{whole: map[string]bool{}, part: map[string]bool{}}
	for _, p := range mine {
		for _, m := range p.models {
			s.part[m] = s.part[m] || p.bound
			s.whole[m] = s.whole[m] || !p.bound
		}
	}
	return s
}

// A principal is a user, or a group.
type principal struct {
	group bool
	id    int64
}

// to returns whom a permission is given to.
func (p permission) to() []principal {
	var all []principal
	for _, u := range p.users {
		all = append(all, principal{id: u})
	}
	for _, g := range p.groups {
		all = append(all, principal{group: true, id: g})
	}
	return all
}

// People are the users and groups that the token sees.
type people struct {
	// read tells that the token may read both lists.
	read  bool
	users int
	// given are the ids of the permissions that they name as theirs.
	given []int64
}

// A person is a user or a group, with the permissions that it names.
type person struct {
	id    int64
	given []int64
}

func (p person) number() int64 { return p.id }

// readPeople reads who there is, where NetBox does not say who asks: a permission
// that somebody names and the token does not see is one that is hidden from it.
func (l *look) readPeople(ctx context.Context) people {
	p := people{read: true}
	for _, path := range []string{"users/users/", "users/groups/"} {
		rows, err := readList(ctx, l.session, list{path: path, fields: "id,permissions", size: l.config.PageSize, cursor: l.cursor}, func(row model.Value) (person, error) {
			id, err := number(row.At("id"))
			return person{id, ids(row.At("permissions"))}, err
		})
		p.read = p.read && err == nil
		for _, r := range rows {
			p.given = append(p.given, r.given...)
		}
		if path == "users/users/" {
			p.users = len(rows)
		}
	}
	return p
}

// sightOfAny is for a token whose user NetBox does not tell: it is somebody who
// may read permissions, so what each of those sees, it sees. Where nobody may, it
// is a superuser, who sees users and groups as well.
func sightOfAny(given []permission, around people) sight {
	for _, id := range around.given {
		if !slices.ContainsFunc(given, func(p permission) bool { return p.id == id }) {
			return sight{unknown: notKnown("some permissions are hidden from it")}
		}
	}
	readers := readersOf(given)
	switch {
	case len(readers) > 0:
		return sightOfEach(given, readers)
	case around.read && around.users > 0:
		return sight{all: true}
	}
	return sight{unknown: notKnown("nobody is known who may read permissions")}
}

// readersOf returns who may read permissions.
func readersOf(given []permission) []principal {
	var all []principal
	for _, p := range given {
		if slices.Contains(p.models, normalize.Permission) {
			all = append(all, p.to()...)
		}
	}
	return all
}

// sightOfEach returns what every reader sees.
func sightOfEach(given []permission, readers []principal) sight {
	s := sight{whole: map[string]bool{}, part: map[string]bool{}}
	free := map[string][]principal{}
	for _, p := range given {
		for _, m := range p.models {
			s.part[m] = s.part[m] || p.bound
			if !p.bound {
				free[m] = append(free[m], p.to()...)
			}
		}
	}
	for m, those := range free {
		s.whole[m] = !slices.ContainsFunc(readers, func(r principal) bool { return !slices.Contains(those, r) })
	}
	return s
}
