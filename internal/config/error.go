package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Problem is one error in the configuration.
type Problem struct {
	// Where is the position ("driftd.yaml:12"), the name of a variable or flag, or the origin of settings
	// without a file.
	Where string
	// File is the index of the file in the list of the configuration file and the files that it includes.
	File int
	// Line is the line in the file, starting at 1. It is 0 if the problem is not in a file.
	Line int
	// Text describes the problem and its correction. It does not contain values of settings, which may be
	// secret.
	Text string
}

// An Error contains all problems of a configuration, in the order of the file.
type Error struct{ Problems []Problem }

// Error returns one line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Where + ": " + p.Text
	}
	return strings.Join(lines, "\n")
}

// Sorted returns a joined error with the problems of the configuration first, in the order of the file,
// followed by the other errors.
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
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Where, b.Where), cmp.Compare(a.Text, b.Text))
	})
}

// add adds a problem at a path.
func (d *document) add(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if origin, ok := d.origins[path]; ok {
		d.problems = append(d.problems, Problem{Where: origin, Text: text})
		return
	}
	d.complain(d.at(path), text)
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
func (d *document) where(path string) string {
	if origin, ok := d.origins[path]; ok {
		return origin
	}
	at := d.at(path)
	if at.line == 0 {
		return d.files[at.file]
	}
	return fmt.Sprintf("%s:%d", d.files[at.file], at.line)
}

// at returns the place of the closest enclosing key of a path; one without a line if there is none.
func (d *document) at(path string) place {
	for {
		if at, ok := d.places[path]; ok {
			return at
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return place{}
		}
		path = path[:i]
	}
}

// line returns the line of a path for a message at another one: "line 12", or "prod.yaml:12" in another file.
func (d *document) line(path, from string) string {
	at := d.at(path)
	if at.file == d.at(from).file {
		return fmt.Sprintf("line %d", at.line)
	}
	return fmt.Sprintf("%s:%d", d.files[at.file], at.line)
}
