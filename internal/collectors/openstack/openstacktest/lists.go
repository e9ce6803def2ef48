package openstacktest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Host is the address of the services in their own answers. Clients cannot connect to it.
const Host = "http://openstack.internal:8774"

// maxPage is the maximum number of rows of a page.
const maxPage = 1000

// The paths of the lists.
const (
	Servers      = nova + "servers/detail"
	Roll         = nova + "servers"
	Flavors      = nova + "flavors/detail"
	Keypairs     = nova + "os-keypairs"
	ServerGroups = nova + "os-server-groups"
	Networks     = neutron + "networks"
	Subnets      = neutron + "subnets"
	Ports        = neutron + "ports"
	Routers      = neutron + "routers"
	FloatingIPs  = neutron + "floatingips"
	Groups       = neutron + "security-groups"
	Rules        = neutron + "security-group-rules"
	Images       = glance + "images"
	Volumes      = cinder + "volumes/detail"
)

// A list describes how a service answers a list.
type list struct {
	rows string
	// owner is the field of rows with the owner.
	owner string
	// all is the parameter with which an administrator requests every project's objects; strict
	// reports whether other users are denied it.
	all    string
	strict bool
	// parameters are the other supported parameters.
	parameters []string
}

func lists() map[string]list {
	paging := []string{"limit", "marker"}
	networking := []string{"limit", "marker", "fields", "project_id"}
	return map[string]list{
		Servers:      {rows: "servers", owner: "tenant_id", all: "all_tenants", strict: true, parameters: paging},
		Roll:         {rows: "servers", owner: "tenant_id", all: "all_tenants", strict: true, parameters: paging},
		Flavors:      {rows: "flavors", parameters: append(paging, "is_public")},
		Keypairs:     {rows: "keypairs", owner: "user_id", parameters: paging},
		ServerGroups: {rows: "server_groups", owner: "project_id", all: "all_projects", parameters: []string{"limit", "offset"}},
		Networks:     {rows: "networks", owner: "project_id", parameters: networking},
		Subnets:      {rows: "subnets", owner: "project_id", parameters: networking},
		Ports:        {rows: "ports", owner: "project_id", parameters: networking},
		Routers:      {rows: "routers", owner: "project_id", parameters: networking},
		FloatingIPs:  {rows: "floatingips", owner: "project_id", parameters: networking},
		Groups:       {rows: "security_groups", owner: "project_id", parameters: networking},
		Rules:        {rows: "security_group_rules", owner: "project_id", parameters: networking},
		Images:       {rows: "images", owner: "owner", parameters: append(paging, "owner", "os_hidden")},
		Volumes:      {rows: "volumes", owner: "os-vol-tenant-attr:tenant_id", all: "all_tenants", parameters: paging},
	}
}

// list answers a page of a list. Answers are cached for repeated requests.
func (s *Server) list(w http.ResponseWriter, r *http.Request, who Account) {
	path := strings.Replace(r.URL.Path, cinder+who.Project.ID+"/", cinder, 1)
	l, ok := lists()[path]
	query := r.URL.Query()
	for name := range query {
		ok = ok && (name == l.all || slices.Contains(l.parameters, name))
	}
	version, served := s.estate.microversion(r)
	switch {
	case !ok:
		s.strange(w, r)
	case !served:
		write(w, http.StatusNotAcceptable, fail("computeFault", http.StatusNotAcceptable, "Version is not supported by the API."))
	case slices.Contains(s.estate.Denied, path) || l.strict && query.Has(l.all) && !who.admin():
		write(w, http.StatusForbidden, fail("forbidden", http.StatusForbidden, "Policy doesn't allow it to be performed."))
	default:
		key := fmt.Sprint(who.ID, version, r.URL.String())
		body, ok := s.answers[key]
		if !ok {
			var code int
			var answer any
			if code, answer = s.page(path, l, query, who, version); code != http.StatusOK {
				write(w, code, answer)
				return
			}
			body = encode(answer)
			s.answers[key] = body
		}
		write(w, http.StatusOK, body)
	}
}

// page returns the requested rows, and the link to the next ones.
func (s *Server) page(path string, l list, query url.Values, who Account, version int) (int, any) {
	rows := s.visible(path, l, query, who, version)
	limit := s.limit(query)
	begin, missing := 0, false
	if marker := query.Get("marker"); marker != "" {
		i := slices.IndexFunc(rows, func(row Row) bool { return idOf(row) == marker })
		begin, missing = i+1, i < 0
	}
	if offset, err := strconv.Atoi(query.Get("offset")); err == nil {
		begin = min(offset, len(rows))
	}
	if missing && strings.HasPrefix(path, neutron) {
		return http.StatusNotFound, fail("NeutronError", http.StatusNotFound, "Object "+query.Get("marker")+" could not be found.")
	}
	if missing {
		return http.StatusBadRequest, fail("badRequest", http.StatusBadRequest, "marker ["+query.Get("marker")+"] not found")
	}
	// Nova pages keypairs since 2.35.
	if path == Keypairs && version < 35 {
		limit = len(rows)
	}
	end := min(begin+limit, len(rows))
	answer := Row{l.rows: project(rows[begin:end], query["fields"], path, version)}
	if end-begin == limit && limit > 0 && path != ServerGroups {
		answer.link(path, l, query, idOf(rows[end-1]))
	}
	return http.StatusOK, answer
}

// visible returns the rows that are visible to an account in a microversion.
func (s *Server) visible(path string, l list, query url.Values, who Account, version int) []Row {
	hides := s.estate.Hides != nil && s.estate.Hides(path, who)
	from := path
	if path == Roll {
		from = Servers
	}
	return slices.DeleteFunc(slices.Clone(s.estate.Lists[from]), func(row Row) bool {
		// Nova shows the servers of a cell that is down only in a list without pages.
		paged := query.Has("limit") || query.Has("marker")
		down := slices.Contains(s.estate.Down, idOf(row)) && (path == Servers || version < 69 || paged)
		return hides || down || !shows(path, l, row, query, who)
	})
}

func (s *Server) limit(query url.Values) int {
	most := cmp.Or(s.MaxPage, maxPage)
	if limit, err := strconv.Atoi(query.Get("limit")); err == nil {
		return min(limit, most)
	}
	return most
}

// link adds the link to the next page, in the form of the service.
func (answer Row) link(path string, l list, query url.Values, marker string) {
	next := maps.Clone(query)
	next.Set("marker", marker)
	if strings.HasPrefix(path, glance) {
		answer["next"] = "/v2/images?" + next.Encode()
		return
	}
	answer[l.rows+"_links"] = []Row{{"rel": "next", "href": Host + path + "?" + next.Encode()}}
}

// shows reports whether a row is visible to an account with a query.
func shows(path string, l list, row Row, query url.Values, who Account) bool {
	owner := ownerOf(l, row)
	own := who.admin() || owner == who.Project.ID
	switch {
	case path == Flavors:
		return row["os-flavor-access:is_public"] == true || who.admin() && query.Get("is_public") == "None"
	case path == Keypairs:
		return owner == who.ID
	case path == Images:
		return own && isHidden(row) == (query.Get("os_hidden") == "true") && asked(query, "owner", owner)
	case strings.HasPrefix(path, neutron):
		return asked(query, "project_id", owner) && (own || row["shared"] == true)
	}
	return owner == who.Project.ID || query.Has(l.all) && who.admin()
}

func isHidden(image Row) bool { return image["os_hidden"] == true }

// asked reports whether a value passes a filter, if there is one.
func asked(query url.Values, filter, value string) bool {
	return !query.Has(filter) || query.Get(filter) == value
}

func ownerOf(l list, row Row) string {
	if inner, ok := row["keypair"].(Row); ok {
		row = inner
	}
	owner, _ := row[l.owner].(string)
	return owner
}

func idOf(row Row) string {
	if inner, ok := row["keypair"].(Row); ok {
		return fmt.Sprint(inner["name"])
	}
	return fmt.Sprint(row["id"])
}

// project removes the fields that were not requested, and those that the version does not have.
func project(rows []Row, fields []string, path string, version int) []Row {
	all := make([]Row, 0, len(rows))
	for _, row := range rows {
		row = maps.Clone(row)
		maps.DeleteFunc(row, func(name string, _ any) bool {
			return path == Roll && name != "id" && name != "name" || len(fields) > 0 && !slices.Contains(fields, name) || since(path, name) > version
		})
		if path == Servers && version > 46 {
			row["flavor"] = Row{"original_name": "m1.small", "vcpus": 1, "ram": 2048, "disk": 20, "ephemeral": 0, "swap": 0}
		}
		all = append(all, row)
	}
	return all
}

// since returns the microversion that added a field.
func since(path, field string) int {
	return map[string]int{Servers + " locked": 9, Servers + " description": 19, Servers + " tags": 26,
		Flavors + " description": 55, Flavors + " extra_specs": 61, ServerGroups + " project_id": 13}[path+" "+field]
}

// microversion returns the requested one; served reports whether Nova has it.
func (e Estate) microversion(r *http.Request) (version int, served bool) {
	asked := r.Header.Get("X-OpenStack-Nova-API-Version")
	if asked == "" {
		return 1, true
	}
	version = minor(asked)
	return version, version <= minor(e.Microversion)
}

func minor(version string) int {
	_, text, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
