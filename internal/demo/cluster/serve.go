package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// longestWatch is the maximum duration of a watch, and bookmarkEvery the interval of its
	// bookmarks.
	longestWatch  = 10 * time.Minute
	bookmarkEvery = time.Minute
)

// ServeHTTP serves discovery, objects, paged lists and watches, reviews of users and rights, and JSON Patches of
// Deployments of the user with the token. Other writes are Go calls.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case r.Method == http.MethodPost && isReview(path):
		c.review(w, r)
	case r.Method == http.MethodPatch:
		if ref, ok := object(path); ok {
			c.patch(w, r, ref)
			return
		}
		refuse(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource")
	case r.Method != http.MethodGet:
		refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed", "the simulated cluster supports JSON Patch only")
	case path == "/version":
		reply(w, map[string]any{"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
	case path == "/apis" && !strings.Contains(r.Header.Get("Accept"), aggregated):
		groups(w)
	case path == "/api", path == "/apis":
		discovery(w, path == "/api")
	case path == "/openapi/v3":
		reply(w, map[string]any{"paths": map[string]any{}})
	case path == "/api/v1", strings.HasPrefix(path, "/apis/") && strings.Count(path, "/") <= maxGroupPath:
		group(w, strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/"))
	default:
		if ref, ok := object(path); ok {
			c.get(w, ref)
			return
		}
		c.resources(w, r)
	}
}

// maxGroupPath is the number of slashes in the path of a version of a group.
const maxGroupPath = 3

// group serves a group of the API, such as "apps", or a version of one: "apps/v1", "v1".
func group(w http.ResponseWriter, name string) {
	name, version, versioned := strings.Cut(name, "/")
	if name == "v1" {
		name, version, versioned = "", "v1", true
	}
	var resources []any
	for _, k := range kinds() {
		if k.group == name && (!versioned || k.version == version) {
			resources = append(resources, map[string]any{"name": k.resource, "kind": k.name, "namespaced": k.namespaced, "verbs": []string{"get", "list", "watch", "patch"}})
		}
	}
	preferred := map[string]any{"groupVersion": name + "/v1", "version": "v1"}
	switch {
	case resources == nil:
		refuse(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource")
	case versioned:
		reply(w, map[string]any{"kind": "APIResourceList", "groupVersion": strings.TrimPrefix(name+"/"+version, "/"), "resources": resources})
	default:
		reply(w, map[string]any{"kind": "APIGroup", "name": name, "versions": []any{preferred}, "preferredVersion": preferred})
	}
}

// groups serves the list of the groups.
func groups(w http.ResponseWriter) {
	list := []any{}
	named := map[string]bool{"": true}
	for _, k := range kinds() {
		if !named[k.group] {
			list = append(list, map[string]any{"name": k.group})
		}
		named[k.group] = true
	}
	reply(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": list})
}

// aggregated is the kind of the aggregated discovery document, which a request asks for.
const aggregated = "APIGroupDiscoveryList"

// discovery serves the aggregated discovery document.
func discovery(w http.ResponseWriter, core bool) {
	items := []any{}
	var group string
	var resources []any
	flush := func() {
		if len(resources) > 0 {
			items = append(items, map[string]any{"metadata": map[string]any{"name": group},
				"versions": []any{map[string]any{"version": "v1", "freshness": "Current", "resources": resources}}})
		}
		resources = nil
	}
	for _, k := range kinds() {
		if (k.group == "") != core {
			continue
		}
		if k.group != group {
			flush()
			group = k.group
		}
		scope := "Cluster"
		if k.namespaced {
			scope = "Namespaced"
		}
		resources = append(resources, map[string]any{"resource": k.resource, "scope": scope, "verbs": []string{"get", "list", "watch"},
			"responseKind": map[string]any{"group": k.group, "version": k.version, "kind": k.name}})
	}
	flush()
	w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as="+aggregated)
	reply(w, map[string]any{"kind": aggregated, "apiVersion": "apidiscovery.k8s.io/v2", "items": items})
}

// resources serves lists and watches of one kind.
func (c *Cluster) resources(w http.ResponseWriter, r *http.Request) {
	for _, k := range kinds() {
		namespace := ""
		if before, after, ok := strings.Cut(r.URL.Path, "/namespaces/"); ok && k.namespaced {
			if place, resource, ok := strings.Cut(after, "/"); ok && before+"/"+resource == k.path("") {
				namespace = place
			}
		}
		if r.URL.Path != k.path(namespace) {
			continue
		}
		if watch := r.URL.Query().Get("watch"); watch == "1" || watch == "true" {
			c.watch(w, r, k, namespace)
			return
		}
		c.list(w, r, k, namespace)
		return
	}
	refuse(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource")
}

// list serves a page of a list. The continue token is the index of the next page.
func (c *Cluster) list(w http.ResponseWriter, r *http.Request, k kind, namespace string) {
	c.mu.Lock()
	var refs []Ref
	typ, byType := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "type=")
	for ref, o := range c.objects {
		if ref.Kind == k.name && (namespace == "" || ref.Namespace == namespace) && (!byType || o["type"] == typ) {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	limit, from := number(r, "limit"), min(number(r, "continue"), len(refs))
	meta := map[string]any{"resourceVersion": strconv.Itoa(c.version)}
	to := len(refs)
	if limit > 0 && from+limit < to {
		to = from + limit
		meta["continue"], meta["remainingItemCount"] = strconv.Itoa(to), len(refs)-to
	}
	items := make([]any, 0, to-from)
	for _, ref := range refs[from:to] {
		items = append(items, c.objects[ref])
	}
	// Objects are modified under the lock, so they are encoded under it.
	body, err := json.Marshal(map[string]any{"kind": k.name + "List", "apiVersion": k.apiVersion(), "metadata": meta, "items": items})
	c.mu.Unlock()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "InternalError", err.Error())
		return
	}
	// An error means that the client has disconnected.
	_, _ = w.Write(body)
}

// number returns a number of the query, or 0 if it is missing or invalid.
func number(r *http.Request, name string) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// watch sends the events after a version, until the client disconnects or its timeout expires.
func (c *Cluster) watch(w http.ResponseWriter, r *http.Request, k kind, namespace string) {
	long := longestWatch
	if seconds := number(r, "timeoutSeconds"); seconds > 0 {
		long = min(long, time.Duration(seconds)*time.Second)
	}
	ctx, cancel := context.WithTimeout(r.Context(), long)
	defer cancel()
	ticker := time.NewTicker(bookmarkEvery)
	defer ticker.Stop()
	stream := http.NewResponseController(w)
	since, bookmarks := number(r, "resourceVersion"), r.URL.Query().Get("allowWatchBookmarks") == "true"
	for {
		lines, version, changed, ok := c.after(since, k.name, namespace)
		if !ok {
			lines = []byte(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}}` + "\n")
		}
		since = version
		if _, err := w.Write(lines); err != nil || stream.Flush() != nil || !ok {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-ticker.C:
			if bookmarks {
				// If the client has disconnected, the next write fails.
				_, _ = fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"%d"}}}`+"\n", k.name, k.apiVersion(), since)
			}
		}
	}
}

// after returns the events of a kind after a version, the version after them, and a channel that
// is closed when there are more. ok is false if the version is too old.
func (c *Cluster) after(since int, name, namespace string) (lines []byte, version int, changed <-chan struct{}, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if since < c.forgotten {
		return nil, since, c.changed, false
	}
	var b bytes.Buffer
	for _, e := range c.events {
		if e.version > since && e.kind == name && (namespace == "" || e.place == namespace) {
			b.Write(e.line)
		}
	}
	return b.Bytes(), c.version, c.changed, true
}

func reply(w http.ResponseWriter, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	// An error means that the client has disconnected.
	_, _ = w.Write(body)
}

// refuse sends a metav1.Status.
func refuse(w http.ResponseWriter, code int, reason, message string) {
	w.WriteHeader(code)
	reply(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": code})
}
