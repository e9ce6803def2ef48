package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// A BaselineRequest is the body of a POST to /api/v1/baseline.
type BaselineRequest struct {
	Reason string `json:"reason"`
	// Owner is the owner of the decision. "" means the visitor.
	Owner string `json:"owner"`
	// Until is the time at which the decision ends, in the format of DecisionRequest.Until. It must not be
	// "forever".
	Until string `json:"until"`
	// Token is the token from the preview.
	Token string `json:"token"`
	// Incomplete confirms that the visitor accepts that not everything was checked.
	Incomplete bool `json:"incomplete"`
}

// previewBaseline returns the counts of findings that a baseline would accept now.
func (a API) previewBaseline(r *http.Request) (any, error) {
	if _, err := a.params(r); err != nil {
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
	run = run.At(a.Now(), open)
	return decide.PreviewBaseline(open, &run), nil
}

// baseline calls Baseline with the request's body.
func (a API) baseline(r *http.Request) (any, error) {
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	var request BaselineRequest
	if err := readBody(r.Body, &request, `want {"reason", "owner", "until", "token", "incomplete"}`); err != nil {
		return nil, err
	}
	return a.Baseline(r.Context(), request)
}

// Baseline accepts, in one decision, all open findings that were checked and are not critical. It does so
// on behalf of the visitor in ctx, who must have the role approver.
func (a API) Baseline(ctx context.Context, request BaselineRequest) (Decisions, error) {
	if err := a.Permit(ctx, access.Approver); err != nil {
		return Decisions{}, err
	}
	if a.Decider == nil {
		return Decisions{}, undecided()
	}
	made, err := a.Decider.Decide(ctx, nil, decide.Request{Kind: model.Accept, Reason: request.Reason, Owner: request.Owner, Until: request.Until,
		By: access.Of(ctx).Author(), Via: via(ctx), Baseline: &decide.Baseline{Token: request.Token, Incomplete: request.Incomplete}})
	if err != nil {
		return Decisions{}, err
	}
	return a.standing(made)
}

// PreviewBaseline returns the counts of findings that a baseline would accept now.
func (c *Client) PreviewBaseline(ctx context.Context) (p decide.Preview, err error) {
	err = c.do(ctx, http.MethodGet, "baseline", nil, &p)
	return p, err
}

// Baseline accepts all open findings and returns the decision.
func (c *Client) Baseline(ctx context.Context, request BaselineRequest) (d model.DecisionStatus, err error) {
	var made Decisions
	body, err := json.Marshal(request)
	if err == nil {
		err = c.send(ctx, http.MethodPost, "baseline", nil, bytes.NewReader(body), &made)
	}
	if err == nil && len(made.Decisions) == 1 {
		d = made.Decisions[0]
	}
	return d, err
}
