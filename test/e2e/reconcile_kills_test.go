//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/reconcile"
)

// A writeProxy passes requests to the API server, as an administrator. It counts the patches that are no dry runs,
// and calls trap before or after one of them.
type writeProxy struct {
	*httptest.Server

	mu     sync.Mutex
	writes int
	// at is the number of the write that is trapped, and after whether trap is called when the API server has
	// answered. The answer is dropped.
	at    int
	after bool
	trap  func()
}

func newWriteProxy(t *testing.T, at int, after bool) *writeProxy {
	t.Helper()
	to, err := url.Parse(cluster.URL())
	if err != nil {
		t.Fatal(err)
	}
	p := &writeProxy{at: at, after: after, trap: func() {}}
	forward := &httputil.ReverseProxy{Transport: cluster.Client().Transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.traps(r) {
			forward.ServeHTTP(w, r)
			return
		}
		if p.after {
			forward.ServeHTTP(httptest.NewRecorder(), r)
		}
		p.trap()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(p.Close)
	return p
}

// traps reports whether a request is the one that is trapped.
func (p *writeProxy) traps(r *http.Request) bool {
	if r.Method != http.MethodPatch || r.URL.Query().Get("dryRun") != "" {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes++
	return p.writes == p.at
}

// generation returns the generation of the Deployment, which counts the changes of its spec.
func (i acting) generation() string {
	i.t.Helper()
	out, err := exec.Command(cluster.Kubectl(), "--kubeconfig", i.path("kubeconfig"), "get", "deployment/web", "-o", "jsonpath={.metadata.generation}").CombinedOutput()
	if err != nil {
		i.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// The daemon is killed, or an answer is lost, before and after each write of an action: of the patch, and of the
// one that hands the fields back. Afterwards it is known whether the patch took effect, it did so once at most, and the
// pipeline can apply.
func TestReconcileKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at          int
		after, kill bool
		// put is whether the Deployment is put back.
		put bool
	}{
		"killed before the patch":       {1, false, true, false},
		"killed after the patch":        {1, true, true, true},
		"killed before the hand-back":   {2, false, true, true},
		"killed after the hand-back":    {2, true, true, true},
		"request of the patch lost":     {1, false, false, false},
		"answer of the patch lost":      {1, true, false, true},
		"request of the hand-back lost": {2, false, false, true},
		"answer of the hand-back lost":  {2, true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := newWriteProxy(t, c.at, c.after)
			i := installActing(t, "approve", proxy)
			d := i.serve()
			d.awaitFindings()
			i.kubectl("set", "image", "deployment/web", "web=web:evil")
			before := i.generation()
			a := d.awaitAction(reconcile.Proposed)
			if c.kill {
				proxy.trap = d.kill
			}
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				d.post("alice", "/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": a.Digest})
			}()
			<-answered
			if c.kill {
				d = i.serve()
			}
			after := d.awaitEnd(a.ID)
			want, image := reconcile.Failed, "web:evil"
			if c.put {
				want, image = reconcile.Converged, "web:1.4"
			}
			if got := i.image(); after.State != want || got != image {
				t.Fatalf("the action is %s (%s), and the image %s", after.State, after.Outcome, got)
			}
			if got := i.generation(); (got != before) != c.put {
				t.Errorf("the generation was %s and is %s", before, got)
			}
			if c.put {
				i.write("deploy/app.yaml", strings.Replace(i.manifests(), "web:1.4", "web:1.5", 1))
				i.commit()
				i.pipeline()
				d.awaitFindings()
			}
		})
	}
}

// post sends a request as a user to a daemon that may be killed meanwhile.
func (d *daemon) post(user, path string, request map[string]string) {
	values, err := json.Marshal(request)
	if err != nil {
		d.t.Error(err)
		return
	}
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, "http://"+d.address+path, strings.NewReader(string(values)))
	if err != nil {
		d.t.Error(err)
		return
	}
	r.SetBasicAuth(user, "right-"+user)
	if answer, err := http.DefaultClient.Do(r); err == nil {
		_ = answer.Body.Close()
	}
}

// awaitEnd waits until an action is over.
func (d *daemon) awaitEnd(id string) reconcile.Action {
	d.t.Helper()
	var a reconcile.Action
	d.eventually(startTimeout, "the end of action "+id, func() error {
		body, err := d.get("/api/v1/actions/" + id)
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(body), &a); err != nil {
			return err
		}
		if a.State.IsOpen() {
			return fmt.Errorf("it is %s", a.State)
		}
		return nil
	})
	return a
}
