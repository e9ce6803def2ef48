package server

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/driftd/driftd/internal/trigger"
)

// Bounds of requests to /hooks/: senders may be far away and bodies large. Hooks have slots of
// their own, so that slow senders do not delay other requests.
const (
	maxHooks    = 16
	hookTimeout = 30 * time.Second
)

// Bounds of requests to /hooks/audit/: a few servers send many events per request, and repeat
// rejected requests.
const (
	maxAudits    = 4
	maxAuditBody = 64 << 20
)

// withHooks serves hooks, and all other paths with next.
func (a API) withHooks(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", next)
	if a.Hooks != nil {
		mux.Handle("POST /hooks/{name}", a.guard(bounds{maxHooks, trigger.MaxBody}, a.hook(a.Hooks)))
	}
	if a.Audit != nil {
		mux.Handle("POST /hooks/audit/{source}", a.guard(bounds{maxAudits, maxAuditBody}, a.hook(a.Audit)))
	}
	return mux
}

// hook extends the read deadline of a request for its body.
func (a API) hook(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		until := time.Now().Add(hookTimeout)
		err := Supported(errors.Join(control.SetReadDeadline(until), control.SetWriteDeadline(until.Add(writeTimeout))))
		if err != nil {
			a.reply(w, r, nil, fmt.Errorf("limit the time of a request: %w", err))
			return
		}
		next.ServeHTTP(w, r)
	})
}
