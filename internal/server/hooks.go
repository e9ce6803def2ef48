package server

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/driftd/driftd/internal/trigger"
)

// Bounds of requests to /hooks/: many senders are far away, and what they send
// may be large. They have slots of their own, so that slow ones hold up nobody
// who asks.
const (
	maxHooks    = 16
	hookTimeout = 30 * time.Second
)

// withHooks serves hooks beside what next serves.
func (a API) withHooks(next http.Handler) http.Handler {
	if a.Hooks == nil {
		return next
	}
	mux := http.NewServeMux()
	mux.Handle("/", next)
	mux.Handle("POST /hooks/{name}", a.guard(bounds{maxHooks, trigger.MaxBody}, http.HandlerFunc(a.hook)))
	return mux
}

// hook gives a request the time that its body may take.
func (a API) hook(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	until := time.Now().Add(hookTimeout)
	err := supported(errors.Join(control.SetReadDeadline(until), control.SetWriteDeadline(until.Add(writeTimeout))))
	if err != nil {
		a.reply(w, r, nil, fmt.Errorf("limit the time of a request: %w", err))
		return
	}
	a.Hooks.ServeHTTP(w, r)
}
