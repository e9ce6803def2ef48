package trigger

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// ServeHTTP handles a request to the trigger with the path value {name}. It responds with 202 if a scan
// will start. The response to a refused request contains no details; they are logged.
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

// refusal returns the status, message and hint that answer a refused request.
func refusal(err error) (code int, message, hint string) {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, ErrUnknown):
		return http.StatusNotFound, "unknown trigger", "check the setting triggers of driftd"
	case errors.Is(err, ErrUnsigned):
		return http.StatusUnauthorized, "invalid signature", "see the log of driftd for the reason"
	case errors.Is(err, ErrReplayed):
		return http.StatusConflict, "this request was already accepted", "send a new request for a new scan"
	case errors.Is(err, ErrTooLarge), errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge, "request " + ErrTooLarge.Error(), "send a smaller request"
	case errors.Is(err, ErrBroken):
		return http.StatusBadRequest, "the request body was incomplete", "send the request again"
	}
	return http.StatusInternalServerError, "the signature could not be checked", "see the log of driftd for the reason"
}

// refusalLogInterval is how often a trigger logs each kind of refusal at most: anyone can
// send requests to it.
const refusalLogInterval = time.Minute

// logRefusal logs why a request was refused, as a warning at most once per
// refusalLogInterval for each trigger and status, otherwise as a debug message.
func (q *Queue) logRefusal(ctx context.Context, name string, code int, why error) {
	level := slog.LevelDebug
	q.mu.Lock()
	if p, ok := q.pending[name]; ok && q.Now().Sub(p.logged[code]).Abs() >= refusalLogInterval {
		level, p.logged[code] = slog.LevelWarn, q.Now()
	}
	q.mu.Unlock()
	q.Log.Log(ctx, level, "trigger request refused", "trigger", name, "err", why)
}

func (q *Queue) answer(w http.ResponseWriter, r *http.Request, code int, answer map[string]any) {
	body, err := json.Marshal(answer)
	if err != nil {
		q.Log.ErrorContext(r.Context(), "encode response", "err", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if _, err := w.Write(append(body, '\n')); err != nil {
		q.Log.DebugContext(r.Context(), "write response", "err", err)
	}
}
