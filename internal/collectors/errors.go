package collectors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
)

// A LocalError is an error in the settings, or in a file or credential to which they refer. It is
// returned before any request is sent.
type LocalError struct{ Err error }

// Error returns the text of Err.
func (e *LocalError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *LocalError) Unwrap() error { return e.Err }

// An InconsistentError reports that the pages of a list contradict each other.
type InconsistentError struct{ Text string }

// Error returns Text.
func (e *InconsistentError) Error() string { return e.Text }

// A WholeError is returned by CollectObjects if the whole source must be read instead of single
// objects.
type WholeError struct{ Reason string }

// Error returns Reason.
func (e *WholeError) Error() string { return e.Reason }

// An ExpiredError is the cause of a context that ended because of the timeout of a source or
// declaration.
type ExpiredError struct {
	// Of is the source or declaration that was being read, such as "source netbox".
	Of string
	// After is the timeout.
	After time.Duration
}

// Error returns the source or declaration and the timeout.
func (e *ExpiredError) Error() string { return fmt.Sprintf("%s: no answer within %s", e.Of, e.After) }

// Is reports whether target is context.DeadlineExceeded.
func (e *ExpiredError) Is(target error) bool { return target == context.DeadlineExceeded }

// Ended returns the reason, for a Coverage, why a part of a source was not read, if err is the
// result of a context that ended. It returns "" for other errors.
func Ended(err error) string {
	var (
		expired *ExpiredError
		timeout *httpclient.Timeout
	)
	switch {
	case errors.As(err, &expired):
		return fmt.Sprintf("timed out after %s: raise timeout of the source", expired.After)
	case errors.As(err, &timeout) && timeout.Look:
		return "timed out before the end of the scan: raise timeout of the source"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "the scan ended before it was read"
	}
	return ""
}

// Void reports whether the result of a scan must be discarded because ctx was cancelled, or because
// it expired before anything was read. If ctx expired later, the parts that were read remain valid.
func Void(ctx context.Context, read bool) bool {
	return ctx.Err() != nil && !(read && errors.Is(ctx.Err(), context.DeadlineExceeded))
}
