// Package decode decodes untrusted JSON and YAML to values, within limits. A malformed or malicious
// document causes an error with its line, and does not affect the process.
package decode

import (
	"bytes"
	"errors"
	"fmt"
)

// MaxDepth is the maximum nesting depth of maps and lists. The deepest schemas of real custom resources
// have less than half of it.
const MaxDepth = 200

// MaxBytes is the maximum size of a stream, in bytes.
const MaxBytes = 256 << 20

// A SyntaxError reports the position and the cause of an error in a document. It may contain field names,
// but no values.
type SyntaxError struct {
	// Line is the line in the stream, starting at 1.
	Line int
	Err  error
	// Document is the text of the malformed document, beginning with its marker. It may contain secrets.
	Document []byte
}

// Error returns "line 3: " followed by the cause.
func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause, without the line.
func (e *SyntaxError) Unwrap() error { return e.Err }

// lineAt returns the line, from 1, in which data[offset] lies.
func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), len(data))], []byte("\n"))
}

// SyntaxErrors returns the errors of malformed documents in an error of YAML, in order. It returns none if
// the stream could not be read.
func SyntaxErrors(err error) []*SyntaxError {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var found []*SyntaxError
		for _, e := range joined.Unwrap() {
			found = append(found, SyntaxErrors(e)...)
		}
		return found
	}
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		return []*SyntaxError{syntax}
	}
	return nil
}
