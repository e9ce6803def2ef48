package kubernetes

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// keys returns the kind and ID of each resource.
func keys(s model.Snapshot) []string {
	var all []string
	for _, r := range s.Resources {
		all = append(all, strings.TrimPrefix(r.Kind, Type+"/")+" "+r.ID)
	}
	return all
}

// coverage returns "ok" or the reason of each scope, by "kind place".
func coverage(s model.Snapshot) map[string]string {
	all := map[string]string{}
	for _, c := range s.Coverage {
		text := "ok"
		if !c.Complete {
			text = c.Reason
		}
		all[strings.TrimSpace(strings.TrimPrefix(c.Kind, Type+"/")+" "+c.Place)] = text
	}
	return all
}

const excludedText = "excluded by the setting exclude_kinds"

func TestCollect(t *testing.T) {
	t.Parallel()
	s, err := newTestCluster(t, newFake(), nil).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ConfigMap shop/web", "Deployment.apps bank/vault", "Deployment.apps shop/db", "Deployment.apps shop/web",
		"Namespace shop", "Node n1", "Widget.example.org shop/w",
	}
	if diff := cmp.Diff(want, keys(s)); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	wantCoverage := map[string]string{
		"": "ok", "ConfigMap": "ok", "Deployment.apps": "ok", "Namespace": "ok", "Node": "ok", "Widget.example.org": "ok",
		"Event": excludedText, "TokenReview.authentication.k8s.io": "the API server cannot list this kind",
	}
	if diff := cmp.Diff(wantCoverage, coverage(s)); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	if s.Version != "v1.36.3" || s.Source != "prod" {
		t.Errorf("source %q, version %q", s.Source, s.Version)
	}
	widget := s.Kinds["kubernetes/Widget.example.org"]
	if widget == nil || widget.Schema == nil || !widget.Namespaced || widget.Version != "example.org/v1" {
		t.Errorf("kind of the custom resource: %+v", widget)
	}
}

// TestCollectMarksEmptied checks that scans and watches mark objects whose managedFields were
// removed, if another object has managedFields.
func TestCollectMarksEmptied(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := newTestCluster(t, f, nil)
	emptied := func(s model.Snapshot) (all []string) {
		for _, r := range s.Resources {
			if r.OwnersRemoved {
				all = append(all, r.ID)
			}
		}
		return all
	}
	for _, tt := range []struct {
		reason string
		edited bool
		want   []string
	}{
		{"no object has managedFields", false, nil},
		{"one object has managedFields", true, []string{"shop/web", "bank/vault", "shop/db", "shop", "n1", "shop/w"}},
	} {
		if tt.edited {
			f.edit("web", 1, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		}
		found, err := c.scan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, emptied(found.snapshot())); diff != "" {
			t.Errorf("%s: a scan (-want +got):\n%s", tt.reason, diff)
		}
		if diff := cmp.Diff(tt.want, emptied(newInventory(found).snapshot(time.Time{}))); diff != "" {
			t.Errorf("%s: a watch (-want +got):\n%s", tt.reason, diff)
		}
	}
}

func TestCollectPages(t *testing.T) {
	t.Parallel()
	f := newFake()
	whole, err := newTestCluster(t, f, nil).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	paged, err := newTestCluster(t, f, func(c *Config) { c.PageSize = 1 }).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keys(whole), keys(paged)); diff != "" {
		t.Errorf("resources of one page and of several (-one +several):\n%s", diff)
	}
}

const deployments = "/apis/apps/v1/deployments"

// at returns a function for fake.before that answers the requests of one path.
func at(path string, answer http.HandlerFunc) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != path {
			return false
		}
		answer(w, r)
		return true
	}
}

func forbid(w http.ResponseWriter, _ *http.Request) {
	refuse(w, http.StatusForbidden, `deployments.apps is forbidden: User "bob" cannot list resource "deployments"`)
}

// forbiddenReason is the same for every kind and namespace, so that a report can group them.
const forbiddenReason = `forbidden: user "bob" has no permission to list it; grant get, list and watch, see docs/kubernetes.md`

func write(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func TestCollectIncompleteCoverage(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		change func(*Config)
		answer http.HandlerFunc
		want   map[string]string
		found  int
	}{
		"forbidden": {
			reason: "the reason has the user and the permission",
			answer: forbid,
			want:   map[string]string{"Deployment.apps": forbiddenReason},
			found:  4,
		},
		"forbidden, except in a namespace": {
			reason: "the namespaces of try_namespaces are listed",
			change: func(c *Config) { c.TryNamespaces = []string{"shop", "empty", "shop"} },
			answer: forbid,
			want: map[string]string{
				"Deployment.apps":      forbiddenReason,
				"Deployment.apps shop": "ok", "Deployment.apps empty": "ok",
			},
			found: 6,
		},
		"busy": {
			reason: "the number of attempts is bounded",
			answer: func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusTooManyRequests, "too many") },
			want:   map[string]string{"Deployment.apps": "429 Too Many Requests: too many: lower qps and concurrency"},
			found:  4,
		},
		"method not allowed": {
			reason: "objects may exist that cannot be listed",
			answer: func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusMethodNotAllowed, "") },
			want:   map[string]string{"Deployment.apps": "405 Method Not Allowed; see kubectl get --raw '/apis/apps/v1/deployments?limit=1'"},
			found:  4,
		},
		"not found but served": {
			reason: "404 does not prove absence while discovery has the kind",
			answer: func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "") },
			want:   map[string]string{"Deployment.apps": "the kind is no longer served: 404 Not Found; see kubectl get --raw '/apis/apps/v1/deployments?limit=1'"},
			found:  4,
		},
		"expired": {
			reason: "the number of attempts is bounded",
			answer: func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusGone, "expired") },
			want:   map[string]string{"Deployment.apps": "the list expired 3 times before its last page: raise page_size"},
			found:  4,
		},
		"not a list": {
			reason: "an answer of another kind is not an empty list",
			answer: write(`{"kind":"Deployment","metadata":{}}`),
			want:   map[string]string{"Deployment.apps": `the answer has kind "Deployment" and is not a list; see kubectl get --raw '/apis/apps/v1/deployments?limit=1'`},
			found:  4,
		},
		"list without end": {
			reason: "a page is its own next page",
			answer: write(`{"kind":"DeploymentList","metadata":{"continue":"x"},"items":[]}`),
			want:   map[string]string{"Deployment.apps": "the list does not end; see kubectl get --raw '/apis/apps/v1/deployments?limit=1'"},
			found:  4,
		},
		"null items": {
			reason: "some servers write an empty list as null",
			answer: write(`{"kind":"DeploymentList","metadata":{},"items":null}`),
			want:   map[string]string{"Deployment.apps": "ok"},
			found:  4,
		},
		"objects that cannot be decoded": {
			reason: "the reason names them, and the other objects are kept",
			answer: write(`{"kind":"DeploymentList","metadata":{},"items":[
				{"metadata":{"name":"good","namespace":"shop"}},
				{"metadata":{"name":"twice","namespace":"shop"},"spec":{"a":1,"a":2}},
				{"metadata":{"namespace":"shop"}},
				{"kind":"Pod","apiVersion":"v1","metadata":{"name":"other"}},
				{"metadata":{"name":"deep"},"spec":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}]}`),
			want: map[string]string{"Deployment.apps": "objects cannot be decoded: " +
				`shop/twice: at /spec/a: duplicate object member name; an object without a name: not a Kubernetes object; ` +
				"other: its kind is kubernetes/Pod; and 1 more; correct them, or exclude the kind (exclude_kinds)"},
			found: 5,
		},
		"large object": {
			reason: "the reason has the setting of the bound",
			change: func(c *Config) { c.MaxObjectSize = 1 << 10 },
			answer: write(`{"kind":"DeploymentList","metadata":{},"items":[{"metadata":{"name":"` + strings.Repeat("x", 10<<10) + `"}}]}`),
			want:   map[string]string{"Deployment.apps": "an object is larger than 1024 bytes: raise max_object_size"},
			found:  4,
		},
		"object of 10 MB": {
			reason: "the object is within the bound",
			answer: write(`{"kind":"DeploymentList","metadata":{},"items":[{"metadata":{"name":"big","namespace":"shop"},"spec":{"a":"` +
				strings.Repeat("x", 10<<20) + `"}}]}`),
			want:  map[string]string{"Deployment.apps": "ok"},
			found: 5,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.before = at(deployments, tt.answer)
				s, err := newTestCluster(t, f, tt.change).Collect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]string{}
				for scope, text := range coverage(s) {
					if strings.HasPrefix(scope, "Deployment") {
						got[scope] = text
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s: coverage (-want +got):\n%s", tt.reason, diff)
				}
				if len(s.Resources) != tt.found {
					t.Errorf("%s: found %v", tt.reason, keys(s))
				}
			})
		})
	}
}

func TestCollectNamespaces(t *testing.T) {
	t.Parallel()
	s, err := newTestCluster(t, newFake(), func(c *Config) { c.Namespaces = []string{"shop"} }).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ConfigMap shop/web", "Deployment.apps shop/db", "Deployment.apps shop/web", "Namespace shop", "Node n1", "Widget.example.org shop/w"}
	if diff := cmp.Diff(want, keys(s)); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	if ok, reason := s.Covers("kubernetes/Deployment.apps", "bank"); ok || !strings.Contains(reason, "namespaces") {
		t.Errorf("an excluded namespace is covered: %q", reason)
	}
	if ok, _ := s.Covers("kubernetes/Deployment.apps", "shop"); !ok {
		t.Error("the namespace that was read is not covered")
	}
}

func TestCollectFailedScopes(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.before = at(deployments, forbid)
	tests := map[string]struct {
		reason string
		change func(*Config)
		failed []string
	}{
		"forbidden":         {reason: "a kind that cannot be read is a failure", failed: []string{"kubernetes/Deployment.apps"}},
		"namespaces tried":  {reason: "a kind that is listed by namespace is not a failure", change: func(c *Config) { c.TryNamespaces = []string{"shop"} }},
		"namespaces chosen": {reason: "an excluded namespace is not a failure", change: func(c *Config) { c.Namespaces = []string{"shop"} }},
		"kind excluded":     {reason: "an excluded kind is not a failure", change: func(c *Config) { c.ExcludeKinds = []string{"Deployment.apps"} }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := newTestCluster(t, f, tt.change).Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			for _, c := range s.Coverage {
				if c.Failed() {
					failed = append(failed, c.Kind)
				}
			}
			if diff := cmp.Diff(tt.failed, failed); diff != "" {
				t.Errorf("%s: failed scopes (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestCollectRestartsExpiredList(t *testing.T) {
	t.Parallel()
	f := newFake()
	var expired atomic.Bool
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != deployments || r.URL.Query().Get("continue") == "" || expired.Swap(true) {
			return false
		}
		f.put("deployments", "shop", "new", `"spec":{}`)
		refuse(w, http.StatusGone, "the provided continue parameter is too old")
		return true
	}
	s, err := newTestCluster(t, f, func(c *Config) { c.PageSize = 2 }).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Resources); n != 8 || coverage(s)["Deployment.apps"] != "ok" {
		t.Errorf("after 410: %v, %s", keys(s), coverage(s)["Deployment.apps"])
	}
}

func TestCollectRemovedKind(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.before = at("/apis/example.org/v1/widgets", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.kinds[len(f.kinds)-1].resource == "widgets" {
			f.kinds = f.kinds[:len(f.kinds)-1]
		}
		refuse(w, http.StatusNotFound, "404 page not found")
	})
	s, err := newTestCluster(t, f, nil).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ok, reason := s.Covers("kubernetes/Widget.example.org", "shop"); !ok {
		t.Errorf("a kind that is no longer served is not covered: %s", reason)
	}
}
