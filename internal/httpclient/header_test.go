package httpclient_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
)

// TestMaxHeader holds that a header is bounded: its fields take many times its text.
func TestMaxHeader(t *testing.T) {
	t.Parallel()
	for size, fits := range map[int]bool{httpclient.MaxHeader / 2: true, httpclient.MaxHeader * 2: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", size))
		}))
		transport := httpclient.NewBase(nil, httpclient.Limits{Concurrency: 1, Timeout: time.Minute})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(r)
		if (err == nil) != fits {
			t.Errorf("a header of %d bytes: %v", size, err)
		}
		if err == nil {
			_ = answer.Body.Close()
		}
		transport.CloseIdleConnections()
		server.Close()
	}
}
