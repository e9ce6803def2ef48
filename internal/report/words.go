package report

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/model"
)

// Words say findings as a report does, piece by piece, to whoever arranges them
// anew. All that they say is visible and public.
type Words struct{ clock clock }

// NewWords returns Words; of the Options, only those on time count.
func NewWords(o Options) Words { return Words{newClock(o)} }

// Brief says a finding with at most so many fields. Names and values take so many
// columns at most, and the data of a phrase together twice as many. Of who did it
// it says the name, when, through what and whether that is sure; neither the
// evidence nor the reason.
func (w Words) Brief(f *model.Finding, fields, columns int) Block {
	brief := *f
	brief.Actor.Message, brief.Actor.Reason = "", ""
	if brief.Actor.Via != "" {
		brief.Actor.Evidence = ""
	}
	b := newBlock(&brief, w.clock, fields)
	b.ID, b.Kind, b.Resource, b.Name = bound(b.ID, columns), bound(b.Kind, columns), bound(b.Resource, columns), bound(b.Name, columns)
	b.Where, b.Who, b.Standing = b.Where.bound(2*columns), b.Who.bound(2*columns), b.Standing.bound(2*columns)
	b.Reason = bound(b.Reason, pipeLimit)
	for i := range b.Fields {
		b.Fields[i] = b.Fields[i].Short(columns)
	}
	return b
}

// bound cuts visible text to so many columns, and to four times as many bytes: a
// letter may have marks without end.
func bound(s string, columns int) string {
	s = clip(s, columns)
	if most := 4 * columns; len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s = s[:most] + ellipsis
	}
	return s
}

// bound returns the Phrase with no more than so many columns of data.
func (p Phrase) bound(columns int) Phrase {
	cut := slices.Clone(p)
	for i := range cut {
		if cut[i].Data {
			cut[i].Text = bound(cut[i].Text, max(columns, 1))
			columns -= min(columns, len(cut[i].Text))
		}
	}
	return cut
}

// A Detail is one finding in full.
type Detail struct {
	Block
	Facts []Fact
	// Sheets are the fields, of which More are left out.
	Sheets []Sheet
	// Ignored are the fields that rules took out.
	Ignored  []IgnoredSheet
	Chapters []Chapter
}

// An IgnoredSheet is a field that the rule with such a reason took out.
type IgnoredSheet struct {
	Sheet
	Reason string
}

// Detail says a finding in full, but no more than so many fields, with what
// became of it, newest first.
func (w Words) Detail(f *model.Finding, versions []Version, fields int) Detail {
	ordered := f.WorstFirst()
	f = &ordered
	shown := public(f)
	d := Detail{Block: newBlock(f, w.clock, fields), Facts: factsOf(&shown, w.clock), Chapters: chaptersOf(newestFirst(versions), w.clock)}
	for i := range d.Fields {
		d.Sheets = append(d.Sheets, *newSheet(shown.Verdict, &shown.Changes[i], &d.Fields[i]))
	}
	for i := range shown.Ignored[:min(fields, len(shown.Ignored))] {
		said := newField(&shown, &f.Ignored[i].Change, &shown.Ignored[i].Change, w.clock)
		d.Ignored = append(d.Ignored, IgnoredSheet{*newSheet(shown.Verdict, &shown.Ignored[i].Change, &said), visible(shown.Ignored[i].Reason)})
	}
	return d
}

// Events says what became of a finding, newest first.
func (w Words) Events(versions []Version) []Event { return eventsOf(newestFirst(versions), w.clock) }

func newestFirst(versions []Version) []Version {
	versions = slices.Clone(versions)
	slices.SortStableFunc(versions, func(a, b Version) int { return b.At.Compare(a.At) })
	return versions
}

// A State is how it stands with all that was looked at.
type State struct {
	// Headline says it in one line. Calm tells that nothing drifted and that
	// everything was looked at.
	Headline string
	Calm     bool
	// NotChecked counts in one line what was due to be checked and was not; ""
	// where everything was.
	NotChecked string
	Scan       Phrase
	// Crowds are what drifted, worst first, and of each what one request brought
	// about, see model.ByCause.
	Crowds [][]*model.Finding
	// Unchecked and Unread say what could not be looked at, and Tallies how much
	// of each declaration could be.
	Unchecked, Unread, Tallies []Phrase
	// NotJudged say which live resources were not judged and why, and NotGoverned
	// which places are not governed.
	NotJudged, NotGoverned []Phrase
	// Notes are what a reader should know of declarations, see model.Note.
	Notes []Phrase
}

// State says how it stands.
func (w Words) State(r *model.Report) State {
	o := newOutline(r, Options{Now: w.clock.now, RelativeTime: w.clock.relative})
	s := State{Scan: o.scan(), Unchecked: o.unchecked(), Unread: o.unread(), Tallies: o.tallies(),
		NotJudged: o.notJudged(), NotGoverned: o.notGoverned(), Notes: o.notes()}
	s.Headline, s.Calm = o.headline()
	s.NotChecked = o.notChecked()
	for _, c := range o.crowds {
		s.Crowds = append(s.Crowds, c)
	}
	return s
}

// WorstFirst orders findings as reports do: those that are over last.
func WorstFirst(findings []model.Finding) []*model.Finding { return worstFirst(findings) }

// Gaps says what was not fully read, one Phrase a reason, by source.
func Gaps(coverage []model.Coverage) map[string][]Phrase {
	all := map[string][]Phrase{}
	for _, g := range gapsOf(coverage) {
		all[g.source] = append(all[g.source], g.said)
	}
	return all
}

// Deciding says what somebody decided, until when and why.
func (w Words) Deciding(d *model.Decision) Phrase { return w.clock.decided(d) }

// Visible returns text with all that does not show as something of its own
// written out.
func Visible(text string) string { return visible(text) }

// Clip returns text as it is visible, cut to so many columns.
func Clip(text string, columns int) string { return bound(visible(text), columns) }

// Kind is what people call a kind: Deployment for kubernetes/Deployment.apps.
func Kind(kind string) string { return visible(shortKind(kind)) }

// Ago says how long ago something was: "2 hours ago".
func Ago(age time.Duration) string { return ago(age) }

// Count says a number of things: "1 resource", "1,200 resources".
func Count(n int, thing string) string { return count(n, thing) }

// Number says a number: "1,200".
func Number(n int) string { return thousands(n) }

// A Piece is a part of a text; Differs tells that the text beside it has
// something else, or nothing, there.
type Piece struct {
	Text    string
	Differs bool
}

// Pieces finds the words in which two visible texts differ.
func Pieces(a, b string) (before, after []Piece) {
	x, y := wordsOf(a), wordsOf(b)
	head := 0
	for head < len(x) && head < len(y) && x[head] == y[head] {
		head++
	}
	tail := 0
	for tail < len(x)-head && tail < len(y)-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	p, q := &pieces{}, &pieces{}
	p.add(false, x[:head]...)
	q.add(false, y[:head]...)
	differ(p, q, x[head:len(x)-tail], y[head:len(y)-tail])
	p.add(false, x[len(x)-tail:]...)
	q.add(false, y[len(y)-tail:]...)
	return p.all, q.all
}

// differ adds what lies between the common beginning and the common end.
func differ(p, q *pieces, x, y []string) {
	if len(x)*len(y) > longestTable {
		p.add(true, x...)
		q.add(true, y...)
		return
	}
	common := commonLines(x, y)
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			p.add(false, x[i])
			q.add(false, y[j])
			i++
			j++
		case j == len(y) || i < len(x) && common[i+1][j] >= common[i][j+1]:
			p.add(true, x[i])
			i++
		default:
			q.add(true, y[j])
			j++
		}
	}
}

// pieces joins neighbors that are alike.
type pieces struct{ all []Piece }

func (p *pieces) add(differs bool, words ...string) {
	for _, word := range words {
		if last := len(p.all) - 1; last >= 0 && p.all[last].Differs == differs {
			p.all[last].Text += word
			continue
		}
		p.all = append(p.all, Piece{word, differs})
	}
}

// wordsOf splits a text into words and what stands between them.
func wordsOf(s string) []string {
	var words []string
	start, inside := 0, false
	for i, r := range s {
		within := isWordRune(r)
		if i > start && (!within || !inside) {
			words = append(words, s[start:i])
			start = i
		}
		inside = within
	}
	if start < len(s) {
		words = append(words, s[start:])
	}
	return words
}

func isWordRune(r rune) bool {
	return r == '_' || r == '\\' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r > 0x7f
}

// Shorten returns the lines of a difference without those that are the same on
// both sides, but one beside each that is not, and no more than so many that came
// or went.
func Shorten(all []Line, most int) []Line { return shorten(all, most) }

// Short returns the field with names and values of no more than so many columns.
func (f *Field) Short(columns int) Field {
	s := f.short(columns)
	s.Path, s.LivePath = bound(s.Path, columns), bound(s.LivePath, columns)
	s.Who, s.LiveWho = s.Who.bound(2*columns), s.LiveWho.bound(2*columns)
	for i := range s.Sides {
		s.Sides[i].Text = bound(s.Sides[i].Text, 2*columns)
	}
	for i := range s.Claims {
		c := &s.Claims[i]
		c.Who = c.Who.bound(2 * columns)
		c.Declaration, c.Address, c.Path, c.Text = bound(c.Declaration, columns), bound(c.Address, columns), bound(c.Path, columns), bound(c.Text, 2*columns)
	}
	for i := range s.Lines {
		s.Lines[i].Text = bound(s.Lines[i].Text, 2*columns)
	}
	return s
}
