// Package pvelab is pvetest's Proxmox VE cluster with write access: as much of the API as the
// real Terraform provider needs to apply and read the declarations of the tests.
package pvelab

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
)

// A Lab serves a cluster: writes, and reads that only the provider needs. All other requests go
// to pvetest.
type Lab struct {
	*pvetest.Server
	routes []route

	mu      sync.Mutex
	refused []string
	writes  int
}

// New returns a Lab on a server of pvetest.
func New(server *pvetest.Server) *Lab {
	l := &Lab{Server: server}
	l.routes = append(l.guestRoutes(), l.clusterRoutes()...)
	return l
}

// Refused lists the requests that had no handler.
func (l *Lab) Refused() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.refused...)
}

// Writes returns the number of requests that were to change something.
func (l *Lab) Writes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writes
}

// A request is a request with a route: its parts of the path by name, its form, and its user.
type request struct {
	path url.Values
	form url.Values
	user string
}

// A route handles the requests of one method and a path pattern.
type route struct {
	method string
	path   *regexp.Regexp
	answer func(request) (any, error)
}

// on returns a route. In its pattern {name} is a variable part of the path.
func on(method, pattern string, answer func(request) (any, error)) route {
	named := regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(pattern, `(?P<$1>[^/]+)`)
	return route{method, regexp.MustCompile("^" + named + "$"), answer}
}

// ServeHTTP implements http.Handler.
func (l *Lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := strings.TrimSuffix(strings.TrimPrefix(r.URL.EscapedPath(), pvetest.Prefix), "/")
	if r.Method != http.MethodGet {
		l.mu.Lock()
		l.writes++
		l.mu.Unlock()
	}
	if id, ok := edits(r, at); ok {
		l.edit(w, r, id)
		return
	}
	for _, route := range l.routes {
		if match := route.path.FindStringSubmatch(at); match != nil && route.method == r.Method {
			route.serve(w, r, match)
			return
		}
	}
	recorder := &statusRecorder{ResponseWriter: w}
	l.Server.ServeHTTP(recorder, r)
	if recorder.code == http.StatusNotImplemented {
		l.mu.Lock()
		l.refused = append(l.refused, r.Method+" "+at)
		l.mu.Unlock()
	}
}

func (route route) serve(w http.ResponseWriter, r *http.Request, match []string) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// A token authenticates as "PVEAPIToken=user@realm!name=secret".
	user, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "PVEAPIToken="), "=")
	req := request{path: url.Values{}, form: r.Form, user: user}
	for i, name := range route.path.SubexpNames() {
		if part, err := url.PathUnescape(match[i]); err == nil && name != "" {
			req.path.Set(name, part)
		}
	}
	data, err := route.answer(req)
	code, answer := http.StatusOK, map[string]any{"data": data}
	if err != nil {
		code, answer["message"] = http.StatusInternalServerError, err.Error()
	}
	body, err := json.Marshal(answer)
	if err != nil {
		code = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(code)
	// The client may have disconnected.
	_, _ = w.Write(body)
}

// A statusRecorder records the status of a response.
type statusRecorder struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (s *statusRecorder) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// row returns the form as a row of the API, without the keys that only control the write.
func row(form url.Values, without ...string) pvetest.Row {
	r := pvetest.Row{}
	for key := range form {
		r[key] = typed(key, form.Get(key))
	}
	for _, key := range append(without, "delete", "digest") {
		delete(r, key)
	}
	return r
}

// typed returns a value in the type of the API's response: integers are numbers, except for
// those that are known to be texts.
func typed(key, text string) any {
	switch key {
	case "memory", "cpulimit", "name", "hostname", "comment", "password", "dport", "sport", "vmid":
		return text
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return text
}

// deleted lists the keys that a request deletes.
func deleted(form url.Values) []string { return words(form.Get("delete")) }

// upid returns the ID of a finished task.
func upid(node, typ, id, user string) string {
	return fmt.Sprintf("UPID:%s:000003E8:00001267:6759B2C0:%s:%s:%s:", node, typ, id, user)
}

// Cluster returns three nodes without applied resources.
func Cluster() pvetest.Cluster {
	c := pvetest.Cluster{Version: "9.0.5", Rights: pvetest.Auditor(), Pools: map[string]pvetest.Pool{},
		Lists: map[string][]pvetest.Row{
			"/storage": {
				{"storage": "local", "type": "dir", "path": "/var/lib/vz", "content": "vztmpl,iso,snippets"},
				{"storage": "local-lvm", "type": "lvmthin", "vgname": "pve", "thinpool": "data", "content": "rootdir,images"},
			},
		},
		Objects: map[string]pvetest.Row{}}
	for _, name := range []string{"pve1", "pve2", "pve3"} {
		c.Nodes = append(c.Nodes, pvetest.Node{Name: name})
		c.Lists["/nodes/"+name+"/storage"] = c.Lists["/storage"]
	}
	return c
}
