package kubernetes

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/collectortest"
	"github.com/driftd/driftd/internal/httpclient"
)

func TestContract(t *testing.T) {
	t.Parallel()
	weak := newFake()
	weak.before = func(w http.ResponseWriter, r *http.Request) bool {
		path := r.URL.Path
		if path == "/version" || path == "/api" || path == "/apis" || strings.HasPrefix(path, "/openapi") {
			return false
		}
		refuse(w, http.StatusForbidden, `User "bob" cannot list it`)
		return true
	}
	collectortest.Run(t, collectortest.Subject{
		Open: func(t *testing.T, s collectortest.Settings) collectors.Collector {
			t.Helper()
			config := Defaults()
			config.Server, config.Timeout = s.URL, s.Timeout
			config.MaxPageSize, config.MaxObjectSize = s.MaxBody, s.MaxBody
			config.PageSize = 2
			env := testEnv(t)
			env.CacheDir = s.CacheDir
			c, err := open(env, config)
			if err != nil {
				t.Fatal(err)
			}
			quick := c.(*cluster)
			connect := quick.connect
			quick.connect = func() (*client, error) {
				client, err := connect()
				if err == nil {
					client.http = client.http.With(func(l *httpclient.Limits) { l.Backoff = time.Millisecond })
				}
				return client, err
			}
			return c
		},
		Estate: func(order *rand.Rand) http.Handler {
			f := newFake()
			f.order = order
			return f
		},
		Weak: weak,
	})
}
