package access

import (
	"slices"
	"strings"
)

// Roles assigns roles to user names, to groups ("group:NAME") and to all authenticated users
// ("*"). The highest matching role applies. If all lists are empty, every authenticated user is
// a viewer.
type Roles struct{ Viewer, Operator, Approver []string }

// A roleTable maps users and groups to roles.
type roleTable struct {
	names, groups map[string]Role
	// others is the role of all other authenticated users.
	others Role
}

func newRoleTable(r Roles) roleTable {
	t := roleTable{names: map[string]Role{}, groups: map[string]Role{}}
	if len(r.Viewer)+len(r.Operator)+len(r.Approver) == 0 {
		t.others = Viewer
	}
	for role, list := range map[Role][]string{Viewer: r.Viewer, Operator: r.Operator, Approver: r.Approver} {
		for _, name := range list {
			group, isGroup := strings.CutPrefix(name, "group:")
			switch {
			case isGroup:
				t.groups[group] = max(t.groups[group], role)
			case name == "*":
				t.others = max(t.others, role)
			default:
				t.names[name] = max(t.names[name], role)
			}
		}
	}
	return t
}

// of returns the role of an authenticated user.
func (t roleTable) of(name string, groups []string) Role {
	role := max(t.others, t.names[name])
	for _, group := range groups {
		role = max(role, t.groups[group])
	}
	return role
}

// kept returns the groups that have a role. Sessions store no others.
func (t roleTable) kept(groups []string) []string {
	return slices.DeleteFunc(slices.Clone(groups), func(group string) bool { return t.groups[group] == Nobody })
}
