package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/suggest"
)

// A column is a column of a list of findings.
type column struct {
	// name is the header in lower case, with dashes for blanks.
	name string
	// share is how much of a narrow terminal the column gets in relation to others; 0 if it is
	// always shown whole.
	share int
	// end is set if a text that is cut keeps its end: names that begin alike differ there.
	end  bool
	text func(line, phrase.Clock) string
}

// A line is a finding in a list. finding is nil if only its outline is known.
type line struct {
	*model.Outline
	finding *model.Finding
}

// columns returns all columns of a list.
func columns() []column {
	return []column{
		{name: "id", text: func(f line, _ phrase.Clock) string { return f.ID }},
		{name: "severity", text: func(f line, _ phrase.Clock) string { return string(f.Severity) }},
		{name: "verdict", text: func(f line, _ phrase.Clock) string { return f.VerdictText() }},
		{name: "check", text: func(f line, _ phrase.Clock) string { return f.Check }},
		{name: "resource", share: 2, end: true, text: func(f line, _ phrase.Clock) string {
			return f.Source + " " + phrase.Kind(f.Kind) + " " + phrase.Resource(f.Key.ID, f.Name)
		}},
		{name: "who", share: 1, text: func(f line, _ phrase.Clock) string { return f.Actor.Label() }},
		{name: "via", share: 1, text: func(f line, _ phrase.Clock) string { return f.Actor.Via }},
		{name: "changed", text: func(f line, c phrase.Clock) string { return at(f.Actor.At, c) }},
		{name: "first-seen", text: func(f line, c phrase.Clock) string { return cmp.Or(at(f.FirstSeen, c), "unknown") }},
		{name: "last-seen", text: func(f line, c phrase.Clock) string { return at(f.LastSeen, c) }},
		{name: "owner", share: 1, text: func(f line, _ phrase.Clock) string { return f.Owner }},
		{name: "declaration", share: 1, text: func(f line, _ phrase.Clock) string { return f.Declaration }},
		{name: "address", share: 1, end: true, text: func(f line, _ phrase.Clock) string { return f.Address }},
		{name: "source", share: 1, text: func(f line, _ phrase.Clock) string { return f.Source }},
		{name: "kind", share: 1, text: func(f line, _ phrase.Clock) string { return f.Kind }},
		{name: "namespace", share: 1, text: func(f line, _ phrase.Clock) string { return f.Place }},
		{name: "name", share: 1, text: func(f line, _ phrase.Clock) string { return f.Name }},
		{name: "key", share: 2, end: true, text: func(f line, _ phrase.Clock) string { return f.Key.String() }},
		{name: fieldsColumn, share: 1, text: func(f line, _ phrase.Clock) string { return fieldPaths(f.finding) }},
		{name: "note", share: 1, text: func(f line, c phrase.Clock) string { return note(f.Outline, c).String() }},
	}
}

// The columns of the formats, unless others are chosen.
const (
	tableColumns = "id,severity,verdict,resource,who,first-seen,note"
	wideColumns  = "id,severity,verdict,resource,who,via,changed,first-seen,owner,declaration,address,note"
	csvColumns   = "id,severity,verdict,source,kind,namespace,name,key,who,via,changed,declaration,address,owner,fields,first-seen,last-seen,note"
)

// fieldsColumn is the name of the column that outlines do not have.
const fieldsColumn = "fields"

// NeedsFindings reports whether a list with the format and columns requires the complete findings instead
// of their outlines.
func NeedsFindings(format string, columns []string) bool {
	switch {
	case format == "json" || format == "yaml":
		return true
	case format == "csv" && len(columns) == 0:
		columns = strings.Split(csvColumns, ",")
	}
	return slices.Contains(columns, fieldsColumn)
}

// Columns returns the names of all columns of a list of findings.
func Columns() []string {
	var names []string
	for _, c := range columns() {
		names = append(names, c.name)
	}
	return names
}

// chosen returns the columns with the names, in that order, or those of a list if there are no
// names.
func chosen(names []string, instead string) ([]column, error) {
	if len(names) == 0 {
		names = strings.Split(instead, ",")
	}
	all := columns()
	if err := suggest.Check("column", names, Columns()); err != nil {
		return nil, err
	}
	list := make([]column, len(names))
	for i, name := range names {
		list[i] = all[slices.IndexFunc(all, func(c column) bool { return c.name == name })]
	}
	return list, nil
}

func (c *column) header() string { return strings.ToUpper(strings.ReplaceAll(c.name, "-", " ")) }

// at returns a time; "" if it is not known.
func at(t time.Time, c phrase.Clock) string {
	if phrase.UTC(t).IsZero() {
		return ""
	}
	return c.Short(t)
}

func fieldPaths(f *model.Finding) string {
	shown := publicOf(f.Changes) // a path may contain the digest of a secret
	paths := make([]string, len(shown))
	for i := range shown {
		paths[i] = shown[i].Path
	}
	return strings.Join(paths, " ")
}

// note returns the status of a finding in a few words.
func note(f *model.Outline, c phrase.Clock) phrase.Phrase {
	p := phrase.Data(f.Check)
	if !f.Resolved.IsZero() {
		p = phrase.Closed(f.MergedInto).Words(" ").Time(c, f.Resolved)
	}
	if f.Hidden != "" {
		p = p.Then(phrase.Words("hidden"))
	}
	if f.Decision != "" {
		p = p.Then(phrase.Words(f.Decision.Participle() + " ").Until(f.Until))
	}
	if f.Flapping {
		p = p.Then(phrase.Words("flapping"))
	}
	if f.Owner != "" {
		p = p.Then(phrase.Words("owner ").Data(f.Owner))
	}
	return p
}
