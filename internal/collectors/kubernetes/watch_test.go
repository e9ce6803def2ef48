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

// A watched is a watch that runs, with what it told.
type watched struct {
	t    *testing.T
	fake *fake
	c    *cluster
	stop context.CancelFunc
	done chan struct{}

	mu    sync.Mutex
	told  []model.Snapshot
	times []time.Time
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
		err := c.Watch(ctx, w.tell, w.lose)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Watch() = %v", err)
		}
	}()
	t.Cleanup(w.end)
	synctest.Wait()
	return w
}

func (w *watched) tell(s model.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, s)
	w.times = append(w.times, time.Now())
}

func (w *watched) lose(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.losses = append(w.losses, err)
	w.lostAt = append(w.lostAt, time.Now())
}

func (w *watched) end() {
	w.stop()
	<-w.done
}

// after lets time pass, and returns what was told since.
func (w *watched) after(d time.Duration) []model.Snapshot {
	w.mu.Lock()
	before := len(w.told)
	w.mu.Unlock()
	time.Sleep(d)
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told[before:]
}

// value returns an object as the last snapshot has it.
func (w *watched) value(kind, id string) string {
	w.t.Helper()
	if len(w.told) == 0 {
		w.t.Fatal("nothing was told")
	}
	s := w.told[len(w.told)-1]
	i := slices.IndexFunc(s.Resources, func(r model.Resource) bool { return r.Kind == kind && r.ID == id })
	if i < 0 {
		return "absent"
	}
	return s.Resources[i].Value.At("spec").String()
}

const deployment = "kubernetes/Deployment.apps"

func TestWatchTellsChanges(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		change func(*fake)
		kind   string
		id     string
		want   string
	}{
		"edited":  {reason: "an edit is drift", change: func(f *fake) { f.put("deployments", "shop", "web", `"spec":{"replicas":9}`) }, kind: deployment, id: "shop/web", want: `{"replicas":9}`},
		"added":   {reason: "so is what is new", change: func(f *fake) { f.put("deployments", "shop", "new", `"spec":{"a":1}`) }, kind: deployment, id: "shop/new", want: `{"a":1}`},
		"deleted": {reason: "and what is gone", change: func(f *fake) { f.remove("deployments", "shop/web") }, kind: deployment, id: "shop/web", want: "absent"},
		"custom":  {reason: "custom resources are followed too", change: func(f *fake) { f.put("widgets", "shop", "w", `"spec":{"size":4}`) }, kind: "kubernetes/Widget.example.org", id: "shop/w", want: `{"size":4}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := watchFake(t, newFake())
				if told := w.after(time.Minute); len(told) > 0 {
					t.Fatalf("nothing happened, and %d snapshots were told", len(told))
				}
				began := time.Now()
				tt.change(w.fake)
				if told := w.after(time.Minute); len(told) != 1 {
					t.Fatalf("%s: told %d times", tt.reason, len(told))
				}
				if got := w.value(tt.kind, tt.id); got != tt.want {
					t.Errorf("%s: %s is %s, want %s", tt.reason, tt.id, got, tt.want)
				}
				if late := w.times[0].Sub(began); late > 2*time.Second {
					t.Errorf("%s: told after %s", tt.reason, late)
				}
			})
		})
	}
}

func TestWatchIsSilentAboutStatus(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, newFake())
		w.fake.put("nodes", "", "n1", `"spec":{"podCIDR":"10.0.0.0/24"},"status":{"phase":"y"}`)
		w.fake.sendLine("nodes", `{"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"900"}}}`)
		if told := w.after(time.Minute); len(told) > 0 {
			t.Errorf("a status changed, and %d snapshots were told", len(told))
		}
	})
}

func TestWatchGathersAStorm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, newFake())
		for i := range 50 {
			w.fake.put("deployments", "shop", "web", fmt.Sprintf(`"spec":{"replicas":%d}`, i+10))
			time.Sleep(100 * time.Millisecond)
		}
		w.after(time.Minute)
		if n := len(w.told); n < 4 || n > 8 {
			t.Errorf("5 s of changes were told %d times, want about once a second", n)
		}
		if got := w.value(deployment, "shop/web"); got != `{"replicas":59}` {
			t.Errorf("in the end it is %s", got)
		}
	})
}

// onceAtWatch answers the next watch of deployments as the function says.
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
		"ended in order": {reason: "servers end watches all the time", breaks: func(f *fake) { f.closeWatches("deployments") }},
		"410 as an event": {reason: "what was missed is listed", breaks: func(f *fake) {
			expire(f, func() { f.sendLine("deployments", goneEvent); f.closeWatches("deployments") })
		}},
		"410 as the answer": {reason: "what was missed is listed", breaks: func(f *fake) {
			expire(f, func() {
				onceAtWatch(f, func(w http.ResponseWriter, _ *http.Request) { refuse(w, 410, "too old") })
				f.closeWatches("deployments")
			})
		}},
		"nonsense":      {reason: "what is no event breaks the stream and no more", breaks: func(f *fake) { f.sendLine("deployments", `{"hello":1}`) }},
		"half an event": {reason: "connections break", breaks: func(f *fake) { f.sendLine("deployments", `{"type":"ADDED","obj`); f.closeWatches("deployments") }},
		"500": {reason: "servers restart", breaks: func(f *fake) {
			onceAtWatch(f, func(w http.ResponseWriter, _ *http.Request) { refuse(w, 500, "") })
			f.closeWatches("deployments")
		}},
		"an event that hangs": {reason: "the answer must begin", breaks: func(f *fake) {
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
				told := len(w.told)
				began := time.Now()
				w.fake.put("deployments", "shop", "web", `"spec":{"replicas":9}`)
				w.after(time.Minute)
				if got := w.value(deployment, "shop/web"); got != `{"replicas":9}` {
					t.Errorf("%s: afterwards it is %s", tt.reason, got)
				}
				if len(w.told) != told+1 || w.times[told].Sub(began) > 2*time.Second {
					t.Errorf("%s: afterwards told %d times, at %v", tt.reason, len(w.told)-told, w.times)
				}
			})
		})
	}
}

const goneEvent = `{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}}`

// expire makes a change that no watch tells, as when it fell out of history.
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

func TestWatchListsWhatItMissed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, newFake())
		expire(w.fake, func() { w.fake.sendLine("deployments", goneEvent) })
		w.after(time.Minute)
		if got := w.value(deployment, "shop/db"); got != "absent" {
			t.Errorf("what was deleted meanwhile is %s", got)
		}
	})
}

func TestWatchGoesOnFromItsLastEvent(t *testing.T) {
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
			t.Errorf("watched from %v, want %v: the list, the event, the bookmark", versions, want)
		}
	})
}

func TestWatchDoubtsWhatItCannotFollow(t *testing.T) {
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
			t.Errorf("after a short break it is %s", got)
		}
		w.after(2 * time.Minute)
		f.put("configmaps", "shop", "web", `"data":{"a":"3"}`)
		w.after(time.Second)
		s := w.told[len(w.told)-1]
		if ok, reason := s.Covers(deployment, "shop"); ok || !strings.Contains(reason, "503") {
			t.Errorf("after a long break the kind is covered: %v %q", ok, reason)
		}
		if ok, _ := s.Covers("kubernetes/ConfigMap", "shop"); !ok || w.value(deployment, "shop/web") != "absent" {
			t.Error("the other kinds are, and of this one nothing is known")
		}
		f.intercept(nil)
		if told := w.after(2 * time.Minute); len(told) != 1 {
			t.Errorf("that it works again was told %d times", len(told))
		}
		s = w.told[len(w.told)-1]
		if ok, reason := s.Covers(deployment, "shop"); !ok || w.value(deployment, "shop/web") != `{"replicas":2}` {
			t.Errorf("it works again, and the kind is not covered: %s", reason)
		}
	})
}

func TestWatchOutlivesItsServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w := watchFake(t, f)
		f.intercept(func(w http.ResponseWriter, _ *http.Request) bool { refuse(w, 503, "down"); return true })
		for _, k := range f.served() {
			f.closeWatches(k.resource)
		}
		if told := w.after(10 * time.Minute); len(told) > 0 {
			t.Errorf("a server that is away was told %d times", len(told))
		}
		f.intercept(nil)
		// Whoever finds it back first wakes the others.
		for f.watching("deployments")+f.watching("configmaps") == 0 {
			w.after(time.Second)
		}
		w.after(time.Second)
		for _, k := range f.served() {
			if n := f.watching(k.resource); n != 1 && slices.Contains(k.verbs, "watch") && k.kind != "Event" {
				t.Errorf("a second later %s has %d watches", k.resource, n)
			}
		}
		if len(w.told) != 1 || len(w.losses) != 1 {
			t.Errorf("the outage was reported %d times, and %d snapshots after it, want one each", len(w.losses), len(w.told))
		}
	})
}

func TestWatchSpoiledObject(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, newFake())
		w.fake.sendLine("deployments", `{"type":"MODIFIED","object":{"kind":"Deployment","apiVersion":"apps/v1",
			"metadata":{"name":"web","namespace":"shop","resourceVersion":"900"},"spec":{"a":1,"a":2}}}`)
		w.after(time.Minute)
		s := w.told[len(w.told)-1]
		if ok, reason := s.Covers(deployment, "shop"); ok || !strings.Contains(reason, "shop/web") {
			t.Errorf("an object that cannot be decoded: covered %v, %q", ok, reason)
		}
		if got := w.value(deployment, "shop/web"); got != "absent" {
			t.Errorf("its old state is kept: %s", got)
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
			t.Errorf("asked %d times for what is forbidden", n)
		}
		f.put("configmaps", "shop", "web", `"data":{"a":"2"}`)
		w.after(time.Minute)
		if got := w.value(deployment, "shop/web"); got != `{"replicas":2}` {
			t.Errorf("what the last look found is %s", got)
		}
	})
}

func TestWatchBeginsByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.before = func(w http.ResponseWriter, _ *http.Request) bool { refuse(w, 401, "Unauthorized"); return true }
		w := watchCluster(t, f, newTestCluster(t, f, nil))
		if told := w.after(time.Minute); len(told) > 0 {
			t.Errorf("nothing could be read, and %d snapshots were told", len(told))
		}
		f.intercept(nil)
		if told := w.after(time.Minute); len(told) != 1 || len(told[0].Resources) != 7 {
			t.Errorf("the first look was told %d times", len(told))
		}
	})
}

func TestWatchWaitsForTheFirstLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w := watchCluster(t, f, newTestCluster(t, f, nil))
		w.after(time.Second)
		if _, err := w.c.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if told := w.after(time.Hour); len(told) > 0 {
			t.Errorf("what Collect returns was told %d times more", len(told))
		}
		if n := f.requests(deployments); n != 1 {
			t.Errorf("deployments were listed %d times", n)
		}
		f.put("deployments", "shop", "web", `"spec":{"replicas":9}`)
		if told := w.after(2 * time.Second); len(told) != 1 {
			t.Errorf("a change was told %d times", len(told))
		}
	})
}

func TestWatchMendsAFailedList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.intercept(at(deployments, func(w http.ResponseWriter, _ *http.Request) { refuse(w, 503, "down") }))
		w := watchFake(t, f)
		f.intercept(nil)
		w.after(time.Minute)
		s := w.told[len(w.told)-1]
		if ok, reason := s.Covers(deployment, "shop"); !ok || w.value(deployment, "shop/web") != `{"replicas":2}` {
			t.Errorf("a kind that could not be listed at first: %v %s", ok, reason)
		}
	})
}

func TestWatchSnapshotsAreTheirOwn(t *testing.T) {
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
		if len(w.told) != 2 || delegated(w.told[0]) != 1 || delegated(w.told[1]) != 0 {
			t.Errorf("an autoscaler came and went: told %d times", len(w.told))
		}
	})
}
