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
	text func(*model.Finding, phrase.Clock) string
}

// columns returns all columns of a list.
func columns() []column {
	return []column{
		{name: "id", text: func(f *model.Finding, _ phrase.Clock) string { return f.ID }},
		{name: "severity", text: func(f *model.Finding, _ phrase.Clock) string { return string(f.Severity) }},
		{name: "verdict", text: func(f *model.Finding, _ phrase.Clock) string { return f.VerdictText() }},
		{name: "resource", share: 2, end: true, text: func(f *model.Finding, _ phrase.Clock) string {
			return f.Source + " " + phrase.Kind(f.Kind) + " " + phrase.Resource(f)
		}},
		{name: "who", share: 1, text: func(f *model.Finding, _ phrase.Clock) string { return f.Actor.Label() }},
		{name: "via", share: 1, text: func(f *model.Finding, _ phrase.Clock) string { return f.Actor.Via }},
		{name: "changed", text: func(f *model.Finding, c phrase.Clock) string { return at(f.Actor.At, c) }},
		{name: "first-seen", text: func(f *model.Finding, c phrase.Clock) string { return cmp.Or(at(f.FirstSeen, c), "unknown") }},
		{name: "last-seen", text: func(f *model.Finding, c phrase.Clock) string { return at(f.LastSeen, c) }},
		{name: "owner", share: 1, text: func(f *model.Finding, _ phrase.Clock) string { return f.Owner }},
		{name: "declaration", share: 1, text: func(f *model.Finding, _ phrase.Clock) string { return f.Declaration }},
		{name: "address", share: 1, end: true, text: func(f *model.Finding, _ phrase.Clock) string { return f.Address }},
		{name: "source", share: 1, text: func(f *model.Finding, _ phrase.Clock) string { return f.Source }},
		{name: "kind", share: 1, text: func(f *model.Finding, _ phrase.Clock) string { return f.Kind }},
		{name: "namespace", share: 1, text: func(f *model.Finding, _ phrase.Clock) string { return f.Place }},
		{name: "name", share: 1, text: func(f *model.Finding, _ phrase.Clock) string { return f.Name }},
		{name: "key", share: 2, end: true, text: func(f *model.Finding, _ phrase.Clock) string { return f.Key.String() }},
		{name: "fields", share: 1, text: func(f *model.Finding, _ phrase.Clock) string { return fieldPaths(f) }},
		{name: "note", share: 1, text: func(f *model.Finding, c phrase.Clock) string { return note(f, c).String() }},
	}
}

// The columns of the formats, unless others are chosen.
const (
	tableColumns = "id,severity,verdict,resource,who,first-seen,note"
	wideColumns  = "id,severity,verdict,resource,who,via,changed,first-seen,owner,declaration,address,note"
	csvColumns   = "id,severity,verdict,source,kind,namespace,name,key,who,via,changed,declaration,address,owner,fields,first-seen,last-seen,note"
)

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
func note(f *model.Finding, c phrase.Clock) phrase.Phrase {
	p := phrase.Phrase{}
	if !f.Resolved.IsZero() {
		p = phrase.Closed(f).Words(" ").Time(c, f.Resolved)
	}
	if f.Hidden != "" {
		p = p.Then(phrase.Words("hidden"))
	}
	if d := f.Decision; d != nil {
		p = p.Then(phrase.Words(d.Kind.Participle() + " " + until(d)))
	}
	if f.Flapping {
		p = p.Then(phrase.Words("flapping"))
	}
	if f.Owner != "" {
		p = p.Then(phrase.Words("owner ").Data(f.Owner))
	}
	return p
}

// until returns when a decision ends.
func until(d *model.Decision) string { return phrase.Phrase{}.Until(d).String() }
