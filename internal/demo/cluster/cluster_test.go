package cluster_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors/kubernetes/audit"
	"github.com/driftd/driftd/internal/demo/cluster"
	"github.com/driftd/driftd/internal/model"
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func web() cluster.Ref { return cluster.Ref{Kind: "Deployment", Namespace: "shop", Name: "web"} }

func ci() cluster.Writer {
	return cluster.Writer{User: "ci", Agent: "kubectl", Manager: "kubectl-client-side-apply"}
}

func alice() cluster.Writer {
	return cluster.Writer{User: "alice", Agent: "kubectl", Manager: "kubectl-edit"}
}

// object parses an object.
func object(t *testing.T, text string) cluster.Object {
	t.Helper()
	var o cluster.Object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","labels":{"app":"web"}},
	"spec":{"replicas":2,"template":{"spec":{"containers":[
		{"name":"web","image":"web:1","args":["a"],"ports":[{"containerPort":80,"name":"http"}]},{"name":"side","image":"side:1"}]}}}}`

// newCluster returns a cluster with a Deployment and a few ConfigMaps.
func newCluster(t *testing.T, log *bytes.Buffer) *cluster.Cluster {
	t.Helper()
	c := cluster.New(log)
	apply(t, c, deployment)
	for i := range 5 {
		apply(t, c, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d","namespace":"shop"},"data":{}}`, i))
	}
	apply(t, c, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other","namespace":"bank"},"data":{}}`)
	apply(t, c, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`)
	return c
}

func apply(t *testing.T, c *cluster.Cluster, text string) {
	t.Helper()
	if err := c.Apply(object(t, text), ci(), noon()); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, c http.Handler, path string) (int, cluster.Object) {
	t.Helper()
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	return w.Code, object(t, w.Body.String())
}

// read returns the only object of a list whose name is web.
func read(t *testing.T, c http.Handler) cluster.Object {
	t.Helper()
	_, list := get(t, c, "/apis/apps/v1/namespaces/shop/deployments")
	items, _ := list["items"].([]any)
	if len(items) != 1 {
		t.Fatalf("the list is %v", list)
	}
	o, _ := items[0].(map[string]any)
	return o
}

// owned returns the managed fields of an object, one field a line.
func owned(o cluster.Object) []string {
	var lines []string
	meta, _ := o["metadata"].(map[string]any)
	entries, _ := meta["managedFields"].([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		var walk func(string, map[string]any)
		walk = func(path string, fields map[string]any) {
			for step, below := range fields {
				if more, _ := below.(map[string]any); len(more) > 0 {
					walk(path+" "+step, more)
				} else {
					lines = append(lines, fmt.Sprint(entry["manager"], path, " ", step))
				}
			}
		}
		fields, _ := entry["fieldsV1"].(map[string]any)
		walk("", fields)
	}
	slices.Sort(lines)
	return lines
}

func TestManagedFields(t *testing.T) {
	t.Parallel()
	c := newCluster(t, &bytes.Buffer{})
	const containers = "f:spec f:template f:spec f:containers "
	want := []string{
		"kubectl-client-side-apply f:metadata f:labels f:app",
		"kubectl-client-side-apply f:spec f:replicas",
		"kubectl-client-side-apply " + containers + `k:{"name":"side"} f:image`,
		"kubectl-client-side-apply " + containers + `k:{"name":"side"} f:name`,
		"kubectl-client-side-apply " + containers + `k:{"name":"web"} f:args`,
		"kubectl-client-side-apply " + containers + `k:{"name":"web"} f:image`,
		"kubectl-client-side-apply " + containers + `k:{"name":"web"} f:name`,
		"kubectl-client-side-apply " + containers + `k:{"name":"web"} f:ports k:{"containerPort":80,"protocol":"TCP"} f:containerPort`,
		"kubectl-client-side-apply " + containers + `k:{"name":"web"} f:ports k:{"containerPort":80,"protocol":"TCP"} f:name`,
	}
	if diff := cmp.Diff(want, owned(read(t, c))); diff != "" {
		t.Errorf("after an apply (-want +got):\n%s", diff)
	}
	if err := c.Edit(web(), alice(), noon().Add(time.Hour), func(o cluster.Object) {
		spec, _ := o["spec"].(map[string]any)
		spec["replicas"], spec["paused"] = 5, true
	}); err != nil {
		t.Fatal(err)
	}
	edited := read(t, c)
	want = append(slices.DeleteFunc(want, func(s string) bool { return strings.HasSuffix(s, "f:replicas") }),
		"kubectl-edit f:spec f:paused", "kubectl-edit f:spec f:replicas")
	if diff := cmp.Diff(want, owned(edited)); diff != "" {
		t.Errorf("after an edit (-want +got):\n%s", diff)
	}
	meta, _ := edited["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if applied, _ := annotations["kubectl.kubernetes.io/last-applied-configuration"].(string); meta["generation"] != 2.0 || !strings.Contains(applied, `"replicas":2`) {
		t.Errorf("metadata after an edit: %v", meta)
	}
	uid := meta["uid"]
	apply(t, c, deployment)
	if meta, _ := read(t, c)["metadata"].(map[string]any); meta["uid"] != uid || meta["generation"] != 3.0 {
		t.Errorf("applying again replaced the object: %v", meta)
	}
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	c := newCluster(t, &bytes.Buffer{})
	gone := cluster.Ref{Kind: "Deployment", Namespace: "shop", Name: "gone"}
	for reason, err := range map[string]error{
		"an edit of nothing":          c.Edit(gone, alice(), noon(), func(cluster.Object) {}),
		"a deletion of nothing":       c.Delete(gone, alice(), noon()),
		"a kind that is not served":   c.Apply(object(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b"}}`), ci(), noon()),
		"an object without a name":    c.Apply(object(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"b"}}`), ci(), noon()),
		"one without a namespace":     c.Apply(object(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`), ci(), noon()),
		"a namespace in a namespace":  c.Apply(object(t, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","namespace":"b"}}`), ci(), noon()),
		"an object without any words": c.Apply(cluster.Object{}, ci(), noon()),
	} {
		if err == nil {
			t.Errorf("%s is no error", reason)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, &bytes.Buffer{})
	for _, tc := range []struct {
		reason, path string
		code         int
		want         string
	}{
		{"the version", "/version", 200, "v1.36.3"},
		{"core kinds", "/api", 200, "configmaps"},
		{"groups", "/apis", 200, "networking.k8s.io"},
		{"no schemas", "/openapi/v3", 200, "paths"},
		{"objects of one namespace", "/api/v1/namespaces/bank/configmaps", 200, "other"},
		{"a kind that is not served", "/api/v1/pods", 404, "NotFound"},
		{"a namespace's namespaces", "/api/v1/namespaces/bank/namespaces", 404, "NotFound"},
		{"namespaces", "/api/v1/namespaces", 200, "shop"},
	} {
		code, answer := get(t, c, tc.path)
		text, err := json.Marshal(answer)
		if err != nil || code != tc.code || !strings.Contains(string(text), tc.want) {
			t.Errorf("%s: %d %s", tc.reason, code, text)
		}
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest(http.MethodDelete, "/api/v1/namespaces/shop", http.NoBody))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("a write over HTTP is answered with %d", w.Code)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	c := newCluster(t, &bytes.Buffer{})
	var names []string
	path := "/api/v1/configmaps?limit=2"
	for range 10 {
		_, list := get(t, c, path)
		items, _ := list["items"].([]any)
		for _, item := range items {
			meta, _ := item.(map[string]any)["metadata"].(map[string]any)
			names = append(names, fmt.Sprint(meta["namespace"], "/", meta["name"]))
		}
		meta, _ := list["metadata"].(map[string]any)
		next, ok := meta["continue"].(string)
		if !ok {
			break
		}
		path = "/api/v1/configmaps?limit=2&continue=" + next
	}
	if diff := cmp.Diff([]string{"bank/other", "shop/c0", "shop/c1", "shop/c2", "shop/c3", "shop/c4"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// A watcher reads the lines of a watch.
type watcher struct {
	t     *testing.T
	lines *bufio.Scanner
}

func watch(t *testing.T, server *httptest.Server, query string) watcher {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/apis/apps/v1/deployments?watch=1&"+query, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return watcher{t, bufio.NewScanner(answer.Body)}
}

// next returns the type and the version of the next event.
func (w watcher) next() (what, version string) {
	w.t.Helper()
	if !w.lines.Scan() {
		return "end", ""
	}
	o := object(w.t, w.lines.Text())
	of, _ := o["object"].(map[string]any)
	meta, _ := of["metadata"].(map[string]any)
	version, _ = meta["resourceVersion"].(string)
	what, _ = o["type"].(string)
	return what, version
}

func TestWatch(t *testing.T) {
	t.Parallel()
	c := newCluster(t, &bytes.Buffer{})
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	_, list := get(t, c, "/apis/apps/v1/deployments")
	meta, _ := list["metadata"].(map[string]any)
	w := watch(t, server, fmt.Sprint("resourceVersion=", meta["resourceVersion"]))
	if err := c.Edit(web(), alice(), noon(), func(o cluster.Object) { o["spec"] = map[string]any{"replicas": 9} }); err != nil {
		t.Fatal(err)
	}
	what, edited := w.next()
	if what != "MODIFIED" {
		t.Errorf("event of an edit = %s", what)
	}
	apply(t, c, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"noise","namespace":"shop"},"data":{}}`)
	if err := c.Delete(web(), alice(), noon()); err != nil {
		t.Fatal(err)
	}
	if what, _ := w.next(); what != "DELETED" {
		t.Errorf("event of a deletion = %s", what)
	}
	// A new watch gets the events in between, without duplicates.
	apply(t, c, deployment)
	again := watch(t, server, "timeoutSeconds=1&resourceVersion="+edited)
	for _, want := range []string{"DELETED", "ADDED", "end"} {
		if what, _ := again.next(); what != want {
			t.Errorf("event of a new watch = %s, want %s", what, want)
		}
	}
}

// TestWatchFromLongAgo checks that a watch from a removed version fails with 410.
func TestWatchFromLongAgo(t *testing.T) {
	t.Parallel()
	c := newCluster(t, &bytes.Buffer{})
	for i := range 1100 {
		if err := c.Edit(web(), alice(), noon(), func(o cluster.Object) { o["spec"] = map[string]any{"replicas": i + 10} }); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	w := watch(t, server, "resourceVersion="+strconv.Itoa(1001))
	for _, want := range []string{"ERROR", "end"} {
		if what, _ := w.next(); what != want {
			t.Errorf("event = %s, want %s", what, want)
		}
	}
}

// TestAuditLog checks that driftd can parse the audit log.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := cluster.New(&log)
	apply(t, c, deployment)
	if err := c.Edit(web(), alice(), noon().Add(time.Minute), func(o cluster.Object) { o["spec"] = nil }); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(web(), alice(), noon().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(log.String()) {
		writes, err := audit.Decode([]byte(line))
		if err != nil || len(writes) != 1 {
			t.Fatalf("%s: %v, %v", line, writes, err)
		}
		w := writes[0]
		deed := map[model.Action]string{model.Edited: "edited", model.Created: "created", model.Deleted: "deleted"}[w.Action]
		got = append(got, fmt.Sprint(w.User, " ", deed, " ", w.Object.ID(), " with ", w.Manager, " at ", w.Began.Format(time.TimeOnly)))
	}
	want := []string{
		"ci created shop/web with kubectl-client-side-apply at 12:00:00",
		"alice edited shop/web with kubectl-edit at 12:01:00",
		"alice deleted shop/web with kubectl at 13:00:00",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// TestReviews checks that the user with the token may do what its rights are, and nothing else.
func TestReviews(t *testing.T) {
	t.Parallel()
	c := newCluster(t, &bytes.Buffer{})
	c.Token = "t0ken"
	ask := func(method, path, body string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer t0ken")
		r.Header.Set("Content-Type", "application/json-patch+json")
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const rights = "/apis/authorization.k8s.io/v1/selfsubject"
	code, text := ask(http.MethodPost, rights+"rulesreviews", `{"spec":{"namespace":"shop"}}`)
	if want := `"resourceRules":[{"apiGroups":["apps"],"resources":["deployments"],"verbs":["get","patch"]}]`; code != http.StatusCreated || !strings.Contains(text, want) {
		t.Errorf("the rules are %d %s", code, text)
	}
	for resource, may := range map[string]bool{"deployments": true, "daemonsets": false} {
		code, text = ask(http.MethodPost, rights+"accessreviews", `{"spec":{"resourceAttributes":{"verb":"patch","group":"apps","resource":"`+resource+`"}}}`)
		if code != http.StatusCreated || strings.Contains(text, `"allowed":true`) != may {
			t.Errorf("%s: %d %s", resource, code, text)
		}
	}
	if code, text = ask(http.MethodPatch, "/api/v1/namespaces/shop/configmaps/c0", `[]`); code != http.StatusForbidden {
		t.Errorf("a patch of a ConfigMap: %d %s", code, text)
	}
	if code, text = ask(http.MethodPost, rights+"others", `{}`); code != http.StatusNotFound {
		t.Errorf("an unknown review: %d %s", code, text)
	}
}
