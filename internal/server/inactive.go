package server

import (
	"errors"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// inactiveReasons returns the reasons why decisions apply to no finding. It reads the store only when
// needed, and once.
type inactiveReasons struct {
	API
	open about
	over *about
}

// of returns the reason why a decision applies to no finding.
func (x *inactiveReasons) of(d *model.Decision) (string, error) {
	now := x.Now()
	switch {
	case d.ReplacedBy != "":
		return "replaced by decision " + d.ReplacedBy, nil
	case d.Ended(now):
		return "it has ended", nil
	}
	if d.Covers > 0 {
		return "none of its findings is open and unchanged", nil
	}
	outranked := ""
	there := x.open.find(d)
	for _, f := range there {
		switch {
		case !d.Holds(f, now):
		case f.Decision == nil:
			return "the next scan applies it", nil
		default:
			outranked = "decision " + f.Decision.ID + " takes precedence"
		}
	}
	switch {
	case outranked != "":
		return outranked, nil
	case len(there) > 0:
		return "the finding has changed", nil
	case d.Finding != "":
		return "the finding is resolved", nil
	}
	return x.absent(d)
}

// absent returns the reason why no open finding matches a decision in a file.
func (x *inactiveReasons) absent(d *model.Decision) (string, error) {
	if x.over == nil {
		all, err := x.Store.Findings(store.Filter{Resolved: true})
		if err != nil {
			return "", err
		}
		over := newAbout(all)
		x.over = &over
	}
	if len(x.over.find(d)) > 0 {
		return "the finding is resolved", nil
	}
	run, err := x.Store.LastRun()
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	source := d.Subject.Source
	if source != "" && !slices.ContainsFunc(run.Sources, func(s model.SourceRun) bool { return s.Name == source }) {
		return fmt.Sprintf("no source is named %q", source), nil
	}
	return "there is no such finding", nil
}

// about finds the findings that a decision is about, regardless of their current values.
type about struct {
	byID  map[string]*model.Finding
	byKey map[model.Key][]*model.Finding
}

func newAbout(findings []model.Finding) about {
	a := about{map[string]*model.Finding{}, map[model.Key][]*model.Finding{}}
	for i := range findings {
		f := &findings[i]
		a.byID[f.ID] = f
		a.byKey[f.Key] = append(a.byKey[f.Key], f)
	}
	for i := range findings {
		for _, id := range findings[i].Merged {
			if a.byID[id] == nil {
				a.byID[id] = &findings[i]
			}
		}
	}
	return a
}

func (a about) find(d *model.Decision) []*model.Finding {
	if d.Finding == "" {
		return slices.DeleteFunc(slices.Clone(a.byKey[d.Subject.Key]), func(f *model.Finding) bool { return !d.About(f) })
	}
	if f := a.byID[d.Finding]; f != nil {
		return []*model.Finding{f}
	}
	return nil
}
