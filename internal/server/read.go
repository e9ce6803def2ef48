package server

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// Findings is the answer to /api/v1/findings.
type Findings struct {
	// Findings come worst first and are never null.
	Findings []model.Finding `json:"findings"`
	// Total counts those that fit, however few of them are listed.
	Total int `json:"total"`
}

// FindingDetail is the answer to /api/v1/findings/{id}.
type FindingDetail struct {
	Finding model.Finding `json:"finding"`
	// Versions are the values that it had, oldest first.
	Versions []FindingVersion `json:"versions"`
}

// A FindingVersion is one value that a finding had, from At on.
type FindingVersion struct {
	At      time.Time     `json:"at"`
	Finding model.Finding `json:"finding"`
}

// Exemptions is the answer to /api/v1/exemptions.
type Exemptions struct {
	// Exemptions come in the order of resources and are never null.
	Exemptions []model.Exemption `json:"exemptions"`
	// Total counts those of the last scan, however few of them are listed.
	Total int `json:"total"`
}

// Runs is the answer to /api/v1/runs.
type Runs struct {
	// Runs come newest first and are never null.
	Runs []model.Run `json:"runs"`
}

// report answers with the last run and what is open now of its sources and
// declarations. The summary counts all of that, however little is selected;
// what was not checked is counted of the selected sources, whatever the other
// filters leave out.
func (a API) report(r *http.Request) (any, error) {
	p, err := a.params(r, selectionNames()...)
	if err != nil {
		return nil, err
	}
	s, err := p.selection()
	if err != nil {
		return nil, err
	}
	run, err := a.lastRun()
	if err != nil {
		return nil, err
	}
	open, err := a.Store.Findings(store.Filter{})
	if err != nil {
		return nil, err
	}
	shown, err := a.selected(s)
	if err != nil {
		return nil, err
	}
	selected := s.narrow(run).At(a.Now(), open)
	foreign := func(f model.Finding) bool { return !run.Includes(&f) }
	return model.Report{
		Version:  model.ReportVersion,
		Scan:     selected.Scan(),
		Summary:  summary(run, slices.DeleteFunc(open, foreign)),
		Findings: slices.DeleteFunc(shown, foreign),
		Coverage: selected.Coverage,
	}, nil
}

// summary counts what is open now; what is in sync only the run can tell.
func summary(run model.Run, open []model.Finding) model.Summary {
	s := model.Summary{Resources: run.Summary.Resources, InSync: run.Summary.InSync, Exempt: run.Summary.Exempt, NotJudged: run.Summary.NotJudged}
	unchecked := map[model.Key]bool{}
	for _, f := range open {
		switch {
		case f.Hidden != "":
			s.Hidden++
		case f.Accepted():
			s.Accepted++
		case f.Verdict.IsDrift():
			s.Findings++
		default:
			unchecked[f.Key] = true
		}
	}
	s.Unchecked = len(unchecked)
	return s
}

func (a API) lastRun() (model.Run, error) {
	run, err := a.Store.LastRun()
	if errors.Is(err, store.ErrNotFound) {
		return run, &Error{Status: http.StatusNotFound, Message: "nothing has been scanned yet",
			Hint: "run driftd scan, or wait for the first scan of the daemon"}
	}
	return run.Public(), err
}

// selected returns findings as people may see them.
func (a API) selected(s selection) ([]model.Finding, error) {
	if err := a.checkSources(s.sources); err != nil {
		return nil, err
	}
	all, err := a.Store.Findings(s.Filter)
	if err != nil {
		return nil, err
	}
	shown := make([]model.Finding, 0, len(all))
	for _, f := range all {
		if s.wantsSource(f.Source) && (s.hidden || f.Shown()) {
			shown = append(shown, f.Public())
		}
	}
	return shown, nil
}

// checkSources returns an error for the name of a source that neither the last run nor
// an open finding names: an empty answer to a typo would look like good news.
func (a API) checkSources(names []string) error {
	if len(names) == 0 {
		return nil
	}
	run, err := a.lastRun()
	if err != nil {
		return err
	}
	open, err := a.Store.Findings(store.Filter{})
	if err != nil {
		return err
	}
	known := namedSources(&run, open)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("unknown source %q", name),
				Hint: "want one of " + strings.Join(known, ", "), Candidates: known}
		}
	}
	return nil
}

// namedSources returns the names of all sources that status and findings show, each
// once: a plan that could not be made is the source of a finding, and not of the run.
func namedSources(run *model.Run, open []model.Finding) []string {
	var names []string
	for i := range run.Sources {
		names = append(names, run.Sources[i].Name)
	}
	for i := range run.NotJudged {
		names = append(names, run.NotJudged[i].Source)
	}
	for i := range run.NotGoverned {
		names = append(names, run.NotGoverned[i].Source)
	}
	for i := range open {
		names = append(names, open[i].Source)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// maxFindingsListed bounds the findings that a limit asks for.
const maxFindingsListed = 10_000

func (a API) findings(r *http.Request) (any, error) {
	p, err := a.params(r, append(selectionNames(), "limit", "offset")...)
	if err != nil {
		return nil, err
	}
	s, err := p.selection()
	if err != nil {
		return nil, err
	}
	offset, err := p.number("offset", 0, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	limit, err := p.number("limit", math.MaxInt32, 1, maxFindingsListed)
	if err != nil {
		return nil, err
	}
	all, err := a.selected(s)
	if err != nil {
		return nil, err
	}
	from := min(offset, len(all))
	return Findings{all[from:min(from+limit, len(all))], len(all)}, nil
}

func (a API) finding(r *http.Request) (any, error) {
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	finding, versions, err := a.Store.Finding(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	detail := FindingDetail{Finding: finding.Public(), Versions: make([]FindingVersion, len(versions))}
	for i, v := range versions {
		detail.Versions[i] = FindingVersion{v.At, v.Finding.Public()}
	}
	return detail, nil
}

// The number of runs that one answer holds.
const (
	defaultRuns = 20
	maxRuns     = 1000
)

func (a API) runs(r *http.Request) (any, error) {
	p, err := a.params(r, "limit")
	if err != nil {
		return nil, err
	}
	limit, err := p.number("limit", defaultRuns, 1, maxRuns)
	if err != nil {
		return nil, err
	}
	runs, err := a.Store.Runs(limit)
	shown := make([]model.Run, len(runs))
	for i := range runs {
		shown[i] = runs[i].Public()
	}
	return Runs{shown}, err
}

// exemptions answers with the fields that the last scan exempted.
func (a API) exemptions(r *http.Request) (any, error) {
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	run, err := a.Store.LastRun()
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return Exemptions{append([]model.Exemption{}, run.Exempt...), run.Summary.Exempt}, err
}

// waiting is never nil.
func (a API) waiting() []string {
	if a.Waiting == nil {
		return []string{}
	}
	return append([]string{}, a.Waiting()...)
}

// healthz tells that the process answers.
func (a API) healthz(w http.ResponseWriter, r *http.Request) {
	a.writeBody(w, r, http.StatusOK, plain, []byte("ok\n"))
}

// readyz tells whether the daemon has what it needs to answer well.
func (a API) readyz(w http.ResponseWriter, r *http.Request) {
	if waiting := a.waiting(); len(waiting) > 0 {
		body := "waiting\n"
		if access.Of(r.Context()).May(access.Viewer) {
			body = "waiting for:\n" + strings.Join(waiting, "\n") + "\n"
		}
		a.writeBody(w, r, http.StatusServiceUnavailable, plain, []byte(body))
		return
	}
	a.writeBody(w, r, http.StatusOK, plain, []byte("ready\n"))
}
