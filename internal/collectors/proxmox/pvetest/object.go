package pvetest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/lazyregexp"
)

// An editable is a list whose rows are changed with a PUT below its path.
type editable struct {
	list, key, privilege string
	// guarded reports whether the digest of the list is compared.
	guarded bool
}

func editables() []editable {
	return []editable{
		{"/storage", "storage", "Datastore.Allocate", true},
		{"/cluster/ha/resources", "sid", "Sys.Console", true},
		{"/cluster/backup", "id", "Sys.Modify", false},
		{"/access/users", "userid", "User.Modify", false},
		{"/access/groups", "groupid", "Group.Allocate", false},
		{"/access/roles", "roleid", "Sys.Modify", false},
	}
}

// withDigest returns rows with the digest of their list, if the list has one.
func withDigest(at string, rows []Row) []Row {
	if !slices.ContainsFunc(editables(), func(e editable) bool { return e.list == at && e.guarded }) {
		return rows
	}
	var all []Row
	for _, row := range rows {
		all = append(all, withoutDigest(row))
	}
	sum := listDigest(all...)
	for _, row := range all {
		row["digest"] = sum
	}
	return all
}

var nodeConfig = lazyregexp.New(`^/nodes/[^/]+/config$`)

// changesObject reports whether a PUT changes an object other than a guest and its firewall.
func changesObject(method, at string) bool {
	in := func(e editable) bool { return strings.HasPrefix(at, e.list+"/") }
	return method == http.MethodPut && (slices.ContainsFunc(editables(), in) || at == "/cluster/options" || at == "/access/acl" || nodeConfig().MatchString(at) || at == "/pools" || strings.HasPrefix(at, "/pools/"))
}

// editObject answers a PUT that changes an object.
func (s *Server) editObject(r *http.Request, at string) (status int, answer Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if problem := s.cluster.setObject(s.cluster.as(accountOf(r)), at, r.Form); problem != nil {
		return problem.code, Row{"data": nil, "message": problem.message + "\n"}
	}
	return http.StatusOK, Row{"data": nil}
}

// setObject changes an object with the rights of an account.
func (c *Cluster) setObject(account *Cluster, at string, form url.Values) *apiError {
	may := func(privilege string) *apiError {
		if c.Accounts == nil || account.holds(privilege, "/") {
			return nil
		}
		return forbidden("(/, " + privilege + ")")
	}
	for _, e := range editables() {
		if name, ok := strings.CutPrefix(at, e.list+"/"); ok {
			if problem := may(e.privilege); problem != nil {
				return problem
			}
			return c.setListed(e, name, form)
		}
	}
	if at == "/access/acl" {
		return c.setACL(form, may("Permissions.Modify"))
	}
	if at == "/pools" || strings.HasPrefix(at, "/pools/") {
		return c.setPool(form.Get("poolid")+strings.TrimPrefix(strings.TrimPrefix(at, "/pools"), "/"), form, may("Pool.Allocate"))
	}
	if problem := may("Sys.Modify"); problem != nil {
		return problem
	}
	return c.setSingle(at, form, nodeConfig().MatchString(at))
}

// setSingle sets keys of an object that is in no list, and deletes some. guarded reports whether its digest is compared.
func (c *Cluster) setSingle(at string, form url.Values, guarded bool) *apiError {
	object := withoutDigest(c.Objects[at])
	if problem := modified(form, listDigest(object)); problem != nil && guarded {
		return problem
	}
	if object == nil {
		object = Row{}
	}
	setRow(object, form)
	c.Objects[at] = object
	return nil
}

func (c *Cluster) setListed(e editable, name string, form url.Values) *apiError {
	i := slices.IndexFunc(c.Lists[e.list], func(row Row) bool { return fmt.Sprint(row[e.key]) == name })
	if i < 0 {
		return &apiError{http.StatusInternalServerError, fmt.Sprintf("%s '%s' does not exist", e.key, name)}
	}
	if e.guarded && len(c.Lists[e.list]) > 0 {
		if problem := modified(form, withDigest(e.list, c.Lists[e.list])[0]["digest"].(string)); problem != nil {
			return problem
		}
	}
	if !e.guarded && form.Has("digest") {
		return &apiError{http.StatusBadRequest, "Parameter verification failed. digest: property is not defined in schema and the schema does not allow additional properties"}
	}
	rows := cloneRows(c.Lists[e.list])
	setRow(rows[i], form)
	c.Lists[e.list] = rows
	return nil
}

func (c *Cluster) setPool(name string, form url.Values, problem *apiError) *apiError {
	pool, ok := c.Pools[name]
	switch {
	case problem != nil:
		return problem
	case !ok:
		return &apiError{http.StatusInternalServerError, fmt.Sprintf("pool '%s' does not exist", name)}
	}
	for _, id := range words(form.Get("vms")) {
		for i := range c.Guests {
			switch g := &c.Guests[i]; {
			case strconv.Itoa(g.ID) != id:
			case form.Get("delete") == "1" && g.Pool == name:
				g.Pool = ""
			case form.Get("delete") == "1":
				return &apiError{http.StatusInternalServerError, fmt.Sprintf("VM %s is not a pool member", id)}
			case g.Pool == name:
				return &apiError{http.StatusInternalServerError, fmt.Sprintf("VM %s is already a pool member", id)}
			case g.Pool != "":
				return &apiError{http.StatusInternalServerError, fmt.Sprintf("VM %s belongs already to pool '%s' and 'allow-move' is not set", id, g.Pool)}
			default:
				g.Pool = name
			}
		}
	}
	if form.Has("comment") {
		pool.Comment = form.Get("comment")
	}
	storages := words(form.Get("storage"))
	pool.Storages = slices.DeleteFunc(slices.Clone(pool.Storages), func(name string) bool { return slices.Contains(storages, name) })
	if form.Get("delete") != "1" {
		pool.Storages = append(pool.Storages, storages...)
	}
	c.Pools[name] = pool
	return nil
}

// setACL adds or removes an entry for each user, group and token. One with the same path, holder and role is replaced.
func (c *Cluster) setACL(form url.Values, problem *apiError) *apiError {
	if problem != nil {
		return problem
	}
	for field, typ := range map[string]string{"users": "user", "groups": "group", "tokens": "token"} {
		for _, who := range words(form.Get(field)) {
			added := Row{"path": form.Get("path"), "ugid": who, "type": typ, "roleid": form.Get("roles"), "propagate": int64(1)}
			if form.Get("propagate") == "0" {
				added["propagate"] = int64(0)
			}
			rows := slices.DeleteFunc(slices.Clone(c.Lists["/access/acl"]), func(row Row) bool {
				return row["path"] == added["path"] && row["ugid"] == who && row["roleid"] == added["roleid"]
			})
			if form.Get("delete") != "1" {
				rows = append(rows, added)
			}
			c.Lists["/access/acl"] = rows
		}
	}
	return nil
}

// words splits a list in a text.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
