package report

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// Brief returns a finding with a limited number of fields, for a row of a list. Names and values have at
// most columns columns, and the data of a phrase twice as many in total. Brief omits the message, reason
// and evidence of the actor.
func Brief(f *model.Finding, fields, columns int, c phrase.Clock) Block {
	brief := *f
	brief.Actor = phrase.WithoutEvidence(f.Actor)
	brief.Actor.Message, brief.Actor.Reason = "", ""
	b := newBlock(&brief, c, fields)
	for _, text := range []*string{&b.ID, &b.Kind, &b.Resource, &b.Name} {
		*text = phrase.Clip(*text, columns)
	}
	b.Where, b.Who, b.Standing = b.Where.Bound(2*columns), b.Who.Bound(2*columns), b.Standing.Bound(2*columns)
	b.Reason = phrase.Clip(b.Reason, pipeLimit)
	for i := range b.Fields {
		b.Fields[i] = b.Fields[i].Bound(columns)
	}
	return b
}

// A Detail is a finding with all its data.
type Detail struct {
	Block
	Facts []Fact
	// Sheets are the fields. More is the number of omitted fields.
	Sheets []phrase.Sheet
	// Ignored are the fields that rules excluded.
	Ignored  []IgnoredSheet
	Chapters []Chapter
}

// An IgnoredSheet is a field that a rule excluded, and the reason of the rule.
type IgnoredSheet struct {
	phrase.Sheet
	Reason string
}

// NewDetail returns the detail of a finding with a limited number of fields, and its history, newest first.
func NewDetail(f *model.Finding, versions []Version, fields int, c phrase.Clock) Detail {
	ordered := f.WorstFirst()
	f = &ordered
	shown := public(f)
	d := Detail{Block: newBlock(f, c, fields), Facts: factsOf(&shown, c), Chapters: chaptersOf(newestFirst(versions), c)}
	for i := range d.Fields {
		d.Sheets = append(d.Sheets, *phrase.NewSheet(shown.Verdict, &shown.Changes[i], &d.Fields[i]))
	}
	for i := range shown.Ignored[:min(fields, len(shown.Ignored))] {
		field := phrase.NewField(&shown, &f.Ignored[i].Change, &shown.Ignored[i].Change, c)
		d.Ignored = append(d.Ignored, IgnoredSheet{*phrase.NewSheet(shown.Verdict, &shown.Ignored[i].Change, &field), phrase.Visible(shown.Ignored[i].Reason)})
	}
	return d
}

// Events returns the history of a finding, newest first.
func Events(versions []Version, c phrase.Clock) []Event { return eventsOf(newestFirst(versions), c) }

func newestFirst(versions []Version) []Version {
	versions = slices.Clone(versions)
	slices.SortStableFunc(versions, func(a, b Version) int { return b.At.Compare(a.At) })
	return versions
}

// A State is the overall result of a scan.
type State struct {
	// Headline is a summary in one line. Calm reports whether there is no drift and everything was checked.
	Headline string
	Calm     bool
	// NotChecked is a summary of the parts that could not be checked, or "" if everything was checked.
	NotChecked string
	Scan       phrase.Phrase
	// Groups are the findings with drift, grouped by request, the most severe first; see model.ByCause.
	Groups [][]*model.Finding
	// Unchecked and Unread are the parts that could not be checked or read. Tallies describe how much of
	// each declaration was compared.
	Unchecked, Unread, Tallies []phrase.Phrase
	// NotJudged are the live resources that were not judged, with the reasons. NotGoverned are the places
	// that are not governed.
	NotJudged, NotGoverned []phrase.Phrase
	// Notes are the notes of declarations; see model.Note.
	Notes []phrase.Phrase
}

// NewState returns the state that a report describes.
func NewState(r *model.Report, c phrase.Clock) State {
	o := newOutline(r, c)
	s := State{Scan: o.scan(), Unchecked: o.unchecked(), Unread: o.unread(), Tallies: o.tallies(),
		NotJudged: o.notJudged(), NotGoverned: o.notGoverned(), Notes: o.notes()}
	s.Headline, s.Calm = o.headline()
	s.NotChecked = o.notChecked()
	for _, g := range o.groups {
		s.Groups = append(s.Groups, g)
	}
	return s
}

// Gaps maps the names of sources to the parts that were not completely read, with one Phrase for each
// reason.
func Gaps(coverage []model.Coverage) map[string][]phrase.Phrase {
	all := map[string][]phrase.Phrase{}
	for _, g := range gapsOf(coverage) {
		all[g.source] = append(all[g.source], g.text)
	}
	return all
}
