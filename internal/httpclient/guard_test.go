package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/httpclient"
)

// TestGuard holds that every answer counts against the look of its request, errors and
// compressed ones too, and that those of other requests do not.
func TestGuard(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/error" {
			w.WriteHeader(http.StatusBadGateway)
		}
		fmt.Fprint(w, "["+strings.Repeat("{},", 1000)+"{}]")
	}))
	t.Cleanup(server.Close)
	client := &http.Client{Transport: httpclient.Guard(http.DefaultTransport)}
	for name, tc := range map[string]struct {
		reason, path string
		limit        int64
		fails        bool
	}{
		"fits":     {"there is room", "/", 1 << 20, false},
		"too much": {"1001 maps need more", "/", 100 << 10, true},
		"error":    {"so they do in an error", "/error", 100 << 10, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := budget.NewTotal(1<<30).Scope(t.Context(), tc.limit)
			_, err := budget.Run(ctx, func(ctx context.Context) (int64, error) { return get(ctx, client, server.URL+tc.path) })
			if _, ok := errors.AsType[*budget.Exceeded](err); ok != tc.fails || err != nil && !ok {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
	if _, err := get(t.Context(), client, server.URL); err != nil {
		t.Errorf("outside of a look: %v", err)
	}
}

func get(ctx context.Context, client *http.Client, url string) (int64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, answer.Body)
	return n, errors.Join(err, answer.Body.Close())
}
