package trigger

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// ServeHTTP answers a request to the trigger that the path's {name} names: 202
// when a scan will begin. A refusal tells no more than it must; the log does.
func (q *Queue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	err := q.Accept(name, r.Header, r.Body)
	if err == nil {
		q.answer(w, r, http.StatusAccepted, map[string]any{"accepted": true})
		return
	}
	code, message, hint := refusal(err)
	q.logRefusal(r.Context(), name, code, err)
	q.answer(w, r, code, map[string]any{"error": message, "hint": hint})
}

// refusal returns what a refused request is answered with.
func refusal(err error) (code int, message, hint string) {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, ErrUnknown):
		return http.StatusNotFound, "there is no such trigger", "see triggers in the configuration of driftd"
	case errors.Is(err, ErrUnsigned):
		return http.StatusUnauthorized, "the request is not signed as it should be", "the log of driftd says more"
	case errors.Is(err, ErrReplayed):
		return http.StatusConflict, "this request was accepted before", "a new scan needs a new request"
	case errors.Is(err, ErrTooLarge), errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge, "the request is " + ErrTooLarge.Error(), "send less"
	case errors.Is(err, ErrBroken):
		return http.StatusBadRequest, "the request broke off", "send it again"
	}
	return http.StatusInternalServerError, "the request cannot be checked", "the log of driftd says why"
}

// patience is how long nothing more is logged of one kind of refusal by a
// trigger: everybody may send it requests.
const patience = time.Minute

// logRefusal logs why a request was refused.
func (q *Queue) logRefusal(ctx context.Context, name string, code int, why error) {
	level := slog.LevelDebug
	q.mu.Lock()
	if p, ok := q.pending[name]; ok && q.Now().Sub(p.logged[code]).Abs() >= patience {
		level, p.logged[code] = slog.LevelWarn, q.Now()
	}
	q.mu.Unlock()
	q.Log.Log(ctx, level, "request to a trigger refused", "trigger", name, "err", why)
}

func (q *Queue) answer(w http.ResponseWriter, r *http.Request, code int, answer map[string]any) {
	body, err := json.Marshal(answer)
	if err != nil {
		q.Log.ErrorContext(r.Context(), "answer not encoded", "err", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if _, err := w.Write(append(body, '\n')); err != nil {
		q.Log.DebugContext(r.Context(), "answer not delivered", "err", err)
	}
}
