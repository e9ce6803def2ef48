package httpclient

import (
	"context"
	"fmt"
	"time"
)

// An Error is why nothing of a source could be read, and what to do about it.
type Error struct {
	// Server is the address of the server, or the place of the setting that lacks it.
	Server string
	Err    error
	// Hint is the next step.
	Hint string
	// Writing reports whether the request was to change something.
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

// Unwrap returns the error without the server and the hint.
func (e *Error) Unwrap() error { return e.Err }

// A Timeout is a request that was not answered in time. A transport may return one that
// wraps it, to explain what took the time.
type Timeout struct {
	After time.Duration
	// Look reports whether the time that was left of the scan of the source bounded the
	// request, and not a setting for requests.
	Look bool
}

// Error returns the bound.
func (e *Timeout) Error() string { return fmt.Sprintf("no full answer within %s", e.After) }

// Is reports whether target is context.DeadlineExceeded and Look is set.
func (e *Timeout) Is(target error) bool { return e.Look && target == context.DeadlineExceeded }

// An Unexpected is a successful answer that is not what was asked for.
type Unexpected struct {
	Reason string
	// Page reports whether the answer is an HTML page.
	Page bool
}

// Error returns the reason.
func (e *Unexpected) Error() string { return e.Reason }

func errPage() error { return &Unexpected{Reason: "the answer is an HTML page", Page: true} }

// A TooLarge is an answer beyond MaxBody.
type TooLarge struct{ Limit int64 }

// Error names the bound.
func (e *TooLarge) Error() string { return fmt.Sprintf("the answer is larger than %d bytes", e.Limit) }
