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
			t.Errorf("%d watches of a kind that nobody knows of", n)
		}
		s, err := w.c.Collect(t.Context())
		if err != nil || len(s.Resources) != 8 {
			t.Fatalf("Collect() = %v, %v", keys(s), err)
		}
		if told := w.after(time.Minute); len(told) > 0 {
			t.Errorf("what Collect returns was told %d times more", len(told))
		}
		f.put("gadgets", "shop", "g", `"spec":{"a":2}`)
		w.after(time.Minute)
		if got := w.value("kubernetes/Gadget.new.example.org", "shop/g"); got != `{"a":2}` {
			t.Errorf("the new kind is followed: %s", got)
		}
		if n := f.watching("deployments"); n != 1 {
			t.Errorf("%d watches of deployments: the old ones must end", n)
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
		told := w.after(time.Minute)
		if len(told) != 2 {
			t.Fatalf("told %d times, want the definition, and then its objects", len(told))
		}
		if covered, _ := told[0].Covers(gadgetKind, "shop"); covered {
			t.Error("a kind that has just been defined counts as not served")
		}
		if covered, reason := told[1].Covers(gadgetKind, "shop"); !covered || w.value(gadgetKind, "shop/g") != `{"a":1}` {
			t.Errorf("the new kind is covered %v (%s), its object is %s", covered, reason, w.value(gadgetKind, "shop/g"))
		}
		if late := w.times[1].Sub(w.times[0]); late > 15*time.Second {
			t.Errorf("it took %s", late)
		}
		w.fake.put("gadgets", "shop", "g", `"spec":{"a":2}`)
		w.after(time.Minute)
		if got := w.value(gadgetKind, "shop/g"); got != `{"a":2}` {
			t.Errorf("the new kind is followed: %s", got)
		}
	})
}

func TestWatchThatCannotSeeNewKinds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := withDefinitions()
		f.intercept(at(definitions, forbid))
		w := watchFake(t, f)
		define(f)
		f.put("deployments", "shop", "web", `"spec":{"replicas":9}`)
		told := w.after(time.Minute)
		if len(told) != 1 {
			t.Fatalf("told %d times", len(told))
		}
		if covered, _ := told[0].Covers(gadgetKind, "shop"); covered {
			t.Error("nobody can know that the kind is not served")
		}
		s, err := w.c.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if covered, _ := s.Covers(gadgetKind, "shop"); !covered {
			t.Error("a full look knows")
		}
	})
}

func TestWatchKindThatIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w, book := watchLogged(t, f)
		f.intercept(at("/apis/example.org/v1/widgets", func(w http.ResponseWriter, _ *http.Request) { refuse(w, 404, "") }))
		f.closeWatches("widgets")
		w.after(time.Hour)
		expectLine(t, book.lines(), `msg="kind is gone: the API server does not serve it any more"`, "kind=kubernetes/Widget.example.org")
		f.remove("widgets", "shop/w")
		f.put("widgets", "shop", "w", `"spec":{"size":9}`)
		f.intercept(nil)
		w.after(15 * time.Second)
		if got := w.value("kubernetes/Widget.example.org", "shop/w"); got != `{"size":9}` {
			t.Errorf("it came back, and its object is %s", got)
		}
		f.put("widgets", "shop", "w", `"spec":{"size":10}`)
		w.after(2 * time.Second)
		if got := w.value("kubernetes/Widget.example.org", "shop/w"); got != `{"size":10}` {
			t.Errorf("it is not followed again: %s", got)
		}
	})
}

const gadgetDefinition = `"spec":{"group":"new.example.org","names":{"kind":"Gadget"},"versions":[{"name":"v1","served":true}]}`

func TestWatchAwaitsDefinedKinds(t *testing.T) {
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
			t.Errorf("it is served now, and its object is %s, with %d watches", got, f.watching("gadgets"))
		}
		looks := f.requests("/apis")
		w.after(time.Hour)
		if more := f.requests("/apis") - looks; more > 0 {
			t.Errorf("looked %d times more", more)
		}
	})
}

func TestWatchAwaitsWithPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := withDefinitions()
		f.put("customresourcedefinitions", "", "gadgets.new.example.org", gadgetDefinition)
		w := watchFake(t, f)
		w.after(time.Hour)
		if looks := f.requests("/apis"); looks < 5 || looks > 15 {
			t.Errorf("looked %d times in an hour for a kind that never comes", looks)
		}
	})
}
