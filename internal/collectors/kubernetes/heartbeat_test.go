package kubernetes

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// hang does not answer a request until its context ends.
func hang(_ http.ResponseWriter, r *http.Request) bool {
	<-r.Context().Done()
	return true
}

// onlyVersion limits an answer to the probes of a heartbeat.
func onlyVersion(answer func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool { return r.URL.Path == "/version" && answer(w, r) }
}

func answering(code int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool { refuse(w, code, "no"); return true }
}

func TestLossIsReported(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		answer func(http.ResponseWriter, *http.Request) bool
		breaks bool
		want   string
	}{
		"no answer":                 {reason: "streams stay open", answer: hang, want: "5s"},
		"no answer, broken streams": {reason: "streams break", answer: hang, breaks: true, want: "5s"},
		"503":                       {reason: "a gateway answers for an unreachable server", answer: answering(503), breaks: true, want: "503"},
		"502":                       {reason: "a gateway answers with another status", answer: answering(502), want: "502"},
		"504":                       {reason: "a gateway answers with another status", answer: answering(504), want: "504"},
		"401":                       {reason: "a revoked token leaves streams open", answer: answering(401), want: "401"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				w := watchFake(t, f)
				w.after(time.Hour + 1700*time.Millisecond)
				began := time.Now()
				f.intercept(tt.answer)
				if tt.breaks {
					for _, k := range f.served() {
						f.closeWatches(k.resource)
					}
				}
				if snapshots := w.after(time.Hour); len(snapshots) > 0 {
					t.Errorf("%s: %d snapshots were reported during the outage", tt.reason, len(snapshots))
				}
				if len(w.losses) != 1 || !strings.Contains(w.losses[0].Error(), tt.want) {
					t.Fatalf("%s: losses %v, want one with %q", tt.reason, w.losses, tt.want)
				}
				if took := w.lostAt[0].Sub(began); took > 25*time.Second || took < lostAfter {
					t.Errorf("%s: reported after %s", tt.reason, took)
				}
				f.intercept(nil)
				if snapshots := w.after(3 * time.Minute); len(snapshots) != 1 || len(snapshots[0].Resources) != 7 {
					t.Errorf("%s: %d snapshots were reported after the outage", tt.reason, len(snapshots))
				}
				f.intercept(tt.answer)
				if w.after(time.Minute); len(w.losses) != 2 {
					t.Errorf("%s: the second outage was not reported: %v", tt.reason, w.losses)
				}
			})
		})
	}
}

func TestNoLoss(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		live   func(f *fake, w *watched)
	}{
		"streams end": {"API servers close streams regularly", func(f *fake, w *watched) {
			for range 100 {
				for _, k := range f.served() {
					f.closeWatches(k.resource)
				}
				w.after(7 * time.Second)
			}
		}},
		"restarts": {"an API server restarts within seconds", func(f *fake, w *watched) {
			for range 20 {
				breakAll(f)
				w.after(9 * time.Second)
				f.intercept(nil)
				w.after(time.Minute)
			}
		}},
		"one connection hangs": {"the second attempt uses a new connection", func(f *fake, w *watched) {
			var probes atomic.Int64 // each request has its own goroutine
			f.intercept(onlyVersion(func(w http.ResponseWriter, r *http.Request) bool {
				return probes.Add(1)%2 == 1 && hang(w, r)
			}))
			w.after(time.Hour)
		}},
		"version forbidden": {"the server answers", func(f *fake, w *watched) {
			f.intercept(onlyVersion(answering(403)))
			w.after(time.Hour)
		}},
		"version missing": {"some servers do not serve /version", func(f *fake, w *watched) {
			f.intercept(onlyVersion(answering(404)))
			w.after(time.Hour)
		}},
		"busy": {"the server answers with a rejection", func(f *fake, w *watched) {
			f.intercept(onlyVersion(answering(429)))
			w.after(time.Hour)
		}},
		"no answer, with events": {"events show that the server is alive", func(f *fake, w *watched) {
			f.intercept(onlyVersion(hang))
			for i := range 100 {
				f.put("deployments", "shop", "web", `"spec":{"replicas":`+strings.Repeat("1", i%5+1)+`}`)
				w.after(4 * time.Second)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				w := watchFake(t, f)
				tt.live(f, w)
				if len(w.losses) > 0 {
					t.Errorf("%s: losses %v", tt.reason, w.losses)
				}
			})
		})
	}
}

func TestLossBeforeFirstScan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.intercept(hang)
		w := watchCluster(t, f, newTestCluster(t, f, nil))
		w.after(29 * time.Second)
		if len(w.losses) != 1 {
			t.Fatalf("losses %v, want one", w.losses)
		}
		f.intercept(nil)
		if snapshots := w.after(3 * time.Minute); len(snapshots) != 1 {
			t.Errorf("%d snapshots were reported", len(snapshots))
		}
	})
}

// TestProbesReadNewCredentials checks that the kubeconfig is read again while the credentials
// are rejected.
func TestProbesReadNewCredentials(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := newTestCluster(t, f, nil)
		made, connect := 0, c.connectSeparately
		c.connectSeparately = func() (*client, error) { made++; return connect() }
		if _, err := c.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := watchCluster(t, f, c)
		w.after(time.Hour)
		if made != 1 {
			t.Errorf("%d clients were created for the probes of an hour", made)
		}
		f.intercept(answering(401))
		w.after(10 * time.Minute)
		if made < 5 || made > 11 {
			t.Errorf("%d clients were created in ten minutes of rejections", made)
		}
	})
}
