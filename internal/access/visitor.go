// Package access authenticates HTTP requests and assigns roles. Visitors are authenticated by
// a password, an OpenID provider, a client certificate, a reverse proxy or the loopback address.
package access

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// A Role is a set of permissions. Each role includes those before it.
type Role uint8

// The roles. A viewer reads. An operator also decides on findings and starts scans. An
// approver also makes decisions without an expiry and revokes the decisions of others.
const (
	Nobody Role = iota
	Viewer
	Operator
	Approver
)

// RoleNames returns the names of the roles, in ascending order.
func RoleNames() []string { return []string{"nobody", "viewer", "operator", "approver"} }

// ParseRole returns the role with the given name.
func ParseRole(name string) (Role, error) {
	for i, known := range RoleNames() {
		if name == known {
			return Role(i), nil
		}
	}
	return Nobody, fmt.Errorf("unknown role %q: want one of %s", name, strings.Join(RoleNames(), ", "))
}

// String returns the role's name.
func (r Role) String() string { return RoleNames()[r] }

// A Visitor is the author of a request. The zero Visitor is anonymous and has no role.
type Visitor struct {
	// Name is the user name; roles and messages go by it.
	Name string
	Role Role
	// Via is how the visitor was authenticated.
	Via Via
	// Person is the name of the visitor in the table of people, "" if the visitor is not in
	// it. Unmapped is the identity of a visitor who is not in it, as in "unix:root"; "" if
	// there is no table.
	Person, Unmapped string
	// AsRoot reports whether a user who logged in under Name acts with the rights of root.
	AsRoot bool
}

// Author returns the name that decisions record. No person can have the name of a visitor who is
// not in the table of people.
func (v Visitor) Author() string { return cmp.Or(v.Person, v.Unmapped, v.Name) }

// Via is an authentication method.
type Via string

// The authentication methods: a session that began with a password or at an OpenID provider,
// a password in the request, a client certificate, a header of a reverse proxy, a loopback
// address, and the unix socket or a command that runs without the daemon.
const (
	Session     Via = "session"
	Password    Via = "password"
	Certificate Via = "certificate"
	Proxy       Via = "proxy"
	Loopback    Via = "loopback"
	Local       Via = "local"
)

// May reports whether the visitor has at least the needed role.
func (v Visitor) May(needed Role) bool { return v.Role >= needed }

type visitorKey struct{}

// With returns a context that carries the visitor.
func With(ctx context.Context, v Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, v)
}

// Of returns the visitor of a context, or the zero Visitor.
func Of(ctx context.Context) Visitor {
	v, _ := ctx.Value(visitorKey{}).(Visitor)
	return v
}
