package access

import (
	"slices"
	"strings"
)

// Roles list who has which role: names, "group:NAME", or "*" for everybody who
// is known. The highest that fits counts. Without any, everybody who is known is
// a viewer.
type Roles struct{ Viewer, Operator, Approver []string }

// A roleTable knows who has which role.
type roleTable struct {
	names, groups map[string]Role
	// others is everybody else's who is known.
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

// of returns the role of somebody who is known.
func (t roleTable) of(name string, groups []string) Role {
	role := max(t.others, t.names[name])
	for _, group := range groups {
		role = max(role, t.groups[group])
	}
	return role
}

// kept are those of the groups that some role names: no session keeps others.
func (t roleTable) kept(groups []string) []string {
	return slices.DeleteFunc(slices.Clone(groups), func(group string) bool { return t.groups[group] == Nobody })
}
