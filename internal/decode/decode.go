// Package decode reads foreign JSON and YAML into values, within bounds: a
// broken or hostile document costs an error that names the line, never the
// process.
package decode

import (
	"bytes"
	"errors"
	"fmt"
)

// MaxDepth is how deep maps and lists may nest. The deepest schemas of real
// custom resources stay below half of it.
const MaxDepth = 200

// MaxBytes is the size of the largest stream that is read.
const MaxBytes = 256 << 20

// A SyntaxError is what is wrong with a document, and where. It quotes field
// names and never values.
type SyntaxError struct {
	// Line in the stream, from 1.
	Line int
	Err  error
	// Document is the text of the broken document, from its marker on. It may
	// hold secrets.
	Document []byte
}

// Error returns "line 3: " and what is wrong there.
func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong, without the line.
func (e *SyntaxError) Unwrap() error { return e.Err }

// lineAt returns the line, from 1, in which data[offset] lies.
func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), len(data))], []byte("\n"))
}

// SyntaxErrors returns the broken documents that an error of YAML speaks of,
// in their order; none when the stream itself could not be read.
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
