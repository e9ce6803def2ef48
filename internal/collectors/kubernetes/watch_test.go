package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A watched is a running watch with its reported snapshots and losses.
type watched struct {
	t    *testing.T
	fake *fake
	c    *cluster
	stop context.CancelFunc
	done chan struct{}

	mu        sync.Mutex
	snapshots []model.Snapshot
	times     []time.Time
	// losses are the reasons, and lostAt the times, of losses that were reported.
	losses []error
	lostAt []time.Time
}

// watchFake collects once, as the daemon does, and then watches.
func watchFake(t *testing.T, f *fake) *watched {
	t.Helper()
	c := newTestCluster(t, f, nil)
	if _, err := c.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return watchCluster(t, f, c)
}

func watchCluster(t *testing.T, f *fake, c *cluster) *watched {
	t.Helper()
	return watchWithin(t.Context(), t, f, c)
}

func watchWithin(ctx context.Context, t *testing.T, f *fake, c *cluster) *watched {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	w := &watched{t: t, fake: f, c: c, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		err := c.Watch(ctx, w.addSnapshot, w.addLoss)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Watch() = %v", err)
		}
	}()
	t.Cleanup(w.end)
	synctest.Wait()
	return w
}

func (w *watched) addSnapshot(s model.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.snapshots = append(w.snapshots, s)
	w.times = append(w.times, time.Now())
}

func (w *watched) addLoss(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.losses = append(w.losses, err)
	w.lostAt = append(w.lostAt, time.Now())
}

func (w *watched) end() {
	w.stop()
	<-w.done
}

// after waits and returns the snapshots that were reported meanwhile.
func (w *watched) after(d time.Duration) []model.Snapshot {
	w.mu.Lock()
	before := len(w.snapshots)
	w.mu.Unlock()
	time.Sleep(d)
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.snapshots[before:]
}

// value returns the spec of an object in the last snapshot, or "absent".
func (w *watched) value(kind, id string) string {
	w.t.Helper()
	if len(w.snapshots) == 0 {
		w.t.Fatal("no snapshot was reported")
	}
	s := w.snapshots[len(w.snapshots)-1]
	i := slices.IndexFunc(s.Resources, func(r model.Resource) bool { return r.Kind == kind && r.ID == id })
	if i < 0 {
		return "absent"
	}
	return s.Resources[i].Value.At("spec").String()
}

const deployment = "kubernetes/Deployment.apps"

func TestWatchReportsChanges(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		change func(*fake)
		kind   string
		id     string
		want   string
	}{
		"edited":  {reason: "an object was changed", change: func(f *fake) { f.put("deployments", "shop", "web", `"spec":{"replicas":9}`) }, kind: deployment, id: "shop/web", want: `{"replicas":9}`},
		"added":   {reason: "an object was created", change: func(f *fake) { f.put("deployments", "shop", "new", `"spec":{"a":1}`) }, kind: deployment, id: "shop/new", want: `{"a":1}`},
		"deleted": {reason: "an object was deleted", change: func(f *fake) { f.remove("deployments", "shop/web") }, kind: deployment, id: "shop/web", want: "absent"},
		"custom":  {reason: "a custom resource was changed", change: func(f *fake) { f.put("widgets", "shop", "w", `"spec":{"size":4}`) }, kind: "kubernetes/Widget.example.org", id: "shop/w", want: `{"size":4}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := watchFake(t, newFake())
				if snapshots := w.after(time.Minute); len(snapshots) > 0 {
					t.Fatalf("%d snapshots were reported without a change", len(snapshots))
				}
				began := time.Now()
				tt.change(w.fake)
				if snapshots := w.after(time.Minute); len(snapshots) != 1 {
					t.Fatalf("%s: %d snapshots, want 1", tt.reason, len(snapshots))
				}
				if got := w.value(tt.kind, tt.id); got != tt.want {
					t.Errorf("%s: %s is %s, want %s", tt.reason, tt.id, got, tt.want)
				}
				if delay := w.times[0].Sub(began); delay > 2*time.Second {
					t.Errorf("%s: reported after %s", tt.reason, delay)
				}
			})
		})
	}
}

func TestWatchIgnoresStatus(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, newFake())
		w.fake.put("nodes", "", "n1", `"spec":{"podCIDR":"10.0.0.0/24"},"status":{"phase":"y"}`)
		w.fake.sendLine("nodes", `{"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"900"}}}`)
		if snapshots := w.after(time.Minute); len(snapshots) > 0 {
			t.Errorf("%d snapshots were reported for a change of status", len(snapshots))
		}
	})
}

func TestWatchGroupsChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, newFake())
		for i := range 50 {
			w.fake.put("deployments", "shop", "web", fmt.Sprintf(`"spec":{"replicas":%d}`, i+10))
			time.Sleep(100 * time.Millisecond)
		}
		w.after(time.Minute)
		if n := len(w.snapshots); n < 4 || n > 8 {
			t.Errorf("%d snapshots in 5 s of changes, want about one a second", n)
		}
		if got := w.value(deployment, "shop/web"); got != `{"replicas":59}` {
			t.Errorf("the last snapshot has %s", got)
		}
	})
}

// onceAtWatch answers the next watch of deployments with the function.
func onceAtWatch(f *fake, answer http.HandlerFunc) {
	var done atomic.Bool
	f.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != deployments || r.URL.Query().Get("watch") == "" || done.Swap(true) {
			return false
		}
		answer(w, r)
		return true
	})
}

func TestWatchRecovers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		breaks func(*fake)
	}{
		"regular end": {reason: "servers end watches regularly", breaks: func(f *fake) { f.closeWatches("deployments") }},
		"410 as an event": {reason: "missed changes are listed", breaks: func(f *fake) {
			expire(f, func() { f.sendLine("deployments", goneEvent); f.closeWatches("deployments") })
		}},
		"410 as the answer": {reason: "missed changes are listed", breaks: func(f *fake) {
			expire(f, func() {
				onceAtWatch(f, func(w http.ResponseWriter, _ *http.Request) { refuse(w, 410, "too old") })
				f.closeWatches("deployments")
			})
		}},
		"not an event":    {reason: "an invalid line only ends the stream", breaks: func(f *fake) { f.sendLine("deployments", `{"hello":1}`) }},
		"truncated event": {reason: "connections break", breaks: func(f *fake) { f.sendLine("deployments", `{"type":"ADDED","obj`); f.closeWatches("deployments") }},
		"500": {reason: "servers restart", breaks: func(f *fake) {
			onceAtWatch(f, func(w http.ResponseWriter, _ *http.Request) { refuse(w, 500, "") })
			f.closeWatches("deployments")
		}},
		"no answer": {reason: "the request times out", breaks: func(f *fake) {
			onceAtWatch(f, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			f.closeWatches("deployments")
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := watchFake(t, newFake())
				tt.breaks(w.fake)
				w.after(2 * time.Minute)
				before := len(w.snapshots)
				began := time.Now()
				w.fake.put("deployments", "shop", "web", `"spec":{"replicas":9}`)
				w.after(time.Minute)
				if got := w.value(deployment, "shop/web"); got != `{"replicas":9}` {
					t.Errorf("%s: the last snapshot has %s", tt.reason, got)
				}
				if len(w.snapshots) != before+1 || w.times[before].Sub(began) > 2*time.Second {
					t.Errorf("%s: %d snapshots after the recovery, at %v", tt.reason, len(w.snapshots)-before, w.times)
				}
			})
		})
	}
}

const goneEvent = `{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}}`

// expire makes a change without an event, as if the event had expired on the server.
func expire(f *fake, breaks func()) {
	f.mu.Lock()
	watchers := f.watchers["deployments"]
	f.watchers["deployments"] = nil
	f.mu.Unlock()
	f.remove("deployments", "shop/db")
	f.mu.Lock()
	f.watchers["deployments"] = watchers
	f.mu.Unlock()
	breaks()
}

func TestWatchListsMissedChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, newFake())
		expire(w.fake, func() { w.fake.sendLine("deployments", goneEvent) })
		w.after(time.Minute)
		if got := w.value(deployment, "shop/db"); got != "absent" {
			t.Errorf("an object that was deleted without an event: %s", got)
		}
	})
}

func TestWatchContinuesFromLastEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var versions []string
		f.before = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == deployments && r.URL.Query().Get("watch") != "" {
				f.mu.Lock()
				versions = append(versions, r.URL.Query().Get("resourceVersion"))
				f.mu.Unlock()
			}
			return false
		}
		w := watchFake(t, f)
		f.put("deployments", "shop", "web", `"spec":{}`)
		w.after(time.Second)
		f.closeWatches("deployments")
		w.after(time.Second)
		f.sendLine("deployments", `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"900"}}}`)
		w.after(time.Second)
		f.closeWatches("deployments")
		w.after(time.Second)
		if want := []string{"108", "109", "900"}; !slices.Equal(versions, want) {
			t.Errorf("watched from %v, want %v: of the list, the event and the bookmark", versions, want)
		}
	})
}

func TestWatchDropsStaleTargets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w := watchFake(t, f)
		f.intercept(at(deployments, func(w http.ResponseWriter, _ *http.Request) { refuse(w, 503, "down") }))
		f.closeWatches("deployments")
		w.after(20 * time.Second)
		f.put("configmaps", "shop", "web", `"data":{"a":"2"}`)
		w.after(time.Second)
		if got := w.value(deployment, "shop/web"); got != `{"replicas":2}` {
			t.Errorf("after a short interruption: %s", got)
		}
		w.after(2 * time.Minute)
		f.put("configmaps", "shop", "web", `"data":{"a":"3"}`)
		w.after(time.Second)
		s := w.snapshots[len(w.snapshots)-1]
		if ok, reason := s.Covers(deployment, "shop"); ok || !strings.Contains(reason, "503") {
			t.Errorf("coverage after a long interruption: %v %q", ok, reason)
		}
		if ok, _ := s.Covers("kubernetes/ConfigMap", "shop"); !ok || w.value(deployment, "shop/web") != "absent" {
			t.Error("another kind is not covered, or the stale kind has resources")
		}
		f.intercept(nil)
		if snapshots := w.after(2 * time.Minute); len(snapshots) != 1 {
			t.Errorf("%d snapshots after the interruption, want 1", len(snapshots))
		}
		s = w.snapshots[len(w.snapshots)-1]
		if ok, reason := s.Covers(deployment, "shop"); !ok || w.value(deployment, "shop/web") != `{"replicas":2}` {
			t.Errorf("the kind is not covered after the interruption: %s", reason)
		}
	})
}

func TestWatchAfterOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w := watchFake(t, f)
		f.intercept(func(w http.ResponseWriter, _ *http.Request) bool { refuse(w, 503, "down"); return true })
		for _, k := range f.served() {
			f.closeWatches(k.resource)
		}
		if snapshots := w.after(10 * time.Minute); len(snapshots) > 0 {
			t.Errorf("%d snapshots were reported during the outage", len(snapshots))
		}
		f.intercept(nil)
		// The first follower whose stream is open wakes the others.
		for f.watching("deployments")+f.watching("configmaps") == 0 {
			w.after(time.Second)
		}
		w.after(time.Second)
		for _, k := range f.served() {
			if n := f.watching(k.resource); n != 1 && slices.Contains(k.verbs, "watch") && k.kind != "Event" {
				t.Errorf("a second later %s has %d watches", k.resource, n)
			}
		}
		if len(w.snapshots) != 1 || len(w.losses) != 1 {
			t.Errorf("the outage was reported %d times, and %d snapshots after it, want one each", len(w.losses), len(w.snapshots))
		}
	})
}

func TestWatchUndecodableObject(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, newFake())
		w.fake.sendLine("deployments", `{"type":"MODIFIED","object":{"kind":"Deployment","apiVersion":"apps/v1",
			"metadata":{"name":"web","namespace":"shop","resourceVersion":"900"},"spec":{"a":1,"a":2}}}`)
		w.after(time.Minute)
		s := w.snapshots[len(w.snapshots)-1]
		if ok, reason := s.Covers(deployment, "shop"); ok || !strings.Contains(reason, "shop/web") {
			t.Errorf("coverage with an undecodable object: %v, %q", ok, reason)
		}
		if got := w.value(deployment, "shop/web"); got != "absent" {
			t.Errorf("the object has its old state: %s", got)
		}
	})
}

func TestWatchForbidden(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != deployments || r.URL.Query().Get("watch") == "" {
				return false
			}
			forbid(w, r)
			return true
		}
		w := watchFake(t, f)
		w.after(10 * time.Minute)
		if n := f.requests("WATCH " + deployments); n != 1 {
			t.Errorf("%d requests for a forbidden watch, want 1", n)
		}
		f.put("configmaps", "shop", "web", `"data":{"a":"2"}`)
		w.after(time.Minute)
		if got := w.value(deployment, "shop/web"); got != `{"replicas":2}` {
			t.Errorf("the objects of the last scan are not kept: %s", got)
		}
	})
}

func TestWatchScansWithoutCollect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.before = func(w http.ResponseWriter, _ *http.Request) bool { refuse(w, 401, "Unauthorized"); return true }
		w := watchCluster(t, f, newTestCluster(t, f, nil))
		if snapshots := w.after(time.Minute); len(snapshots) > 0 {
			t.Errorf("%d snapshots were reported without access", len(snapshots))
		}
		f.intercept(nil)
		if snapshots := w.after(time.Minute); len(snapshots) != 1 || len(snapshots[0].Resources) != 7 {
			t.Errorf("%d snapshots, want one of the first scan", len(snapshots))
		}
	})
}

func TestWatchWaitsForFirstScan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w := watchCluster(t, f, newTestCluster(t, f, nil))
		w.after(time.Second)
		if _, err := w.c.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if snapshots := w.after(time.Hour); len(snapshots) > 0 {
			t.Errorf("the snapshot of Collect was reported %d times", len(snapshots))
		}
		if n := f.requests(deployments); n != 1 {
			t.Errorf("deployments were listed %d times", n)
		}
		f.put("deployments", "shop", "web", `"spec":{"replicas":9}`)
		if snapshots := w.after(2 * time.Second); len(snapshots) != 1 {
			t.Errorf("%d snapshots after a change, want 1", len(snapshots))
		}
	})
}

func TestWatchRepeatsFailedList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.intercept(at(deployments, func(w http.ResponseWriter, _ *http.Request) { refuse(w, 503, "down") }))
		w := watchFake(t, f)
		f.intercept(nil)
		w.after(time.Minute)
		s := w.snapshots[len(w.snapshots)-1]
		if ok, reason := s.Covers(deployment, "shop"); !ok || w.value(deployment, "shop/web") != `{"replicas":2}` {
			t.Errorf("coverage after a repeated list: %v %s", ok, reason)
		}
	})
}

func TestWatchSnapshotsAreIndependent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.kinds = append(f.kinds, fakeKind{"autoscaling", "v1", "hpas", "HorizontalPodAutoscaler", false, readable})
		w := watchFake(t, f)
		f.put("hpas", "shop", "web", `"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}`)
		w.after(time.Minute)
		f.remove("hpas", "shop/web")
		w.after(time.Minute)
		delegated := func(s model.Snapshot) int {
			i := slices.IndexFunc(s.Resources, func(r model.Resource) bool { return r.Kind == deployment && r.ID == "shop/web" })
			return len(s.Resources[i].Delegated)
		}
		if len(w.snapshots) != 2 || delegated(w.snapshots[0]) != 1 || delegated(w.snapshots[1]) != 0 {
			t.Errorf("%d snapshots after an autoscaler was created and deleted", len(w.snapshots))
		}
	})
}
