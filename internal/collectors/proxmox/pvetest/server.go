package pvetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/faults"
)

// Prefix is the path prefix of the API.
const Prefix = "/api2/json"

// A Server is a fake API server of one Cluster. It is safe for concurrent use.
type Server struct {
	// Set has faults by path below Prefix, such as "/nodes/pve2/".
	faults.Set

	// Now returns the time of log entries.
	Now func() time.Time

	mu      sync.Mutex
	random  *rand.Rand
	cluster Cluster
	// listed are edits that run once, after the next request for the list of guests.
	listed []func(*Cluster)
	log    []Row
	tasks  []Row
	// working are the tasks that still run.
	working []*working
	pid     int
	seen    requestStats
}

// New returns a server for a copy of the cluster. random determines the order of fields and
// rows in its answers.
func New(cluster Cluster, random *rand.Rand) *Server {
	return &Server{Now: time.Now, random: random, cluster: cluster.clone(), pid: 1000, seen: requestStats{count: map[string]int{}, running: map[string]int{}, peak: map[string]int{}}}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, Prefix), "/")
	done := s.begin(at)
	defer done()
	s.Serve(func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, at) }, at, w, r)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, at string) {
	if r.Method == http.MethodPost && at == "/access/ticket" {
		s.write(w, http.StatusOK, Row{"data": Row{"username": r.PostFormValue("username"), "ticket": "PVE:ticket", "CSRFPreventionToken": "csrf"}})
		return
	}
	if edit := s.editOf(r.Method, at); edit != nil {
		status, body := http.StatusBadRequest, Row{"data": nil}
		if err := r.ParseForm(); err == nil {
			status, body = edit(r, at)
		}
		s.write(w, status, body)
		return
	}
	if r.Method != http.MethodGet {
		writeError(w, http.StatusNotImplemented, fmt.Sprintf("Method '%s %s' not implemented", r.Method, at))
		return
	}
	data, problem := s.read(at, r.URL.Query(), accountOf(r))
	if problem != nil {
		writeError(w, problem.code, problem.message)
		return
	}
	s.write(w, http.StatusOK, Row{"data": data})
}

// write sends an answer in random order.
func (s *Server) write(w http.ResponseWriter, status int, answer Row) {
	s.mu.Lock()
	body := encoder{s.random}.encode(nil, answer)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(status)
	// The client may have closed the connection.
	_, _ = w.Write(body)
}

// writeError sends an error with a message, in the format of pveproxy.
func writeError(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"data":null,"message":%s}`, strconv.Quote(message+"\n"))
}

// An apiError is an unsuccessful answer.
type apiError struct {
	code    int
	message string
}

// answer returns the status and the body of the answer.
func (e *apiError) answer() (status int, answer Row) {
	return e.code, Row{"data": nil, "message": e.message + "\n"}
}

func notImplemented(at string) *apiError {
	return &apiError{http.StatusNotImplemented, fmt.Sprintf("Method 'GET %s' not implemented", at)}
}

func forbidden(detail string) *apiError {
	return &apiError{http.StatusForbidden, "Permission check failed " + detail}
}

// read returns the data of the answer for a path.
func (s *Server) read(at string, query url.Values, account string) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.cluster.as(account)
	if lacking := c.missingPrivilege(at); lacking != "" {
		return nil, forbidden(lacking)
	}
	if problem := c.unsupported(at); problem != nil {
		return nil, problem
	}
	switch parts := strings.Split(at, "/"); {
	case at == "/version":
		return Row{"version": c.Version, "release": strings.Join(strings.Split(c.Version, ".")[:2], "."), "repoid": "0123456789abcdef"}, nil
	case at == "/access/permissions":
		return c.permissions(query.Get("path")), nil
	case at == "/nodes":
		return c.nodeRows(), nil
	case at == "/cluster/status":
		return c.status(), nil
	case at == "/cluster/resources":
		return s.resources(), nil
	case at == "/cluster/log":
		return c.visible(at, s.log), nil
	case at == "/cluster/tasks":
		return c.visible(at, s.tasks), nil
	case parts[1] == "pools":
		return c.readPool(at, query)
	case parts[1] == "nodes" && len(parts) > 3:
		return s.readNode(parts, query, account)
	}
	if strings.HasPrefix(at, "/cluster/firewall/") {
		return c.firewallRead(at)
	}
	return c.lookup(at, query)
}

// unsupported returns the error for a path that the cluster's version does not have, or nil.
func (c *Cluster) unsupported(at string) *apiError {
	for _, since := range []struct {
		prefix       string
		major, minor int
	}{
		{"/cluster/ha/rules", 9, 0}, {"/cluster/mapping/dir", 8, 4}, {"/cluster/mapping", 8, 0},
		{"/cluster/notifications", 8, 1},
	} {
		if strings.HasPrefix(at, since.prefix) && c.older(since.major, since.minor) {
			return notImplemented(at)
		}
	}
	if strings.HasPrefix(at, "/cluster/sdn/vnets/") && strings.Contains(at, "/firewall") && c.older(8, 3) {
		return notImplemented(at)
	}
	if strings.HasPrefix(at, "/cluster/ha/groups") && !c.older(9, 0) {
		return &apiError{http.StatusInternalServerError, "cannot index groups: ha groups have been migrated to rules"}
	}
	return nil
}

// lookup returns a list or an object: that of the path with its query, that of the path
// without it, or an object that is a row of the parent list.
func (c *Cluster) lookup(at string, query url.Values) (any, *apiError) {
	paths := []string{at}
	if len(query) > 0 {
		paths = []string{at + "?" + query.Encode(), at}
	}
	for _, path := range paths {
		if rows, ok := c.Lists[path]; ok {
			return c.visible(at, withDigest(path, rows)), nil
		}
		if object, ok := c.Objects[path]; ok {
			if nodeConfig().MatchString(path) {
				object = withoutDigest(object)
				object["digest"] = listDigest(object)
			}
			return object, nil
		}
	}
	i := strings.LastIndex(at, "/")
	for _, row := range c.Lists[at[:i]] {
		for _, key := range []string{"id", "name", "realm", "userid", "groupid", "storage", "sid", "rule", "zone", "vnet"} {
			if row[key] == at[i+1:] {
				return row, nil
			}
		}
	}
	if isList(at) {
		return []Row{}, nil
	}
	return nil, notImplemented(at)
}

// isList reports whether a path is a list that every cluster has. It is empty if the Cluster
// has no rows for it.
func isList(at string) bool {
	if strings.HasPrefix(at, "/cluster/sdn/vnets/") || strings.HasPrefix(at, "/cluster/firewall/") {
		return slices.Contains([]string{"subnets", "rules", "aliases", "ipset", "groups"}, at[strings.LastIndex(at, "/")+1:])
	}
	return slices.Contains([]string{
		"/storage", "/access/acl", "/access/users", "/access/groups", "/access/roles", "/access/domains",
		"/cluster/backup", "/cluster/replication", "/cluster/metrics/server", "/cluster/ha/resources", "/cluster/ha/rules",
		"/cluster/ha/groups", "/cluster/mapping/pci", "/cluster/mapping/usb", "/cluster/mapping/dir", "/cluster/sdn/zones",
		"/cluster/sdn/controllers", "/cluster/sdn/vnets", "/cluster/sdn/ipams", "/cluster/sdn/dns", "/cluster/acme/account",
		"/cluster/notifications/targets", "/cluster/notifications/matchers",
	}, at)
}

func (c *Cluster) nodeRows() []Row {
	rows := make([]Row, len(c.Nodes))
	for i, n := range c.Nodes {
		status := "online"
		if c.unreachable(i) {
			status = "offline"
		}
		rows[i] = Row{"id": "node/" + n.Name, "node": n.Name, "type": "node", "status": status, "maxcpu": 8, "cpu": 0.25, "level": ""}
	}
	return rows
}

// resources returns the answer to /cluster/resources, which only has guests.
func (s *Server) resources() []Row {
	c := &s.cluster
	var rows []Row
	for i := range c.Guests {
		if g := &c.Guests[i]; c.holds("VM.Audit", "/vms/"+strconv.Itoa(g.ID)) {
			rows = append(rows, c.resource(g))
		}
	}
	for _, edit := range s.listed {
		edit(c)
	}
	s.listed = nil
	return rows
}

func (c *Cluster) resource(g *Guest) Row {
	row := Row{"id": g.path()[1:], "type": g.Kind, "vmid": g.ID, "node": g.Node, "name": g.name(), "status": cmp.Or(g.Listed, g.Status, "stopped"),
		"template": 0, "cpu": 0.5, "maxmem": 1 << 30, "netin": 12345, "uptime": 4711}
	if g.Config["template"] != nil {
		row["template"] = g.Config["template"]
	}
	if g.Pool != "" && c.holds("Pool.Audit", "/pool/"+g.Pool) {
		row["pool"] = g.Pool
	}
	return row
}

// readPool returns the list of pools, or one of them.
func (c *Cluster) readPool(at string, query url.Values) (any, *apiError) {
	rows := []Row{}
	for name, pool := range c.Pools {
		if !c.holds("Pool.Audit", "/pool/"+name) {
			continue
		}
		row := Row{"poolid": name}
		if pool.Comment != "" {
			row["comment"] = pool.Comment
		}
		if at == "/pools/"+name {
			row["members"] = c.members(name, pool)
			return row, nil
		}
		if query.Get("poolid") == name {
			row["members"] = c.members(name, pool)
			return []Row{row}, nil
		}
		rows = append(rows, row)
	}
	if at != "/pools" || query.Has("poolid") {
		return nil, &apiError{http.StatusInternalServerError, "pool does not exist"}
	}
	return rows, nil
}

func (c *Cluster) members(name string, pool Pool) []Row {
	members := []Row{}
	for i := range c.Guests {
		if g := &c.Guests[i]; g.Pool == name {
			members = append(members, c.resource(g))
		}
	}
	for _, storage := range pool.Storages {
		for _, n := range c.Nodes {
			members = append(members, Row{"id": "storage/" + n.Name + "/" + storage, "storage": storage, "type": "storage", "node": n.Name})
		}
	}
	return members
}
