package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/store"
)

// An Error is how the API refuses, on both ends.
type Error struct {
	// Status is the HTTP status code.
	Status int `json:"-"`
	// Message says what is wrong.
	Message string `json:"error"`
	// Hint says what to do about it.
	Hint string `json:"hint"`
	// Candidates are what an ambiguous name may stand for.
	Candidates []string `json:"candidates,omitempty"`
}

// Error returns message and hint on one line.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + ": " + e.Hint
}

func badRequest(message, hint string) *Error {
	return &Error{Status: http.StatusBadRequest, Message: message, Hint: hint}
}

// AsError says what an error means to whoever asks; one that nobody foresaw has
// the status 500.
func AsError(err error) *Error {
	var e *Error
	var refused *decide.Refusal
	var declared *store.DeclaredError
	var replaced *store.ReplacedError
	var denied *access.Refused
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &refused):
		return badRequest(refused.Message, refused.Hint)
	case errors.As(err, &denied):
		return &Error{Status: denied.Status, Message: denied.Message, Hint: denied.Hint}
	case errors.As(err, &declared), errors.As(err, &replaced):
		return &Error{Status: http.StatusConflict, Message: err.Error()}
	case errors.Is(err, store.ErrNotFound):
		return &Error{Status: http.StatusNotFound, Message: err.Error()}
	case errors.Is(err, store.ErrAmbiguous):
		return &Error{Status: http.StatusConflict, Message: err.Error(), Hint: "write more of the name"}
	case errors.Is(err, context.Canceled):
		return &Error{Status: http.StatusServiceUnavailable, Message: "the request was broken off", Hint: "the daemon is stopping: try again when it is back"}
	}
	return &Error{Status: http.StatusInternalServerError, Message: err.Error(), Hint: "the log of driftd may say more"}
}
