package manifests

import (
	"context"
	"errors"
	"fmt"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/await"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

var _ declared.Historian = (*loader)(nil)

// History implements declared.Historian. At each commit it searches all manifests and kustomizations below
// the declared path for the objects, as Load does, but without network access. It caches the results, so
// that later calls read only new commits.
func (l *loader) History(ctx context.Context, revision string, claims []*model.Claim) (model.History, error) {
	if l.repository == nil {
		return withGap("", claims, "a plain folder keeps no history"), nil
	}
	if l.release != nil && l.env.Helm == "" {
		return withGap(revision, claims, "the chart is not rendered"), nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.config.Timeout)
	defer cancel()
	select {
	case l.past.lock <- struct{}{}:
		defer func() { <-l.past.lock }()
	case <-ctx.Done():
		return model.History{}, fmt.Errorf("read history: %w", ctx.Err())
	}
	query := gitrepo.Query{Ref: l.config.Ref, Revision: revision, MaxFile: l.config.MaxFileSize}
	var pasts []model.Past
	again := false
	head, err := l.repository.History(ctx, query, func(log gitrepo.Log) (err error) {
		if again {
			// Results from a damaged clone are invalid.
			l.past.reset()
		}
		again = true
		reading, cancel := await.Half(ctx)
		defer cancel()
		pasts, err = l.pasts(reading, log, claims)
		return err
	})
	if err != nil {
		return model.History{}, err
	}
	return model.History{Head: head, Pasts: pasts}, nil
}

// withGap returns a history without versions. reason is the gap of each claim.
func withGap(head string, claims []*model.Claim, reason string) model.History {
	h := model.History{Head: head, Pasts: make([]model.Past, len(claims))}
	for i := range h.Pasts {
		h.Pasts[i].Gap = reason
	}
	return h
}

// pasts returns the past of each claim, from a log.
func (l *loader) pasts(ctx context.Context, log gitrepo.Log, claims []*model.Claim) (_ []model.Past, err error) {
	b := l.openBox(false)
	if l.release != nil {
		b = l.openRenderer()
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	m := l.past
	m.limitSize()
	subjects := make([]int, len(claims))
	for i, c := range claims {
		subjects[i] = m.subject(c, l.claimOptions(c))
	}
	r := &pastReader{ctx: ctx, loader: l, cache: m, renderings: maxRenderings, parse: maxParsed, box: b}
	if l.flux != nil {
		r.renderings = maxFluxBuilds
	}
	found := map[*gitrepo.LogCommit]*outcome{}
	visit := func(line gitrepo.Line) {
		for _, c := range line.Commits {
			found[c] = r.commit(c)
		}
	}
	visit(log.Ref)
	for _, b := range log.Branches {
		visit(b)
	}
	pasts := make([]model.Past, len(claims))
	for i, n := range subjects {
		pasts[i] = m.past(log, found, n)
		if l.flux != nil && isInstalled(claims[i]) {
			pasts[i] = model.Past{Gap: "charts of HelmReleases are not rendered for earlier commits"}
		}
	}
	return pasts, nil
}

// maxVersions bounds the versions of one claim.
const maxVersions = 2000

// past returns the past of one subject, from the outcomes of the commits of a log.
func (m *historyCache) past(log gitrepo.Log, found map[*gitrepo.LogCommit]*outcome, subject int) model.Past {
	past := model.Past{Gap: log.Gap}
	var unread, first string
	count := 0
	spans := gitrepo.Spans(log, func(c *gitrepo.LogCommit) []int {
		values, reason := found[c].of(subject)
		if reason != "" {
			count++
			if unread == "" {
				unread, first = reason, c.Hash
			}
		}
		return values
	})
	if count > 0 {
		text := fmt.Sprintf("at commit %.12s: %s", first, unread)
		if count > 1 {
			text += fmt.Sprintf(" (and at %d more commits)", count-1)
		}
		past.Gap = joinReasons(past.Gap, text)
	}
	if len(spans) > maxVersions {
		spans = spans[:maxVersions]
		past.Gap = joinReasons(past.Gap, fmt.Sprintf("more than %d versions", maxVersions))
	}
	for _, s := range spans {
		v := model.Version{From: s.From, Until: s.Until, Branch: s.Branch}
		switch s.State {
		case absent:
		case encrypted:
			v.Unknown = []string{""}
		default:
			v.Value = &m.subjects[subject].values[s.State]
		}
		past.Versions = append(past.Versions, v)
	}
	return past
}

func joinReasons(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
