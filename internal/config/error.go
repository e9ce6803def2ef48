package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Problem is one mistake in the configuration.
type Problem struct {
	// Where is "driftd.yaml:12", the name of a variable or of a flag, or the origin of
	// settings without a file.
	Where string
	// Line is the line in the file, from 1; 0 if the problem is not in a file.
	Line int
	// Text describes the mistake and how to correct it. It contains no value of a setting,
	// because that might be a secret.
	Text string
}

// An Error holds all problems of a configuration, in the order of the file.
type Error struct{ Problems []Problem }

// Error returns one line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Where + ": " + p.Text
	}
	return strings.Join(lines, "\n")
}

// Sorted returns a joined error with the problems of the configuration first, in the order of
// the file, followed by the other errors.
func Sorted(err error) error {
	var all Error
	others := all.collect(err)
	if len(all.Problems) == 0 {
		return err
	}
	all.sort()
	return errors.Join(append([]error{&all}, others...)...)
}

// collect returns the problems among joined errors, and the other errors.
func (e *Error) collect(err error) (others []error) {
	//nolint:errorlint // every error of the tree is visited
	switch err := err.(type) {
	case nil:
	case *Error:
		for _, p := range err.Problems {
			if !slices.Contains(e.Problems, p) {
				e.Problems = append(e.Problems, p)
			}
		}
	case interface{ Unwrap() []error }:
		for _, part := range err.Unwrap() {
			others = append(others, e.collect(part)...)
		}
	default:
		others = append(others, err)
	}
	return others
}

func (e *Error) sort() {
	slices.SortStableFunc(e.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Where, b.Where), cmp.Compare(a.Text, b.Text))
	})
}

// add adds a problem at a path.
func (d *document) add(path, format string, args ...any) {
	where, line := d.where(path)
	p := Problem{Where: where, Line: line, Text: fmt.Sprintf(format, args...)}
	if !slices.Contains(d.problems, p) {
		d.problems = append(d.problems, p)
	}
}

// err returns the problems, sorted, or nil.
func (d *document) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	e := &Error{Problems: d.problems}
	e.sort()
	return e
}

// where returns the place of a path: the name of its override, or the line of the closest
// enclosing key in the file.
func (d *document) where(path string) (string, int) {
	if origin, ok := d.origins[path]; ok {
		return origin, 0
	}
	if line := d.line(path); line > 0 {
		return fmt.Sprintf("%s:%d", d.name, line), line
	}
	return d.name, 0
}

func (d *document) line(path string) int {
	for {
		if line, ok := d.lines[path]; ok {
			return line
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return 0
		}
		path = path[:i]
	}
}
