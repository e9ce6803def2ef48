package proxmox

import (
	"path"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A need is the privilege without which a list comes back shorter, and says
// nothing of it.
type need struct {
	privilege, path string
	// alone tells that what lies below path does not matter.
	alone bool
}

// Rights are what the account may do: on a path, the privileges that it has
// there and whether they hold below. They are read before any list, because
// Proxmox answers a list with what the account may see and calls it a success.
type rights map[string]map[string]bool

// newRights reads the answers to /access/permissions, which leaves out every
// path on which nothing is held, and to /access/acl, which names those.
func newRights(permissions, acl model.Value) rights {
	r := rights{}
	for _, p := range permissions.Fields() {
		privileges := map[string]bool{}
		for _, f := range p.Value.Fields() {
			privileges[f.Name] = truth(f.Value)
		}
		r[p.Name] = privileges
	}
	// Every version looks at these, whatever the access rules name.
	bare := []string{"/", "/access", "/access/groups", "/nodes", "/storage", "/vms"}
	for _, row := range acl.Items() {
		bare = append(bare, row.At("path").Str())
	}
	for _, at := range bare {
		if at != "" && r[at] == nil {
			r[at] = map[string]bool{}
		}
	}
	return r
}

// missing returns the path on which the need is not met; ok is false when it
// is met everywhere. Of several paths the first by name.
func (r rights) missing(n need) (where string, ok bool) {
	if !r.holds(n) {
		return n.path, true
	}
	if n.alone {
		return "", false
	}
	for at, privileges := range r {
		if _, has := privileges[n.privilege]; !has && below(at, n.path) && (where == "" || at < where) {
			where = at
		}
	}
	return where, where != ""
}

// holds tells whether the privilege is held on the need's path: by the nearest
// path that is known, if it hands the privilege down.
func (r rights) holds(n need) bool {
	for at := n.path; ; at = path.Dir(at) {
		if privileges, known := r[at]; known {
			passed, has := privileges[n.privilege]
			return has && (passed || n.alone && at == n.path)
		}
		if at == "/" || at == "." {
			return false
		}
	}
}

// below tells whether a path lies under another one.
func below(at, root string) bool {
	return at != root && strings.HasPrefix(at, strings.TrimSuffix(root, "/")+"/")
}

// truth reads a boolean in any form that Proxmox has for one.
func truth(v model.Value) bool {
	switch v.Text() {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}
