package kubernetes

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCollectWhileWatching(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w := watchFake(t, f)
		f.mu.Lock()
		f.kinds = append(f.kinds, fakeKind{"new.example.org", "v1", "gadgets", "Gadget", false, readable})
		f.mu.Unlock()
		f.put("gadgets", "shop", "g", `"spec":{"a":1}`)
		w.after(time.Minute)
		if n := f.watching("gadgets"); n != 0 {
			t.Errorf("%d watches of a kind that is not in the catalog", n)
		}
		s, err := w.c.Collect(t.Context())
		if err != nil || len(s.Resources) != 8 {
			t.Fatalf("Collect() = %v, %v", keys(s), err)
		}
		if snapshots := w.after(time.Minute); len(snapshots) > 0 {
			t.Errorf("the snapshot of Collect was reported %d times", len(snapshots))
		}
		f.put("gadgets", "shop", "g", `"spec":{"a":2}`)
		w.after(time.Minute)
		if got := w.value("kubernetes/Gadget.new.example.org", "shop/g"); got != `{"a":2}` {
			t.Errorf("after a change of the new kind: %s", got)
		}
		if n := f.watching("deployments"); n != 1 {
			t.Errorf("%d watches of deployments, want 1", n)
		}
	})
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// withDefinitions returns a fake that serves definitions of custom resources.
func withDefinitions() *fake {
	f := newFake()
	f.kinds = append(f.kinds, fakeKind{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", true, readable})
	return f
}

const gadgetKind = "kubernetes/Gadget.new.example.org"

// define makes the fake serve a new kind with one object.
func define(f *fake) {
	f.mu.Lock()
	f.kinds = append(f.kinds, fakeKind{"new.example.org", "v1", "gadgets", "Gadget", false, readable})
	f.mu.Unlock()
	f.put("gadgets", "shop", "g", `"spec":{"a":1}`)
	f.put("customresourcedefinitions", "", "gadgets.new.example.org", `"spec":{}`)
}

func TestWatchFindsNewKinds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, withDefinitions())
		define(w.fake)
		snapshots := w.after(time.Minute)
		if len(snapshots) != 2 {
			t.Fatalf("%d snapshots, want one with the definition and one with its objects", len(snapshots))
		}
		if covered, _ := snapshots[0].Covers(gadgetKind, "shop"); covered {
			t.Error("a kind that was just defined is covered")
		}
		if covered, reason := snapshots[1].Covers(gadgetKind, "shop"); !covered || w.value(gadgetKind, "shop/g") != `{"a":1}` {
			t.Errorf("the new kind is covered %v (%s), its object is %s", covered, reason, w.value(gadgetKind, "shop/g"))
		}
		if delay := w.times[1].Sub(w.times[0]); delay > 15*time.Second {
			t.Errorf("the second snapshot was reported after %s", delay)
		}
		w.fake.put("gadgets", "shop", "g", `"spec":{"a":2}`)
		w.after(time.Minute)
		if got := w.value(gadgetKind, "shop/g"); got != `{"a":2}` {
			t.Errorf("after a change of the new kind: %s", got)
		}
	})
}

func TestWatchWithForbiddenDefinitions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := withDefinitions()
		f.intercept(at(definitions, forbid))
		w := watchFake(t, f)
		define(f)
		f.put("deployments", "shop", "web", `"spec":{"replicas":9}`)
		snapshots := w.after(time.Minute)
		if len(snapshots) != 1 {
			t.Fatalf("%d snapshots, want 1", len(snapshots))
		}
		if covered, _ := snapshots[0].Covers(gadgetKind, "shop"); covered {
			t.Error("an unknown kind is covered, although definitions are forbidden")
		}
		s, err := w.c.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if covered, _ := s.Covers(gadgetKind, "shop"); !covered {
			t.Error("the kind is not covered by a full scan")
		}
	})
}

func TestWatchRemovedKind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w, logs := watchLogged(t, f)
		f.intercept(at("/apis/example.org/v1/widgets", func(w http.ResponseWriter, _ *http.Request) { refuse(w, 404, "") }))
		f.closeWatches("widgets")
		w.after(time.Hour)
		expectLine(t, logs.lines(), `msg="the API server does not serve the kind any more"`, "kind=kubernetes/Widget.example.org")
		f.remove("widgets", "shop/w")
		f.put("widgets", "shop", "w", `"spec":{"size":9}`)
		f.intercept(nil)
		w.after(15 * time.Second)
		if got := w.value("kubernetes/Widget.example.org", "shop/w"); got != `{"size":9}` {
			t.Errorf("the kind is served again: %s", got)
		}
		f.put("widgets", "shop", "w", `"spec":{"size":10}`)
		w.after(2 * time.Second)
		if got := w.value("kubernetes/Widget.example.org", "shop/w"); got != `{"size":10}` {
			t.Errorf("after a change of the kind: %s", got)
		}
	})
}

const gadgetDefinition = `"spec":{"group":"new.example.org","names":{"kind":"Gadget"},"versions":[{"name":"v1","served":true}]}`

func TestWatchScansForUnservedKinds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := withDefinitions()
		f.put("customresourcedefinitions", "", "gadgets.new.example.org", gadgetDefinition)
		c := newTestCluster(t, f, nil)
		s, err := c.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if covered, reason := s.Covers(gadgetKind, "shop"); covered || !strings.Contains(reason, "kubectl describe crd gadgets.new.example.org") {
			t.Errorf("a kind that is defined and not served yet: covered %v, %q", covered, reason)
		}
		w := watchCluster(t, f, c)
		f.mu.Lock()
		f.kinds = append(f.kinds, fakeKind{"new.example.org", "v1", "gadgets", "Gadget", false, readable})
		f.mu.Unlock()
		f.put("gadgets", "shop", "g", `"spec":{"a":1}`)
		w.after(15 * time.Second)
		if got := w.value(gadgetKind, "shop/g"); got != `{"a":1}` || f.watching("gadgets") != 1 {
			t.Errorf("the kind is served: %s, with %d watches", got, f.watching("gadgets"))
		}
		scans := f.requests("/apis")
		w.after(time.Hour)
		if more := f.requests("/apis") - scans; more > 0 {
			t.Errorf("%d unnecessary scans", more)
		}
	})
}

func TestWatchIncreasesScanPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := withDefinitions()
		f.put("customresourcedefinitions", "", "gadgets.new.example.org", gadgetDefinition)
		w := watchFake(t, f)
		w.after(time.Hour)
		if scans := f.requests("/apis"); scans < 5 || scans > 15 {
			t.Errorf("%d scans in an hour for a kind that is never served", scans)
		}
	})
}
