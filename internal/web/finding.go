package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/remedy"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
)

// Limits of a finding's page: its fields; the characters of one value and of all; the lines of one
// difference; the events, and the fields of each.
const (
	mostFields   = 100
	mostOfValue  = 20000
	mostOfAll    = 400000
	leastOfValue = 200
	mostLines    = 400
	mostChapters = 100
)

// A findingView is the data of a finding's page.
type findingView struct {
	frame
	report.Detail
	Finding *model.Finding
	State   string
	Sheets  []sheetView
	Ignored []sheetView
	Running bool
	// Claimed reports whether the fields are disputed by declarations.
	Claimed  bool
	Left     int
	Chapters []report.Chapter
	Earlier  int
	Holding  *decisionView
	// Why is the reason why the visitor may not decide; "" if they may.
	Why string
	// Over reports that no decision is left to make.
	Over  bool
	Ask   string
	Snags []option
	// Next is what can be done about an open finding; nil for a resolved one.
	Next *remedy.Suggestion
	// Act is about actions; nil if there are none.
	Act *actView
}

// A sheetView is a field with its sides in columns.
type sheetView struct {
	phrase.Sheet
	// Sides are the declared, recorded, live and, if present, running side.
	Sides []cell
	// ClaimRows are the claims of a disputed field, with the live side last.
	ClaimRows []claimView
	Diff      []phrase.DiffLine
	Kept      []phrase.DiffLine
	// Reason is the reason why the field is ignored.
	Reason string
	// Cut is the number of omitted characters.
	Cut int
}

// A cell is one side, divided into pieces. The pieces that differ from the live side are marked.
type cell struct {
	Label  string
	Pieces []phrase.Piece
	// Same reports that it equals the live side, None that there is no value.
	Same, None bool
	Left       int
}

// A claimView is the claim of one declaration. URL is the address of its web page, or "".
type claimView struct {
	Declaration string
	URL         string
	At, Who     phrase.Phrase
	cell
}

func (s *site) findingPage(w http.ResponseWriter, r *http.Request) error {
	revision, _ := s.News.Now()
	finding, versions, err := s.API.Store.Finding(r.PathValue("id"))
	if errors.Is(err, store.ErrNotFound) {
		return &server.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("no finding has an ID with prefix %q", phrase.Line(r.PathValue("id"), 40)),
			Hint: "It may have been resolved and removed from the database."}
	}
	if err != nil {
		return err
	}
	if r.PathValue("id") != finding.ID && !isFragment(r) {
		http.Redirect(w, r, "/findings/"+finding.ID, http.StatusSeeOther)
		return nil
	}
	v := s.findingView(&finding, versions)
	v.frame = s.frame(w, r, string(v.Severity)+" "+v.VerdictText+" "+v.Kind+" "+phrase.Line(v.Resource, rowName), "drift")
	v.Revision = revision
	v.decisions(s, &finding)
	if !v.Over {
		next, err := s.API.Suggest(&finding)
		if err != nil {
			return err
		}
		v.Next = &next
	}
	if v.Act, err = s.acting(r, finding.ID, v.Over); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "finding", v)
}

func (s *site) findingView(f *model.Finding, versions []store.FindingVersion) *findingView {
	past := make([]report.Version, len(versions))
	for i, version := range versions {
		past[i] = report.Version{At: version.At, Finding: version.Finding}
	}
	clock := s.clock()
	v := &findingView{Finding: f, State: stateOf(f), Detail: report.NewDetail(f, past, mostFields, clock)}
	rest := budget(mostOfAll)
	for i := range v.Detail.Sheets {
		v.Sheets = append(v.Sheets, newSheetView(&v.Detail.Sheets[i], &rest))
	}
	for i := range v.Detail.Ignored {
		sheet := newSheetView(&v.Detail.Ignored[i].Sheet, &rest)
		sheet.Reason = v.Detail.Ignored[i].Reason
		v.Ignored = append(v.Ignored, sheet)
	}
	v.Claimed = !slices.ContainsFunc(v.Sheets, func(s sheetView) bool { return len(s.ClaimRows) == 0 })
	v.Running = slices.ContainsFunc(v.Sheets, func(s sheetView) bool { return len(s.Sides) > 3 })
	v.Left = v.More
	v.Chapters = v.Detail.Chapters[:min(len(v.Detail.Chapters), mostChapters)]
	v.Earlier = len(v.Detail.Chapters) - len(v.Chapters)
	for i := range v.Chapters {
		for j := range v.Chapters[i].Events {
			e := &v.Chapters[i].Events[j]
			for k := range e.Fields {
				e.Fields[k] = e.Fields[k].Bound(rowValue * 2)
			}
		}
	}
	return v
}

// decisions sets the decision in force, and the decisions that the visitor may make.
func (v *findingView) decisions(s *site, f *model.Finding) {
	v.Over, v.Ask = !f.Resolved.IsZero(), "acknowledge"
	if d := f.Decision; d != nil {
		clock := s.clock()
		v.Holding = &decisionView{Decision: *d, Sentence: clock.Decision(d).Sentence(), Filed: d.From != "", Takes: v.Visitor.takes(d)}
	}
	switch {
	case v.Visitor.Decides:
	case v.Visitor.CanLogIn && !v.Visitor.Known:
		v.Why = "Log in with the role operator to decide."
	case !v.Visitor.Known:
		v.Why = "Visitors from this host have the role " + v.Visitor.Role + ". Deciding requires the role operator."
	default:
		v.Why = v.Visitor.Name + " has the role " + v.Visitor.Role + ". Deciding requires the role operator."
	}
	for _, length := range []string{"1h", "4h", "1d", "7d"} {
		v.Snags = append(v.Snags, option{Value: length, Text: length, Chosen: length == "4h"})
	}
}

// A budget is the number of characters that may still be shown.
type budget int

// take returns the part of a text within the budget, and the number of omitted characters.
func (b *budget) take(text string) (shown string, left int) {
	room := max(leastOfValue, min(mostOfValue, int(*b)))
	n := 0
	for i := range text {
		if n == room {
			rest := len([]rune(text[i:]))
			*b -= budget(room)
			return text[:i], rest
		}
		n++
	}
	*b -= budget(n)
	return text, 0
}

func newSheetView(s *phrase.Sheet, rest *budget) sheetView {
	v := sheetView{Sheet: *s}
	switch {
	case len(s.Claims) > 0:
		v.claims(rest)
	case len(s.Lines) > 0:
		v.Diff, v.Kept = v.lines(s.Lines, rest), v.lines(s.Record, rest)
	default:
		v.sides(rest)
	}
	return v
}

// sides sets the columns.
func (v *sheetView) sides(rest *budget) {
	live, _ := rest.take(v.All[2].Text)
	for i, side := range v.All {
		text, left := rest.take(side.Text)
		c := cell{Label: side.Label, Pieces: []phrase.Piece{{Text: text}}, None: side.None, Same: side.Text == v.All[2].Text, Left: left}
		if i != 2 && !c.Same && !c.None && !v.All[2].None {
			c.Pieces, _ = phrase.Pieces(text, live)
		}
		v.Cut += left
		v.Sides = append(v.Sides, c)
	}
	for _, c := range v.Sides {
		if other := &v.Sides[2]; c.Label != "live" && !c.Same && !c.None && !other.None {
			_, other.Pieces = phrase.Pieces(c.Text(), live)
			break
		}
	}
}

// Text returns the concatenated pieces.
func (c cell) Text() string {
	var b strings.Builder
	for _, p := range c.Pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// claims sets the rows of the claims.
func (v *sheetView) claims(rest *budget) {
	live := v.Field.Sides[0]
	add := func(declaration, address string, at, who phrase.Phrase, claimed string) {
		text, left := rest.take(claimed)
		v.Cut += left
		v.ClaimRows = append(v.ClaimRows, claimView{declaration, address, at, who, cell{Label: declaration, Pieces: []phrase.Piece{{Text: text}}, Same: claimed == live.Text, Left: left}})
	}
	for _, c := range v.Claims {
		add(c.Declaration, c.URL, c.At(), c.Actor, c.Text)
	}
	add(live.Label, "", nil, v.LiveActor, live.Text)
}

// lines bounds the lines of a difference.
func (v *sheetView) lines(all []phrase.DiffLine, rest *budget) []phrase.DiffLine {
	shown := phrase.Shorten(all, mostLines)
	for i := range shown {
		text, left := rest.take(shown[i].Text)
		shown[i].Text = text
		v.Cut += left
	}
	return shown
}
