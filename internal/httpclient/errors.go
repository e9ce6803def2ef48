package httpclient

import (
	"context"
	"fmt"
	"time"
)

// An Error is the reason why a source could not be read or written to at all, with the next step.
type Error struct {
	// Server is the address of the server, or the position of the setting for it if that is
	// missing.
	Server string
	Err    error
	// Hint is the next step.
	Hint string
	// Writing reports whether the request was a write.
	Writing bool
}

// Error returns the server, the error and the next step.
func (e *Error) Error() string {
	doing := "read"
	if e.Writing {
		doing = "write to"
	}
	return fmt.Sprintf("%s %s: %v; %s", doing, e.Server, e.Err, e.Hint)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// A Timeout reports that a request was not answered in time. A transport may return an error that
// wraps a Timeout to describe the reason.
type Timeout struct {
	After time.Duration
	// Look reports whether the request was limited by the remaining time of the scan, and not by a
	// setting for requests.
	Look bool
}

// Error returns the time limit.
func (e *Timeout) Error() string { return fmt.Sprintf("no full answer within %s", e.After) }

// Is reports whether target is context.DeadlineExceeded and Look is set.
func (e *Timeout) Is(target error) bool { return e.Look && target == context.DeadlineExceeded }

// An Unexpected is a successful response with unexpected content.
type Unexpected struct {
	Reason string
	// Page reports whether the answer is an HTML page.
	Page bool
}

// Error returns the reason.
func (e *Unexpected) Error() string { return e.Reason }

func errPage() error { return &Unexpected{Reason: "the answer is an HTML page", Page: true} }

// A TooLarge reports that a response is larger than MaxBody.
type TooLarge struct{ Limit int64 }

// Error returns the size limit.
func (e *TooLarge) Error() string { return fmt.Sprintf("the answer is larger than %d bytes", e.Limit) }
