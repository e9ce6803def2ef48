package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
	"github.com/driftd/driftd/internal/timeparse"
)

// Limits of a timeline: the default age of its start, and the number of findings whose versions are
// all read; for further findings it shows only the first and the last version.
const (
	defaultSince = "7d"
	mostInFull   = 500
	mostEvents   = 20000
)

// A timeline is the events of findings since a time, newest first.
type timeline struct {
	events []entry
	// partly is the number of findings of which only the first and the last version were read.
	partly int
	cut    bool
}

// An entry is one event of a finding.
type entry struct {
	report.Event
	*row
}

// A timelineView is the data of the timeline page.
type timelineView struct {
	frame
	Filter   filter
	Controls controls
	Days     []day
	Found    int
	Pages    pager
	Partly   int
	Cut      bool
	// Period is the length of the timeline.
	Period string
}

// A day is the events of one day, in UTC.
type day struct {
	Date   time.Time
	Events []entry
}

func (s *site) timelinePage(w http.ResponseWriter, r *http.Request) error {
	f := readFilter(r.URL.Query())
	f.State, f.Like, f.Resources = isOpen, "", nil
	f.Since = cmp.Or(f.Since, defaultSince)
	since, err := timeparse.Parse(f.Since, s.Now())
	if err != nil {
		return &server.Error{Status: http.StatusBadRequest, Message: "since: " + err.Error(), Hint: "want one such as 24h, 7d or 2026-11-20"}
	}
	revision, _ := s.News.Now()
	line, known, err := s.timelines.get(r.Context(), revision, f.Since, func() (*timeline, error) { return s.buildTimeline(since) })
	if err != nil {
		return err
	}
	v := timelineView{frame: s.frame(w, r, "Timeline", "timeline"), Filter: f, Partly: line.partly, Cut: line.cut}
	v.Revision = known
	v.Period = "since " + phrase.Line(f.Since, 40)
	if _, err := timeparse.ParseDuration(f.Since); err == nil {
		v.Period = "in the last " + spelled(f.Since)
	}
	v.list(line)
	return s.render(w, r, http.StatusOK, "timeline", v)
}

func (s *site) buildTimeline(since time.Time) (*timeline, error) {
	all, err := s.API.Store.Findings(store.Filter{Since: since, Resolved: true})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b model.Finding) int { return cmp.Or(latest(&b).Compare(latest(&a)), cmp.Compare(a.ID, b.ID)) })
	line, clock := &timeline{partly: max(0, len(all)-mostInFull)}, s.clock()
	for i := range all {
		f := &all[i]
		versions := ends(f)
		if i < mostInFull {
			if versions, err = s.versions(f.ID); err != nil {
				return nil, err
			}
		}
		r := newRow(f, clock)
		for _, e := range report.Events(versions, clock) {
			if e.At.Before(since) {
				continue
			}
			for k := range e.Fields {
				e.Fields[k] = e.Fields[k].Bound(rowValue)
			}
			e.Fields = e.Fields[:min(len(e.Fields), 1)]
			if len(e.Text) > 0 { // the page shows the severity next to the event
				e.Text[0].Text = strings.TrimPrefix(e.Text[0].Text, string(r.Severity)+" ")
			}
			line.events = append(line.events, entry{e, &r})
		}
	}
	slices.SortStableFunc(line.events, func(a, b entry) int { return b.At.Compare(a.At) })
	line.cut = len(line.events) > mostEvents
	line.events = line.events[:min(len(line.events), mostEvents)]
	return line, nil
}

// spelled writes a length of days or hours in words, and returns other lengths unchanged.
func spelled(length string) string {
	for unit, name := range map[string]string{"h": "hour", "d": "day"} {
		if n, err := strconv.Atoi(strings.TrimSuffix(length, unit)); err == nil && strings.HasSuffix(length, unit) {
			return phrase.Count(n, name)
		}
	}
	return phrase.Line(length, 30)
}

// latest returns the time of a finding's last event, as far as the finding itself records it.
func latest(f *model.Finding) time.Time {
	at := f.FirstSeen
	for _, flip := range f.Flips {
		at = model.Later(at, flip.At)
	}
	if f.Decision != nil {
		at = model.Later(at, f.Decision.At)
	}
	return model.Later(at, f.Resolved)
}

// ends returns the first and the last version of a finding, as far as the finding itself records
// them.
func ends(f *model.Finding) []report.Version {
	began := *f
	began.Resolved = time.Time{}
	versions := []report.Version{{At: f.FirstSeen, Finding: began}}
	if !f.Resolved.IsZero() {
		versions = append(versions, report.Version{At: f.Resolved, Finding: *f})
	}
	return versions
}

func (s *site) versions(id string) ([]report.Version, error) {
	_, stored, err := s.API.Store.Finding(id)
	if err != nil {
		return nil, fmt.Errorf("read the versions of %s: %w", id, err)
	}
	versions := make([]report.Version, len(stored))
	for i, v := range stored {
		versions[i] = report.Version{At: v.At, Finding: v.Finding}
	}
	return versions, nil
}

// whats returns the kinds of events.
func whats() []string {
	return []string{report.Opened, report.Changed, report.Resolved, report.Decided}
}

// list selects the events of the page.
func (v *timelineView) list(line *timeline) {
	f, counts, byWhat := &v.Filter, newTally(), map[string]int{}
	if !slices.Contains(whats(), f.What) {
		f.What = ""
	}
	var fit []entry
	for _, e := range line.events {
		wanted := f.What == "" || e.What == f.What
		if !wanted {
			other := newTally()
			if f.matches(e.row, &other) {
				byWhat[e.What]++
			}
			continue
		}
		if f.matches(e.row, &counts) {
			byWhat[e.What]++
			fit = append(fit, e)
		}
	}
	v.Found, v.Pages = len(fit), newPager(f, len(fit))
	if len(fit) > 0 {
		fit = fit[v.Pages.From-1 : v.Pages.To]
	}
	for _, e := range fit {
		date := e.At.UTC().Truncate(24 * time.Hour)
		if n := len(v.Days); n == 0 || !v.Days[n-1].Date.Equal(date) {
			v.Days = append(v.Days, day{Date: date})
		}
		v.Days[len(v.Days)-1].Events = append(v.Days[len(v.Days)-1].Events, e)
	}
	v.Controls = f.controls("/timeline", &counts, nil)
	v.Controls.States = nil
	for _, what := range whats() {
		v.Controls.Whats = append(v.Controls.Whats, option{Value: what, Text: what, Count: byWhat[what], Chosen: f.What == what})
	}
	lengths := []string{"24h", "7d", "30d", "90d"}
	if !slices.Contains(lengths, f.Since) {
		lengths = append(lengths, f.Since)
	}
	for _, length := range lengths {
		v.Controls.Sinces = append(v.Controls.Sinces, option{Value: length, Text: spelled(length), Chosen: f.Since == length})
	}
	v.Controls.Clear = ""
	if f.narrow() {
		v.Controls.Clear = "/timeline?since=" + url.QueryEscape(f.Since)
	}
}
