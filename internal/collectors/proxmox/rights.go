package proxmox

import (
	"path"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
)

// A need is a privilege on a path. Without it, a list omits objects without an error.
type need struct {
	privilege, path string
	// exact reports whether only the path itself matters, not the paths below it.
	exact bool
}

// Rights are the account's privileges by path. The value of a privilege reports whether it
// also applies below the path. They are read before any list, because Proxmox VE omits the
// objects that the account may not see from a list, and answers with success.
type rights map[string]map[string]bool

// newRights decodes the responses to /access/permissions and /access/acl. The former omits paths
// without privileges, which the latter contains.
func newRights(permissions, acl model.Value) rights {
	r := rights{}
	for _, p := range permissions.Fields() {
		privileges := map[string]bool{}
		for _, f := range p.Value.Fields() {
			privileges[f.Name] = pveapi.Truth(f.Value)
		}
		r[p.Name] = privileges
	}
	// Every version checks these paths, even if the access control list does not contain them.
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

// missing returns the first path, by name, on which the need is not met. ok is false if it is
// met everywhere.
func (r rights) missing(n need) (where string, ok bool) {
	if !r.holds(n) {
		return n.path, true
	}
	if n.exact {
		return "", false
	}
	for at, privileges := range r {
		if _, has := privileges[n.privilege]; !has && below(at, n.path) && (where == "" || at < where) {
			where = at
		}
	}
	return where, where != ""
}

// holds reports whether the privilege applies on the need's path. The closest known path above
// decides.
func (r rights) holds(n need) bool {
	for at := n.path; ; at = path.Dir(at) {
		if privileges, known := r[at]; known {
			passed, has := privileges[n.privilege]
			return has && (passed || n.exact && at == n.path)
		}
		if at == "/" || at == "." {
			return false
		}
	}
}

// below reports whether a path is below another one.
func below(at, root string) bool {
	return at != root && strings.HasPrefix(at, strings.TrimSuffix(root, "/")+"/")
}
