package cli

import (
	"io"
	"net/http"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/daemon"
)

// listeners returns what serves the requests of sources that tell what happens
// there, by their names.
func listeners(sources []daemon.Source) map[string]http.Handler {
	found := map[string]http.Handler{}
	for _, source := range sources {
		listener, ok := source.Collector.(collectors.Listener)
		if !ok {
			continue
		}
		if hook := listener.Hook(); hook != nil {
			found[source.Name] = hook
		}
	}
	return found
}

// listen lets a source tell whichever generation is in force.
func (s *service) listen(w http.ResponseWriter, r *http.Request) {
	if hook := s.current.Load().listeners[r.PathValue("source")]; hook != nil {
		hook.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, `{"error":"nobody listens to such a source","hint":"see audit_webhook in the settings of its sources"}`+"\n")
}
