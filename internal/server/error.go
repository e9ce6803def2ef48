package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/store"
)

// An Error is an error response of the API. The server writes it, and the client returns it.
type Error struct {
	// Status is the HTTP status code.
	Status int `json:"-"`
	// Message describes the error.
	Message string `json:"error"`
	// Hint is the recommended next step.
	Hint string `json:"hint"`
	// Candidates are the values that an ambiguous name matches.
	Candidates []string `json:"candidates,omitempty"`
}

// Error returns the message and the hint on one line.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + ": " + e.Hint
}

func badRequest(message, hint string) *Error {
	return &Error{Status: http.StatusBadRequest, Message: message, Hint: hint}
}

// AsError converts an error to an error response. The status is 500 for an unrecognized error.
func AsError(err error) *Error {
	var e *Error
	var refused *decide.Refusal
	var declared *store.DeclaredError
	var named *store.NamedError
	var replaced *store.ReplacedError
	var denied *access.Refused
	var guarded *reconcile.Refusal
	var state *reconcile.StateError
	var unwritten *reconcile.NotWrittenError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &refused):
		return badRequest(refused.Message, refused.Hint)
	case errors.As(err, &denied):
		return &Error{Status: denied.Status, Message: denied.Message, Hint: denied.Hint}
	case errors.As(err, &guarded):
		return &Error{Status: http.StatusConflict, Message: guarded.Error()}
	case errors.As(err, &state):
		return &Error{Status: http.StatusConflict, Message: state.Text}
	case errors.As(err, &unwritten):
		return &Error{Status: http.StatusConflict, Message: err.Error()}
	case errors.Is(err, reconcile.ErrNoAction):
		return &Error{Status: http.StatusNotFound, Message: err.Error()}
	case errors.Is(err, reconcile.ErrAmbiguous):
		return &Error{Status: http.StatusConflict, Message: err.Error(), Hint: "write more of the ID"}
	case errors.As(err, &declared), errors.As(err, &named), errors.As(err, &replaced):
		return &Error{Status: http.StatusConflict, Message: err.Error()}
	case errors.Is(err, store.ErrNotFound):
		return &Error{Status: http.StatusNotFound, Message: err.Error()}
	case errors.Is(err, store.ErrAmbiguous):
		return &Error{Status: http.StatusConflict, Message: err.Error(), Hint: "write more of the name"}
	case errors.Is(err, context.Canceled):
		return &Error{Status: http.StatusServiceUnavailable, Message: "the request was aborted", Hint: "the daemon is stopping: try again when it is back"}
	}
	return &Error{Status: http.StatusInternalServerError, Message: err.Error(), Hint: "see the log of driftd"}
}
