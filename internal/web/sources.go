package web

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
)

// A sourceView is the status of one source.
type sourceView struct {
	model.SourceRun
	// Trouble is the reason why the last read is not current; "" if it is.
	Trouble string
	// Gaps list the scopes that were not fully read, Left is the number of scopes that are left out
	// by configuration.
	Gaps []phrase.Phrase
	Left int
	// Kinds are the most frequent kinds, More is the number of others.
	Kinds []kindCount
	More  int
	// Scores are the shares of its resources on the scorecard; nil if none were counted.
	Scores []scoreView
}

// A scoreView is a share on the scorecard.
type scoreView struct{ Name, Share string }

// scoreViews returns the shares of a score.
func scoreViews(s *model.Score) []scoreView {
	var views []scoreView
	for _, p := range s.Properties() {
		views = append(views, scoreView{strings.ReplaceAll(p.Name, "_", " "), phrase.Scored(p)})
	}
	return views
}

// A kindCount is the number of resources of a kind.
type kindCount struct {
	Kind  string
	Count int
}

// maxKinds bounds the listed kinds of one source.
const maxKinds = 30

// sourceViews returns the status of each source, those with trouble first.
func (s *site) sourceViews(run *model.Run) []sourceView {
	gaps := report.Gaps(unexplainedGaps(run, s.Now()))
	scores, _ := model.Scores(run.Scores, false)
	views := make([]sourceView, len(run.Sources))
	for i, source := range run.Sources {
		v := sourceView{SourceRun: source, Gaps: gaps[source.Name]}
		v.Trouble = v.trouble(s.Now())
		for _, c := range run.Coverage {
			if c.Source == source.Name && c.Skipped {
				v.Left++
			}
		}
		v.Kinds, v.More = kindsOf(source.Kinds)
		if at := slices.IndexFunc(scores, func(score model.Score) bool { return score.Source == source.Name }); at >= 0 {
			v.Scores = scoreViews(&scores[at])
		}
		views[i] = v
	}
	slices.SortStableFunc(views, func(a, b sourceView) int {
		return cmp.Or(strings.Compare(rank(a.Trouble), rank(b.Trouble)), strings.Compare(a.Name, b.Name))
	})
	return views
}

func rank(trouble string) string {
	if trouble == "" {
		return "b"
	}
	return "a"
}

// trouble returns the reason why the source's last read is not current.
func (v *sourceView) trouble(now time.Time) string {
	if v.Err != "" && !v.Held {
		return "could not be read: " + v.Err
	}
	return v.SourceRun.Trouble(now)
}

func kindsOf(counts map[string]int) (kinds []kindCount, more int) {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for _, name := range names[:min(len(names), maxKinds)] {
		kinds = append(kinds, kindCount{phrase.Line(phrase.Kind(name), rowName), counts[name]})
	}
	return kinds, len(names) - len(kinds)
}

// A sourcesView is the data of the page of sources, declarations and receivers.
type sourcesView struct {
	frame
	Run          *model.Run
	Sources      []sourceView
	Declarations []declarationView
	Tallies      []phrase.Phrase
	// NotJudged and NotGoverned are those of report.State.
	NotJudged, NotGoverned []phrase.Phrase
	// Notes are those of report.State.
	Notes     []phrase.Phrase
	Receivers []model.ReceiverStatus
	Mend      string
	Dead      []model.RuleRun
	Store     int64
	CanScan   bool
}

// A declarationView is the status of one declaration.
type declarationView struct {
	model.DeclarationRun
	// Shown are the first problems, More is the number of others.
	Shown []model.Problem
	More  int
}

// maxProblems bounds the listed problems of one declaration.
const maxProblems = 20

func (s *site) sourcesPage(w http.ResponseWriter, r *http.Request) error {
	x, err := s.index.get(r.Context(), isFragment(r) || r.URL.Query().Has("notice"))
	if err != nil {
		return err
	}
	v := sourcesView{frame: s.frame(w, r, "Sources", "sources"), Run: x.run, Mend: server.Mend, Store: s.API.Store.Size(), CanScan: s.API.Scanner != nil}
	v.Revision = x.revision
	if s.API.Receivers != nil {
		v.Receivers = s.API.Receivers()
	}
	if x.run != nil {
		v.Sources, v.Tallies = s.sourceViews(x.run), x.state.Tallies
		v.NotJudged, v.NotGoverned, v.Notes = x.state.NotJudged, x.state.NotGoverned, x.state.Notes
		for _, d := range x.run.Declarations {
			d.Problems = slices.DeleteFunc(slices.Clone(d.Problems), func(p model.Problem) bool { return d.Err != "" && p.Reason == d.Err })
			n := min(len(d.Problems), maxProblems)
			v.Declarations = append(v.Declarations, declarationView{d, d.Problems[:n], len(d.Problems) - n})
		}
		v.Dead = x.run.DeadRules()
	}
	return s.render(w, r, http.StatusOK, "sources", v)
}

// A decisionsView is the data of the page of decisions.
type decisionsView struct {
	frame
	Decisions []decisionView
	// More is the number of decisions that are not shown, Idle of those that apply to no finding.
	More, Idle int
}

// A decisionView is one decision in force.
type decisionView struct {
	model.Decision
	Sentence phrase.Phrase
	// About are the findings to which it applies, Others is the number of further ones.
	About  []*row
	Others int
	// Soon reports that the acceptance ends within a week, Filed that it is declared in a file,
	// Takes that the visitor may revoke it.
	Soon, Filed, Takes bool
}

// Limits of the page of decisions.
const (
	maxDecisions = 500
	maxAbout     = 5
)

func (s *site) decisionsPage(w http.ResponseWriter, r *http.Request) error {
	x, err := s.index.get(r.Context(), isFragment(r) || r.URL.Query().Has("notice"))
	if err != nil {
		return err
	}
	v := decisionsView{frame: s.frame(w, r, "Decisions", "decisions"), Idle: x.idle}
	v.Revision = x.revision
	clock := s.clock()
	for _, rows := range x.held {
		d := decisionView{Decision: *x.rows[rows[0]].Decision}
		d.Sentence, d.Soon, d.Filed = clock.Decision(&d.Decision).Sentence(), d.Kind == model.Accept && d.EndsSoon(s.Now()), d.From != ""
		d.Takes = v.Visitor.takes(&d.Decision)
		for _, i := range rows[:min(len(rows), maxAbout)] {
			d.About = append(d.About, &x.rows[i])
		}
		d.Others = len(rows) - len(d.About)
		v.Decisions = append(v.Decisions, d)
	}
	slices.SortFunc(v.Decisions, func(a, b decisionView) int {
		return cmp.Or(model.CompareBool(a.Until.IsZero(), b.Until.IsZero()), a.Until.Compare(b.Until), cmp.Compare(a.ID, b.ID))
	})
	v.More = max(0, len(v.Decisions)-maxDecisions)
	v.Decisions = v.Decisions[:len(v.Decisions)-v.More]
	return s.render(w, r, http.StatusOK, "decisions", v)
}

// takes reports whether the visitor may revoke a decision.
func (v *visitorView) takes(d *model.Decision) bool { return d.From == "" && v.visitor.MayRevoke(d.By) }
