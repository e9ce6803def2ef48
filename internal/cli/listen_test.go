package cli

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/model"
)

// A silent collector receives no events.
type silent struct{}

func (silent) Collect(context.Context) (model.Snapshot, error) { return model.Snapshot{}, nil }

// A deaf collector has no event receiver at the moment.
type deaf struct{ silent }

func (deaf) Hook() http.Handler { return nil }

// A hearer answers with its name.
type hearer struct {
	silent
	name string
}

func (h hearer) Hook() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, h.name) })
}

func TestListen(t *testing.T) {
	t.Parallel()
	s := &service{}
	s.current.Store(&generation{listeners: listeners([]daemon.Source{
		{Name: "silent", Collector: silent{}}, {Name: "deaf", Collector: deaf{}}, {Name: "prod", Collector: hearer{name: "first"}},
	})})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hooks/audit/{source}", s.listen)
	ask := func(source string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks/audit/"+source, http.NoBody)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for _, source := range []string{"silent", "deaf", "other"} {
		if code, body := ask(source); code != http.StatusNotFound || body == "" {
			t.Errorf("source %s without a receiver: %d %s", source, code, body)
		}
	}
	if code, body := ask("prod"); code != http.StatusOK || body != "first" {
		t.Errorf("prod = %d %s", code, body)
	}
	s.current.Store(&generation{listeners: listeners([]daemon.Source{{Name: "prod", Collector: hearer{name: "second"}}})})
	if _, body := ask("prod"); body != "second" {
		t.Errorf("after a reload, prod = %s", body)
	}
}
