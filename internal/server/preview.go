package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// Preview is the response of /api/v1/preview: the data with which a plan is compared before its apply.
type Preview struct {
	// LastRun is nil before the first run.
	LastRun *model.Run `json:"last_run,omitempty"`
	// Findings are the open findings, including hidden ones. It is never nil.
	Findings []model.Finding `json:"findings"`
	// Objects maps the names of the Terraform declarations to the objects of their last scan. It is never
	// nil.
	Objects map[string]model.ObjectSample `json:"objects"`
}

// preview serves the open findings of a declaration, or of all, with the last run and its objects.
func (a API) preview(r *http.Request) (any, error) {
	p, err := a.params(r, "declaration")
	if err != nil {
		return nil, err
	}
	answer := Preview{Findings: []model.Finding{}, Objects: map[string]model.ObjectSample{}}
	run, err := a.Store.LastRun()
	if errors.Is(err, store.ErrNotFound) {
		return answer, nil
	}
	if err != nil {
		return nil, err
	}
	open, err := a.Store.Findings(store.Filter{})
	if err != nil {
		return nil, err
	}
	answer.Objects = run.Samples()
	run = run.At(a.Now(), open).Public()
	answer.LastRun = &run
	declaration := p.Get("declaration")
	for i := range open {
		if declaration == "" || open[i].ClaimedBy(declaration) {
			answer.Findings = append(answer.Findings, open[i].Public())
		}
	}
	return answer, nil
}

// Preview returns the data with which a plan is compared: for one declaration or, if declaration is "", for
// all.
func (c *Client) Preview(ctx context.Context, declaration string) (p Preview, err error) {
	query := url.Values{}
	if declaration != "" {
		query.Set("declaration", declaration)
	}
	err = c.do(ctx, http.MethodGet, "preview", query, &p)
	return p, err
}
