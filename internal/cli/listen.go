package cli

import (
	"io"
	"net/http"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/daemon"
)

// listeners returns the handlers of the sources that receive audit events, by name.
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

// listen passes audit events to the current generation.
func (s *service) listen(w http.ResponseWriter, r *http.Request) {
	if hook := s.current.Load().listeners[r.PathValue("source")]; hook != nil {
		hook.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, `{"error":"no source of this name receives audit events","hint":"see audit_webhook in the settings of its sources"}`+"\n")
}
