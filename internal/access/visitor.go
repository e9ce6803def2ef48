// Package access tells who asks over HTTP, and what they may: by a password, an
// OpenID provider, a reverse proxy in front, or by coming from this host.
package access

import (
	"context"
	"fmt"
	"strings"
)

// A Role is what somebody may do; each includes those before it.
type Role uint8

// The roles: a viewer reads; an operator decides about findings and asks for
// scans; an approver also decides what has no end, and takes back what others
// decided.
const (
	Nobody Role = iota
	Viewer
	Operator
	Approver
)

// RoleNames are the roles as people write them, from the least to the most.
func RoleNames() []string { return []string{"nobody", "viewer", "operator", "approver"} }

// ParseRole reads a role's name.
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

// A Visitor is who asks. The zero Visitor is nobody.
type Visitor struct {
	// Name is what decisions are made in the name of.
	Name string
	Role Role
	// Via is how it is known who this is.
	Via Via
}

// Via is how a Visitor is known.
type Via string

// The ways: a session that began with a password or at an OpenID provider, a
// password in the request itself, a client's certificate, a header of a reverse
// proxy, an address of this host; the unix socket, or a command of its own.
const (
	Session     Via = "session"
	Password    Via = "password"
	Certificate Via = "certificate"
	Proxy       Via = "proxy"
	Loopback    Via = "loopback"
	Local       Via = "local"
)

// May tells whether the visitor may do what needs such a role.
func (v Visitor) May(needed Role) bool { return v.Role >= needed }

type visitorKey struct{}

// With returns a context that carries who asks.
func With(ctx context.Context, v Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, v)
}

// Of returns who asks; the zero Visitor where the context does not say.
func Of(ctx context.Context) Visitor {
	v, _ := ctx.Value(visitorKey{}).(Visitor)
	return v
}
