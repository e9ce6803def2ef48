package kubernetes

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/model"
)

// A fake is an API server with a few objects.
type fake struct {
	// legacy disables aggregated discovery.
	legacy bool

	mu sync.Mutex
	// before may answer a request instead of the server. It then returns true.
	before    func(w http.ResponseWriter, r *http.Request) bool
	kinds     []fakeKind
	objects   map[string]map[string]string
	stale     []string
	version   int
	watchers  map[string][]chan string
	requested []string
	order     *rand.Rand
}

type fakeKind struct {
	group, version, resource, kind string
	cluster                        bool
	verbs                          []string
}

func (k fakeKind) root() string {
	return versionPath(k.group, k.version)
}

var readable = []string{"get", "list", "watch", "create"}

// newFake returns a fake with three deployments, a config map, a namespace, a node, an event
// and a custom resource. Its token reviews cannot be listed.
func newFake() *fake {
	f := &fake{
		kinds: []fakeKind{
			{"", "v1", "configmaps", "ConfigMap", false, readable},
			{"", "v1", "namespaces", "Namespace", true, readable},
			{"", "v1", "nodes", "Node", true, readable},
			{"", "v1", "events", "Event", false, readable},
			{"apps", "v1", "deployments", "Deployment", false, readable},
			{"authentication.k8s.io", "v1", "tokenreviews", "TokenReview", true, []string{"create"}},
			{"example.org", "v1", "widgets", "Widget", false, readable},
		},
		objects:  map[string]map[string]string{},
		version:  100,
		watchers: map[string][]chan string{},
	}
	f.put("deployments", "shop", "web", `"spec":{"replicas":2}`)
	f.put("deployments", "shop", "db", `"spec":{"replicas":1}`)
	f.put("deployments", "bank", "vault", `"spec":{"replicas":3}`)
	f.put("configmaps", "shop", "web", `"data":{"a":"1"}`)
	f.put("namespaces", "", "shop", `"spec":{}`)
	f.put("nodes", "", "n1", `"spec":{"podCIDR":"10.0.0.0/24"},"status":{"phase":"x"}`)
	f.put("events", "shop", "e1", `"message":"m"`)
	f.put("widgets", "shop", "w", `"spec":{"size":3}`)
	return f
}

// find returns the kind with a resource name.
func (f *fake) find(resource string) fakeKind {
	i := slices.IndexFunc(f.kinds, func(k fakeKind) bool { return k.resource == resource })
	return f.kinds[i]
}

// put stores an object and sends an event to the watches.
func (f *fake) put(resource, namespace, name, content string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	meta := fmt.Sprintf(`"name":%q,"resourceVersion":"%d"`, name, f.version)
	id := name
	if namespace != "" {
		meta += fmt.Sprintf(`,"namespace":%q`, namespace)
		id = namespace + "/" + name
	}
	f.store(resource, id, fmt.Sprintf(`{"metadata":{%s},%s}`, meta, content))
}

func (f *fake) store(resource, id, object string) {
	typ := "MODIFIED"
	if f.objects[resource] == nil {
		f.objects[resource] = map[string]string{}
	}
	if f.objects[resource][id] == "" {
		typ = "ADDED"
	}
	f.objects[resource][id] = object
	f.notify(resource, typ, object)
}

func (f *fake) remove(resource, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	object := f.objects[resource][id]
	delete(f.objects[resource], id)
	f.notify(resource, "DELETED", object)
}

// notify sends an event to the watches. Objects of events have a kind. It is called with mu
// held.
func (f *fake) notify(resource, typ, object string) {
	k := f.find(resource)
	named := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,%s`, k.kind, groupVersion(k.group, k.version), object[1:])
	f.send(resource, fmt.Sprintf(`{"type":%q,"object":%s}`, typ, named))
}

func (f *fake) send(resource, line string) {
	for _, w := range f.watchers[resource] {
		w <- line
	}
}

// sendLine sends a line to the watches of a resource.
func (f *fake) sendLine(resource, line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.send(resource, line)
}

// closeWatches ends every watch of a resource regularly.
func (f *fake) closeWatches(resource string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.watchers[resource] {
		close(w)
	}
	f.watchers[resource] = nil
}

// intercept sets before.
func (f *fake) intercept(before func(http.ResponseWriter, *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = before
}

func (f *fake) watching(resource string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.watchers[resource])
}

// requests returns the number of requests for a path; the path of watches is "WATCH path".
func (f *fake) requests(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, requested := range f.requested {
		if requested == path {
			n++
		}
	}
	return n
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if r.URL.Query().Get("watch") != "" {
		path = "WATCH " + path
	}
	f.mu.Lock()
	f.requested = append(f.requested, path)
	before := f.before
	f.mu.Unlock()
	if before != nil && before(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case path == "/version":
		_, _ = io.WriteString(w, `{"gitVersion":"v1.36.3"}`)
	case path == "/api" || path == "/apis":
		f.discovery(w, path == "/api")
	case strings.HasSuffix(path, "/selfsubjectreviews") && r.Method == http.MethodPost:
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"kind":"SelfSubjectReview","status":{"userInfo":{"username":"alice"}}}`)
	case path == "/openapi/v3":
		_, _ = io.WriteString(w, `{"paths":{"apis/example.org/v1":{"serverRelativeURL":"/openapi/v3/apis/example.org/v1?hash=abc"}}}`)
	case path == "/openapi/v3/apis/example.org/v1" && r.URL.Query().Get("hash") == "abc":
		_, _ = io.WriteString(w, widgetSchema)
	default:
		f.resources(w, r)
	}
}

const widgetSchema = `{"components":{"schemas":{"org.example.v1.Widget":{"type":"object",
	"properties":{"metadata":{"type":"object"},"spec":{"type":"object","properties":{"size":{"type":"integer","default":3}}}},
	"x-kubernetes-group-version-kind":[{"group":"example.org","version":"v1","kind":"Widget"}]}}}}`

// served returns the kinds that the fake serves.
func (f *fake) served() []fakeKind {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.kinds)
}

func (f *fake) resources(w http.ResponseWriter, r *http.Request) {
	for _, k := range f.served() {
		rest, ok := strings.CutPrefix(r.URL.Path, k.root()+"/")
		if !ok {
			continue
		}
		namespace := ""
		if inside, ok := strings.CutPrefix(rest, "namespaces/"); ok && strings.Contains(inside, "/") {
			namespace, rest, _ = strings.Cut(inside, "/")
		}
		if rest != k.resource {
			continue
		}
		if r.URL.Query().Get("watch") != "" {
			f.watch(w, r, k)
			return
		}
		f.list(w, r, k, namespace)
		return
	}
	f.versionList(w, r)
}

// list serves one page. The continue token is the index of the first item.
func (f *fake) list(w http.ResponseWriter, r *http.Request, k fakeKind, namespace string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var items []string
	for _, id := range slices.Sorted(maps.Keys(f.objects[k.resource])) {
		if namespace == "" || strings.HasPrefix(id, namespace+"/") {
			items = append(items, f.objects[k.resource][id])
		}
	}
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	to, next := len(items), ""
	if limit > 0 && from+limit < to {
		to = from + limit
		next = fmt.Sprintf(`,"continue":"%d"`, to)
	}
	if items = items[from:to]; f.order != nil {
		f.order.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	_, _ = fmt.Fprintf(w, `{"kind":"%sList","apiVersion":%q,"metadata":{"resourceVersion":"%d"%s},"items":[%s]}`,
		k.kind, groupVersion(k.group, k.version), f.version, next, strings.Join(items, ","))
}

func (f *fake) watch(w http.ResponseWriter, r *http.Request, k fakeKind) {
	lines := make(chan string, 100)
	f.mu.Lock()
	f.watchers[k.resource] = append(f.watchers[k.resource], lines)
	f.mu.Unlock()
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case <-r.Context().Done():
			f.leave(k.resource, lines)
			return
		case line, ok := <-lines:
			if !ok {
				return
			}
			_, _ = io.WriteString(w, line+"\n")
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func (f *fake) leave(resource string, lines chan string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers[resource] = slices.DeleteFunc(f.watchers[resource], func(c chan string) bool { return c == lines })
}

func (f *fake) discovery(w http.ResponseWriter, core bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	groups := map[string][]any{}
	for _, k := range f.kinds {
		if (k.group == "") == core {
			groups[k.group] = append(groups[k.group], map[string]any{
				"resource": k.resource, "responseKind": map[string]string{"kind": k.kind},
				"scope": map[bool]string{true: "Cluster", false: "Namespaced"}[k.cluster], "verbs": k.verbs,
			})
		}
	}
	if f.legacy {
		f.legacyDiscovery(w, core, groups)
		return
	}
	items := []any{}
	for group, resources := range groups {
		items = append(items, groupItem(group, map[string]any{"version": "v1", "freshness": "Current", "resources": resources}))
	}
	for _, group := range f.stale {
		if !core {
			items = append(items, groupItem(group, map[string]any{"version": "v1", "freshness": "Stale"}))
		}
	}
	reply(w, map[string]any{"kind": "APIGroupDiscoveryList", "items": items})
}

func groupItem(name string, versions ...any) any {
	return map[string]any{"metadata": map[string]string{"name": name}, "versions": versions}
}

func (f *fake) legacyDiscovery(w http.ResponseWriter, core bool, groups map[string][]any) {
	if core {
		reply(w, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
		return
	}
	items := []any{}
	for _, name := range append(slices.Sorted(maps.Keys(groups)), f.stale...) {
		items = append(items, map[string]any{
			"name": name, "versions": []any{map[string]string{"version": "v1"}},
			"preferredVersion": map[string]string{"version": "v1"},
		})
	}
	reply(w, map[string]any{"kind": "APIGroupList", "groups": items})
}

// versionList answers a request for one version of one group, with 404 if there is none.
func (f *fake) versionList(w http.ResponseWriter, r *http.Request) {
	resources := []any{}
	for _, k := range f.served() {
		if k.root() == r.URL.Path {
			resources = append(resources,
				map[string]any{"name": k.resource, "kind": k.kind, "namespaced": !k.cluster, "verbs": k.verbs},
				map[string]any{"name": k.resource + "/status", "kind": k.kind, "namespaced": !k.cluster, "verbs": []string{"get"}})
		}
	}
	if len(resources) == 0 {
		refuse(w, http.StatusNotFound, "the server could not find the requested resource")
		return
	}
	reply(w, map[string]any{"kind": "APIResourceList", "resources": resources})
}

func reply(w http.ResponseWriter, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(body)
}

// refuse answers with a metav1.Status.
func refuse(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"code":%d}`, message, code)
}

func testSealer() model.Sealer { return model.NewSealer([]byte("key")) }

func testEnv(t *testing.T) collectors.Env {
	t.Helper()
	return collectors.Env{
		Name: "prod", Sealer: testSealer(), CacheDir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	}
}

// newTestClient returns a client of the API server of the tests, without a rate limit.
func newTestClient(config Config, transport http.RoundTripper) *client {
	config.QPS = 0
	return config.newClient(mustURL("https://api.example.org:6443"), transport)
}

// newTestCluster returns a cluster that reads f through a transport in memory, as synctest
// requires.
func newTestCluster(t *testing.T, f http.Handler, change func(*Config)) *cluster {
	t.Helper()
	config := Defaults()
	if change != nil {
		change(&config)
	}
	config, err := config.complete()
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(testEnv(t), config)
	c.jitter = func() float64 { return 0 }
	c.connect = func() (*client, error) {
		return newTestClient(config, memory{f}), nil
	}
	c.connectSeparately = c.connect
	return c
}
