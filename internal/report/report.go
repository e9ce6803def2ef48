// Package report writes findings for people and for programs: as a table, JSON, Markdown, HTML, SARIF,
// JUnit, annotations of GitHub or GitLab, or a comment body. The output does not depend on the order of the
// input. It never contains a digest of a secret, and no name or value can forge a line, a tag or a field of
// it.
package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/suggest"
)

// Options are the settings of a report. The zero value is suitable for a file or a pipe.
type Options struct {
	// Color prints severities in color, in tables only.
	Color bool
	// Width is the maximum width of a table in columns. 0 means that only single values are shortened.
	Width int
	// Now is the time to which relative times refer.
	Now time.Time
	// RelativeTime writes "2 hours ago" instead of RFC 3339 times in formats for people. It requires Now.
	RelativeTime bool
	// Columns are the names of the columns of a list of findings. Empty means the default columns of the
	// format.
	Columns []string
	// Most is the maximum number of findings with drift that the table of a report contains in full. 0
	// means no limit. List returns the command that lists the others with a severity and a verdict.
	Most int
	List func(model.Severity, model.Verdict) string
	// Flags are added to the commands in a table, so that they read the same state: "--config=driftd.yaml".
	Flags string
	// Files returns the path of a file of a declaration, relative to the top of the repository that the
	// formats github, gitlab, sarif and comment refer to. ok is false for a file outside of the repository.
	// Files is nil if there is no such repository.
	Files func(declaration, file string) (path string, ok bool)
}

// A Location is a line of a file. The line is 0 if it is unknown.
type Location struct {
	Path string
	Line int
}

// locate returns the location of a finding in the repository, or nil.
func (o Options) locate(f *model.Finding) *Location {
	file, line, ok := fileOf(f.DeclaredAt())
	if !ok || o.Files == nil {
		return nil
	}
	path, ok := o.Files(f.Declaration, file)
	if !ok {
		return nil
	}
	return &Location{phrase.Visible(path), line}
}

// file returns the location of a finding in the repository of the report. For a report about no
// repository, it is the file that the declaration names. It is nil if there is none.
func (o Options) file(f *model.Finding) *Location {
	if at := o.locate(f); at != nil || o.Files != nil {
		return at
	}
	if file, line, ok := fileOf(f.DeclaredAt()); ok {
		return &Location{file, line}
	}
	return nil
}

type writer func(*bufio.Writer, *model.Report, Options) error

// formats returns the names and the writers of all formats, in the order of messages.
func formats() ([]string, []writer) {
	return []string{"table", "json", "markdown", "html", "sarif", "junit", "github", "gitlab", "comment"},
		[]writer{writeTable, writeJSON, writeMarkdown, writeHTML, writeSARIF, writeJUnit, writeGitHub, writeGitLab, writeComment}
}

// Formats returns the formats of Write.
func Formats() []string {
	names, _ := formats()
	return names
}

// Write writes a report in one of Formats. All formats list the most severe findings first, and resolved
// ones last. For an unknown format, Write writes nothing and returns an error that lists the valid formats,
// the most similar first.
func Write(w io.Writer, format string, r model.Report, o Options) error {
	names, writers := formats()
	for i, name := range names {
		if name == format {
			return buffered(w, "write report", func(b *bufio.Writer) error { return writers[i](b, &r, o) })
		}
	}
	return unknownFormat(format, names)
}

// choose calls table or json.
func choose(w io.Writer, format, what string, table, json func(*bufio.Writer) error) error {
	switch format {
	case "table":
		return buffered(w, what, table)
	case "json":
		return buffered(w, what, json)
	}
	return unknownFormat(format, []string{"table", "json"})
}

func buffered(w io.Writer, what string, write func(*bufio.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := write(b); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func unknownFormat(format string, names []string) error {
	list := strings.Join(names, ", ")
	if near, ok := suggest.Word(format, names); ok {
		return fmt.Errorf("unknown format %q: did you mean %q? (one of %s)", format, near, list)
	}
	return fmt.Errorf("unknown format %q: want one of %s", format, list)
}

// newClock returns the clock that the options ask for.
func newClock(o Options) phrase.Clock { return phrase.Clock{Now: o.Now, Relative: o.RelativeTime} }
