package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/filter"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// Findings is the response of /api/v1/findings.
type Findings struct {
	// Findings are sorted, most severe first. It is never nil.
	Findings []model.Finding `json:"findings"`
	// Total is the number of matching findings, including those beyond the limit.
	Total int `json:"total"`
}

// Outlines is the response of /api/v1/outlines.
type Outlines struct {
	// Outlines are sorted, most severe first. It is never nil.
	Outlines []*model.Outline `json:"outlines"`
	// Total is the number of matching findings, including those beyond the limit.
	Total int `json:"total"`
}

// FindingDetail is the response of /api/v1/findings/{id}.
type FindingDetail struct {
	Finding model.Finding `json:"finding"`
	// Versions are the versions of the finding, oldest first.
	Versions []FindingVersion `json:"versions"`
}

// A FindingVersion is a version of a finding, valid from At.
type FindingVersion struct {
	At      time.Time     `json:"at"`
	Finding model.Finding `json:"finding"`
}

// Exemptions is the response of /api/v1/exemptions.
type Exemptions struct {
	// Exemptions are sorted by resource. It is never nil.
	Exemptions []model.Exemption `json:"exemptions"`
	// Total is the number of exemptions of the last scan, including those beyond the limit.
	Total int `json:"total"`
}

// Runs is the response of /api/v1/runs.
type Runs struct {
	// Runs are sorted, newest first. It is never nil.
	Runs []model.Run `json:"runs"`
}

// report serves the last run with the findings that are open now in its sources and declarations.
// The summary counts all of them regardless of the filters, except for unchecked resources, which
// it counts in the selected sources.
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
	shown, err := a.selected(r.Context(), s)
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

// summary counts the open findings. The number of resources in sync comes from the run.
func summary(run model.Run, open []model.Finding) model.Summary {
	s := model.Summary{Resources: run.Summary.Resources, InSync: run.Summary.InSync, Exempt: run.Summary.Exempt, NotJudged: run.Summary.NotJudged}
	s.CountFindings(open)
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

// selected returns the selected findings with secrets removed.
func (a API) selected(ctx context.Context, s selection) ([]model.Finding, error) {
	f := s.stored()
	if s.filter.Empty() {
		if _, err := a.matchSources(s.sources); err != nil {
			return nil, err
		}
	} else {
		outlines, err := a.selectedOutlines(ctx, s)
		if err != nil {
			return nil, err
		}
		ids := make(map[string]bool, len(outlines))
		for _, o := range outlines {
			ids[o.ID] = true
		}
		f.Fits = func(o *model.Outline) bool { return ids[o.ID] }
	}
	all, err := a.Store.Findings(f)
	if err != nil {
		return nil, err
	}
	shown := make([]model.Finding, len(all))
	for i := range all {
		shown[i] = all[i].Public()
	}
	return shown, nil
}

// selectedOutlines returns the outlines of the selected findings, in any order and never nil. The filter may name the kinds of all
// that the rest of the selection selects.
func (a API) selectedOutlines(ctx context.Context, s selection) ([]*model.Outline, error) {
	if _, err := a.matchSources(s.sources); err != nil {
		return nil, err
	}
	all, err := a.Store.Outlines(s.stored())
	if all == nil {
		all = []*model.Outline{}
	}
	if err != nil || s.filter.Empty() {
		return all, err
	}
	fits, err := s.filter.Fits(filter.NamesOf(all, func(o *model.Outline) string { return o.Kind }))
	if err != nil {
		return nil, badRequest(err.Error(), "")
	}
	picked := make([]*model.Outline, 0, min(len(all), maxFindingsListed))
	for i, o := range all {
		const often = 256
		if i%often == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("filter findings: %w", ctx.Err())
		}
		if fits(o) {
			picked = append(picked, o)
		}
	}
	return picked, nil
}

// matchSources returns the sources that the patterns match. It returns an error for a pattern
// that matches no source of the last run or of an open finding: an empty result for a
// misspelled name would look like the absence of drift.
func (a API) matchSources(patterns []string) ([]string, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	run, err := a.lastRun()
	if err != nil {
		return nil, err
	}
	open, err := a.Store.Outlines(store.Filter{})
	if err != nil {
		return nil, err
	}
	known := namedSources(&run, open)
	for _, pattern := range patterns {
		if !slices.ContainsFunc(known, func(name string) bool { return model.GlobName([]string{pattern}, name) }) {
			return nil, &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("unknown source %q", pattern),
				Hint: "want one of " + strings.Join(known, ", "), Candidates: known}
		}
	}
	return slices.DeleteFunc(known, func(name string) bool { return !model.GlobName(patterns, name) }), nil
}

// namedSources returns the names of all sources that status and findings show, each once. A plan
// that could not be made is the source of a finding but is not in the run.
func namedSources(run *model.Run, open []*model.Outline) []string {
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

// maxFindingsListed bounds the limit parameter for findings.
const maxFindingsListed = 10_000

func (a API) findings(r *http.Request) (any, error) {
	p, err := a.params(r, listNames()...)
	if err != nil {
		return nil, err
	}
	all, total, err := listed(r.Context(), p, a.selected)
	return Findings{all, total}, err
}

func (a API) outlines(r *http.Request) (any, error) {
	p, err := a.params(r, listNames()...)
	if err != nil {
		return nil, err
	}
	all, total, err := listed(r.Context(), p, func(ctx context.Context, s selection) ([]*model.Outline, error) {
		list, err := a.selectedOutlines(ctx, s)
		model.SortOutlines(list)
		return list, err
	})
	return Outlines{all, total}, err
}

// listed returns the part of a list that a request asks for, never nil, and the length of the list.
func listed[T any](ctx context.Context, p params, selected func(context.Context, selection) ([]T, error)) (part []T, total int, err error) {
	s, err := p.selection()
	if err != nil {
		return nil, 0, err
	}
	offset, err := p.number("offset", 0, 0, math.MaxInt32)
	if err != nil {
		return nil, 0, err
	}
	limit, err := p.number("limit", math.MaxInt32, 1, maxFindingsListed)
	if err != nil {
		return nil, 0, err
	}
	all, err := selected(ctx, s)
	if err != nil {
		return nil, 0, err
	}
	from := min(offset, len(all))
	return all[from:min(from+limit, len(all))], len(all), nil
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

// The default and the maximum number of runs in one response.
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

// exemptions serves the fields that the last scan exempted.
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

// waiting returns the unmet conditions; never nil.
func (a API) waiting() []string {
	if a.Waiting == nil {
		return []string{}
	}
	return append([]string{}, a.Waiting()...)
}

// healthz reports that the process is serving.
func (a API) healthz(w http.ResponseWriter, r *http.Request) {
	a.writeBody(w, r, http.StatusOK, plain, []byte("ok\n"))
}

// readyz reports whether the daemon is ready.
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
