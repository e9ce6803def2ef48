// Package access authenticates HTTP requests and assigns roles. It authenticates visitors by a password, an
// OpenID provider, a client certificate, a reverse proxy or the loopback address.
package access

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// A Role is a set of permissions. Each role includes those before it.
type Role uint8

// The roles. A viewer can read. An operator can also make decisions about findings and start scans. An
// approver can also make decisions without an end, and revoke decisions of others.
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

// String returns the name of the role.
func (r Role) String() string { return RoleNames()[r] }

// A Visitor is the user who made a request. The zero Visitor is anonymous and has no role.
type Visitor struct {
	// Name is the user name, to which roles and messages refer.
	Name string
	Role Role
	// Via is the method by which the visitor was authenticated.
	Via Via
	// Person is the name of the visitor in the table of people, or "" if the visitor is not in it. In that
	// case Unmapped is an identity of the visitor, such as "unix:root", or "" if there is no table.
	Person, Unmapped string
	// AsRoot reports whether a user who logged in as Name acts with the permissions of root.
	AsRoot bool
}

// Author returns the name of the visitor for decisions. The name of a visitor who is not in the table of
// people differs from the names of all persons.
func (v Visitor) Author() string { return cmp.Or(v.Person, v.Unmapped, v.Name) }

// MayRevoke reports whether the visitor may revoke a decision of author: an approver, or an operator who made it.
func (v Visitor) MayRevoke(author string) bool {
	return v.May(Approver) || v.May(Operator) && author == v.Author()
}

// Via is an authentication method.
type Via string

// The authentication methods: a session that began with a password or at an OpenID provider, a password in
// the request, a client certificate, a header of a reverse proxy, a loopback address, and the unix socket
// or a command that runs without the daemon.
const (
	Session     Via = "session"
	Password    Via = "password"
	Certificate Via = "certificate"
	Proxy       Via = "proxy"
	Loopback    Via = "loopback"
	Local       Via = "local"
)

// May reports whether the role of the visitor is needed or a higher one.
func (v Visitor) May(needed Role) bool { return v.Role >= needed }

type visitorKey struct{}

// With returns a copy of ctx that contains the visitor.
func With(ctx context.Context, v Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, v)
}

// Of returns the visitor in ctx, or the zero Visitor if there is none.
func Of(ctx context.Context) Visitor {
	v, _ := ctx.Value(visitorKey{}).(Visitor)
	return v
}
