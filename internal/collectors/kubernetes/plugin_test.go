package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/kubeapi"
)

// A stuck transport answers when free is closed, even if the request's context ends before.
type stuck struct{ free chan struct{} }

func (s stuck) RoundTrip(*http.Request) (*http.Response, error) {
	<-s.free
	return nil, errors.New("the plugin failed")
}

func TestCollectReturnsDespitePlugin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		next := stuck{make(chan struct{})}
		defer close(next.free)
		c := newTestCluster(t, newFake(), nil)
		running := make(chan struct{}, 3)
		c.connect = func() (*client, error) {
			return newTestClient(c.config, &kubeapi.PluginTransport{Command: "login", Next: next, Running: running}), nil
		}
		for range 5 {
			began := time.Now()
			_, err := c.Collect(t.Context())
			if err == nil || !strings.Contains(err.Error(), "the plugin login timed out; the kubeconfig's credential plugin failed") {
				t.Errorf("Collect() = %v", err)
			}
			if took := time.Since(began); took > c.config.Timeout+2*kubeapi.PluginGrace {
				t.Errorf("Collect() took %s", took)
			}
		}
		if len(running) != cap(running) {
			t.Errorf("%d requests wait, want %d", len(running), cap(running))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := c.Collect(ctx); err == nil || time.Since(began) > 5*time.Second+kubeapi.PluginGrace {
			t.Errorf("Collect() = %v after %s", err, time.Since(began))
		}
	})
}

func TestPluginAnswersPassThrough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c, running := newTestCluster(t, f, nil), make(chan struct{}, kubeapi.MaxRoundTrips)
		c.connect = func() (*client, error) {
			return newTestClient(c.config, &kubeapi.PluginTransport{Command: "login", Next: memory{f}, Running: running}), nil
		}
		s, err := c.Collect(t.Context())
		if err != nil || len(s.Resources) != 7 || len(running) != 0 {
			t.Errorf("Collect() = %v, %v, with %d requests left", keys(s), err, len(running))
		}
	})
}

func TestRealPluginThatHangs(t *testing.T) {
	t.Parallel()
	now := time.Now()
	p := certify(t, now.Add(-time.Hour), now.Add(time.Hour))
	// The plugin hangs until the test's folder is removed.
	flag := filepath.Join(t.TempDir(), "hang")
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	user := fmt.Sprintf(`exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never,
  args: ["-c", "while [ -e %s ]; do sleep 0.1; done"]}`, flag)
	config := Defaults()
	config.Kubeconfig = writeKubeconfig(t, serveTLS(t, p, newFake()).URL, p.cert, user)
	config.Timeout = 200 * time.Millisecond
	_, err := openCluster(t, config).Collect(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the plugin sh timed out") {
		t.Errorf("Collect() = %v", err)
	}
}
