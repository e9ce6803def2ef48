package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/store"
)

// pageSize is the number of findings on one page.
const pageSize = 100

// A listView is the data of the list of findings.
type listView struct {
	frame
	// Scanned is set once a scan has ended. OldestRead is the time of the oldest read of a source
	// that is not stale.
	Scanned    bool
	OldestRead time.Time
	// Mood is calm if everything was checked and nothing drifts, drift, or unsure if nothing drifts
	// and not everything was checked.
	Mood     string
	Headline string
	// NotChecked is the number of unchecked resources; "" if there are none.
	NotChecked string
	Scan       phrase.Phrase
	// Silent are the stopped receivers, which get no messages until the configuration is fixed.
	Silent []model.ReceiverStatus
	// Stale are the sources whose last read is not current.
	Stale                      []sourceView
	Unchecked, Unread, Tallies []phrase.Phrase
	// NotJudged and NotGoverned list what was not compared, and the places that are not governed.
	NotJudged, NotGoverned []phrase.Phrase
	// Notes are notes on declarations.
	Notes    []phrase.Phrase
	Filter   filter
	Controls controls
	Rows     []rowView
	// Found is the number of matching findings, Lines the number of lines that they take.
	Found, Lines int
	Pages        pager
	// Alone is the finding of the filter Like.
	Alone *row
	// Limited reports that not all resolved findings are listed.
	Limited bool
	CanScan bool
}

// controls are the values of the filter form.
type controls struct {
	Action                               string
	Severities, Verdicts, Sources, Owner []option
	States                               []option
	Whats, Sinces                        []option
	Clear                                string
	// Picked reports that a facet other than the severity is chosen.
	Picked bool
}

// A rowView is a line of the list: a finding, or several with a common cause.
type rowView struct {
	*row
	// More is the number of other findings with the same cause, LikeHref the link to them.
	More     int
	LikeHref string
	Muted    string
}

// A pager links to the other pages.
type pager struct {
	Number, Last int
	From, To     int
	Prev, Next   string
}

func newPager(f *filter, lines int) pager {
	last := max(1, (lines+pageSize-1)/pageSize)
	p := pager{Number: min(f.page, last), Last: last}
	p.From, p.To = min(lines, (p.Number-1)*pageSize+1), min(lines, p.Number*pageSize)
	at := func(n int) string {
		return f.query(func(q url.Values) {
			if n > 1 {
				q.Set("page", strconv.Itoa(n))
			}
		})
	}
	if p.Number > 1 {
		p.Prev = at(p.Number - 1)
	}
	if p.Number < p.Last {
		p.Next = at(p.Number + 1)
	}
	return p
}

func (s *site) listPage(w http.ResponseWriter, r *http.Request) error {
	x, err := s.index.get(r.Context(), isFragment(r) || r.URL.Query().Has("notice"))
	if err != nil {
		return err
	}
	f := readFilter(r.URL.Query())
	f.Since, f.What = "", ""
	v := listView{frame: s.frame(w, r, "Drift", "drift"), Scanned: x.run != nil, Filter: f, CanScan: s.API.Scanner != nil}
	v.Revision = x.revision
	rows := x.rows
	if f.State == isResolved {
		if rows, v.Revision, err = s.resolved.get(r.Context(), x.revision, "", s.resolvedRows); err != nil {
			return err
		}
		v.Limited = len(rows) == maxResolved
	}
	v.stand(x, s)
	v.Silent = s.stoppedReceivers()
	v.list(x, rows)
	if v.Scanned {
		v.Title = v.Headline
	}
	return s.render(w, r, http.StatusOK, "list", v)
}

// stoppedReceivers returns the receivers that are stopped.
func (s *site) stoppedReceivers() []model.ReceiverStatus {
	if s.API.Receivers == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.API.Receivers()), func(r model.ReceiverStatus) bool { return !r.Stopped })
}

// maxResolved bounds the number of resolved findings in a list.
const maxResolved = 10000

func (s *site) resolvedRows() ([]row, error) {
	all, err := s.API.Store.Findings(store.Filter{Resolved: true, Since: s.Now().Add(-30 * 24 * time.Hour)})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(f model.Finding) bool { return f.Resolved.IsZero() })
	slices.SortStableFunc(all, func(a, b model.Finding) int { return cmp.Or(b.Resolved.Compare(a.Resolved), cmp.Compare(a.ID, b.ID)) })
	all = all[:min(len(all), maxResolved)]
	clock := s.clock()
	rows := make([]row, len(all))
	for i := range all {
		rows[i] = newRow(&all[i], clock)
	}
	return rows, nil
}

// stand sets the summary of the page.
func (v *listView) stand(x *index, s *site) {
	if x.run == nil {
		return
	}
	v.Headline, v.NotChecked, v.Scan = x.state.Headline, x.state.NotChecked, x.state.Scan
	v.Unchecked, v.Unread, v.Tallies = x.state.Unchecked, x.state.Unread, x.state.Tallies
	v.NotJudged, v.NotGoverned, v.Notes = x.state.NotJudged, x.state.NotGoverned, x.state.Notes
	for _, source := range s.sourceViews(x.run) {
		if source.Trouble != "" {
			v.Stale = append(v.Stale, source)
		} else if v.OldestRead.IsZero() || source.Taken.Before(v.OldestRead) {
			v.OldestRead = source.Taken
		}
	}
	v.Unchecked = once(v.Unchecked, v.Stale)
	switch {
	case x.summary.Findings > 0:
		v.Mood = "drift"
	case x.state.Calm && len(v.Stale)+len(v.Unread) == 0:
		v.Mood = "calm"
	default:
		v.Mood = "unsure"
	}
}

// once returns the phrases about uncompared resources. It shortens a phrase to the source's name if
// the reason is already shown for that source.
func once(said []phrase.Phrase, stale []sourceView) []phrase.Phrase {
	said = slices.Clone(said)
	for i, p := range said {
		for _, source := range stale {
			if n := len(p) - 2; n > 0 && source.Err != "" && strings.HasSuffix(p[n+1].Text, source.Err) {
				said[i] = append(slices.Clone(p[:n]), phrase.Span{Text: ", as "}, phrase.Span{Text: phrase.Line(source.Name, rowName), Data: true}, phrase.Span{Text: " could not be read"})
			}
		}
	}
	return said
}

// list selects the rows of the page.
func (v *listView) list(x *index, rows []row) {
	f, counts, byState := &v.Filter, newTally(), map[string]int{}
	for i := range x.rows {
		byState[x.rows[i].State]++
	}
	lines := v.lines(rows, &counts)
	v.Lines, v.Pages = len(lines), newPager(f, len(lines))
	if len(lines) > 0 {
		v.Rows = lines[v.Pages.From-1 : v.Pages.To]
	}
	for i := range v.Rows {
		v.Rows[i].finish()
	}
	v.Controls = f.controls("/", &counts, byState)
}

// lines returns all matching lines: one for each finding, or for each group with a common cause.
func (v *listView) lines(rows []row, counts *tally) []rowView {
	f := &v.Filter
	for i := range rows {
		if f.Like != "" && rows[i].id == f.Like {
			v.Alone = &rows[i]
		}
	}
	alike := func(r *row) bool {
		return f.Like == "" || v.Alone != nil && (r == v.Alone || r.group > 0 && r.group == v.Alone.group)
	}
	var lines []rowView
	lead := map[int]int{}
	for i := range rows {
		r := &rows[i]
		if r.State != f.State || !alike(r) || !f.matches(r, counts) {
			continue
		}
		v.Found++
		if at, ok := lead[r.group]; ok && r.group > 0 && f.Like == "" {
			lines[at].More++
			continue
		}
		lead[r.group] = len(lines)
		lines = append(lines, rowView{row: r})
	}
	return lines
}

// finish sets the fields that only shown lines need.
func (r *rowView) finish() {
	if r.More > 0 {
		r.LikeHref = "/?like=" + url.QueryEscape(r.id)
	}
	if d := r.Decision; d != nil && d.Kind != model.Accept {
		r.Muted = d.Kind.Participle()
	}
}

func (f *filter) controls(action string, t *tally, byState map[string]int) controls {
	c := controls{Action: action, Picked: f.picked(), Severities: f.options(bySeverity, t), Verdicts: f.options(byVerdict, t),
		Sources: f.options(bySource, t), Owner: f.options(byOwner, t)}
	for _, state := range states() {
		c.States = append(c.States, option{Value: state, Text: state, Count: byState[state], Chosen: f.State == state})
	}
	if f.narrow() {
		c.Clear = action
		if f.State != isOpen {
			c.Clear += "?state=" + f.State
		}
	}
	return c
}
