package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// An Actor proposes actions and carries them out. The daemon implements it.
type Actor interface {
	// PreviewAction returns the proposal of an action for a finding. Act proposes the action.
	PreviewAction(ctx context.Context, f *model.Finding, by string) (reconcile.Proposal, error)
	Act(ctx context.Context, f *model.Finding, q reconcile.Request) (reconcile.Action, error)
	// AnswerAction approves, declines, cancels or settles the action whose ID begins with id.
	AnswerAction(ctx context.Context, id string, answer reconcile.Answer, q reconcile.Request) (reconcile.Action, error)
	// Control freezes actions, ends freezes, or resumes a rule.
	Control(c reconcile.Control) (reconcile.Control, error)
	// Actions returns an overview of the actions.
	Actions() (reconcile.Overview, error)
}

// An ActionRequest is the body of a POST to /api/v1/findings/{id}/reconcile and to an action.
type ActionRequest struct {
	Reason string `json:"reason"`
	// Digest is the digest of the plan that the caller approves.
	Digest string `json:"digest,omitempty"`
	// As is the state to which the caller settles the action.
	As reconcile.State `json:"as,omitempty"`
	// DryRun requests the proposal only. No action is proposed.
	DryRun bool `json:"dry_run,omitempty"`
}

// A Proposed is the response to a request to reconcile. For a dry run it contains the proposal, and
// otherwise the action.
type Proposed struct {
	Proposal *reconcile.Proposal `json:"proposal,omitempty"`
	Action   *reconcile.Action   `json:"action,omitempty"`
}

// A ControlRequest is the body of a POST to /api/v1/controls.
type ControlRequest struct {
	Kind   reconcile.ControlKind `json:"kind"`
	Source string                `json:"source,omitempty"`
	Rule   string                `json:"rule,omitempty"`
	// Until is the time at which a freeze ends: a time, or a duration from now.
	Until  string `json:"until,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// reasonHint is what to do if a reason is missing.
const reasonHint = "say why (on the command line with --reason): it stays in the audit log"

func (a API) actor() (Actor, error) {
	if a.Acting == nil {
		return nil, &Error{Status: http.StatusServiceUnavailable, Message: "only the daemon acts", Hint: "start driftd serve"}
	}
	return a.Acting, nil
}

func (a API) actions(r *http.Request) (any, error) {
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	return a.Actions()
}

// Actions returns the actions in their published form.
func (a API) Actions() (reconcile.Overview, error) {
	actor, err := a.actor()
	if err != nil {
		return reconcile.Overview{}, err
	}
	o, err := actor.Actions()
	if err != nil {
		return o, err
	}
	o.Actions = slices.Clone(o.Actions)
	for i := range o.Actions {
		o.Actions[i] = o.Actions[i].Public()
	}
	return o, nil
}

func (a API) action(r *http.Request) (any, error) {
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	o, err := a.Actions()
	if err != nil {
		return nil, err
	}
	found, err := reconcile.FindAction(o.Actions, r.PathValue("id"))
	return found, err
}

// request decodes the body of a request about a finding or an action, for a visitor with a role.
func (a API) request(r *http.Request, role access.Role) (body ActionRequest, q reconcile.Request, err error) {
	if _, err := a.params(r); err != nil {
		return body, q, err
	}
	if err := a.Permit(r.Context(), role); err != nil {
		return body, q, err
	}
	if err := readBody(r.Body, &body, `want {"reason", "digest", "as", "dry_run"}`); err != nil {
		return body, q, err
	}
	return body, reconcile.Request{By: access.Of(r.Context()).Author(), Via: via(r.Context()), Reason: strings.TrimSpace(body.Reason), Digest: body.Digest, As: body.As}, nil
}

// unhurried answers without the time limits of the connection: an action has its own.
func (a API) unhurried(handle func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body any
		err := Unhurried(w, func() (err error) {
			body, err = handle(r)
			return err
		})
		a.reply(w, r, body, err)
	})
}

// reconcile proposes an action for a finding.
func (a API) reconcile(r *http.Request) (any, error) {
	body, q, err := a.request(r, access.Operator)
	if err != nil {
		return nil, err
	}
	return a.Reconcile(r.Context(), r.PathValue("id"), body.DryRun, q)
}

// Reconcile proposes an action for the finding whose ID begins with id. If dryRun is set, it only returns
// the proposal.
func (a API) Reconcile(ctx context.Context, id string, dryRun bool, q reconcile.Request) (Proposed, error) {
	actor, err := a.actor()
	if err != nil {
		return Proposed{}, err
	}
	f, _, err := a.Store.Finding(id)
	if err != nil {
		return Proposed{}, err
	}
	if dryRun {
		p, err := actor.PreviewAction(ctx, &f, q.By)
		if p.Plan != nil {
			shown := p.Plan.Public()
			p.Plan = &shown
		}
		return Proposed{Proposal: &p}, err
	}
	if q.Reason == "" {
		return Proposed{}, badRequest("an action needs a reason", reasonHint)
	}
	// Otherwise the requester could approve under another name.
	if q.By = access.Of(ctx).Person; q.By == "" {
		return Proposed{}, &reconcile.Refusal{Guard: "person", Why: "who asks for an action must be a person: add them to people in the configuration"}
	}
	made, err := actor.Act(ctx, &f, q)
	if err != nil {
		return Proposed{}, err
	}
	made = made.Public()
	return Proposed{Action: &made}, nil
}

// answerAction returns the handler for an answer to an action.
func (a API) answerAction(answer reconcile.Answer) func(*http.Request) (any, error) {
	role := RoleOf(answer)
	return func(r *http.Request) (any, error) {
		_, q, err := a.request(r, role)
		if err != nil {
			return nil, err
		}
		return a.AnswerAction(r.Context(), r.PathValue("id"), answer, q)
	}
}

// RoleOf returns the role that is required for an answer.
func RoleOf(answer reconcile.Answer) access.Role {
	if answer == reconcile.ApproveAnswer || answer == reconcile.SettleAnswer {
		return access.Approver
	}
	return access.Operator
}

// AnswerAction approves, declines, cancels or settles an action on behalf of the visitor in ctx. An
// approver must be in the table of people.
func (a API) AnswerAction(ctx context.Context, id string, answer reconcile.Answer, q reconcile.Request) (reconcile.Action, error) {
	actor, err := a.actor()
	if err != nil {
		return reconcile.Action{}, err
	}
	if len(id) < minID {
		return reconcile.Action{}, tooShort(id)
	}
	if answer == reconcile.ApproveAnswer {
		// A visitor who is in no entry of the table may be another person with several names.
		q.By = access.Of(ctx).Person
		if q.Digest == "" {
			return reconcile.Action{}, badRequest("an approval needs the digest of the plan", "`driftd actions show "+id+"` prints it: on the command line, add --digest DIGEST")
		}
	}
	if answer == reconcile.SettleAnswer {
		if q.By = access.Of(ctx).Person; q.Reason == "" {
			return reconcile.Action{}, badRequest("a reason is missing", reasonHint)
		}
		if !slices.Contains(reconcile.Settlements(), q.As) {
			return reconcile.Action{}, badRequest(fmt.Sprintf("unknown result %q", q.As), "want converged, not-converged or failed")
		}
	}
	made, err := actor.AnswerAction(ctx, id, answer, q)
	return made.Public(), err
}

func (a API) control(r *http.Request) (any, error) {
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	var body ControlRequest
	if err := readBody(r.Body, &body, `want {"kind", "source", "rule", "until", "reason"}`); err != nil {
		return nil, err
	}
	return a.Control(r.Context(), body)
}

// Control freezes actions, ends freezes, or resumes a rule, on behalf of the visitor in ctx. A freeze
// requires the role operator; the others require the role approver.
func (a API) Control(ctx context.Context, body ControlRequest) (reconcile.Control, error) {
	var none reconcile.Control
	role := access.Approver
	if body.Kind == reconcile.Freeze {
		role = access.Operator
	}
	if err := a.Permit(ctx, role); err != nil {
		return none, err
	}
	actor, err := a.actor()
	if err != nil {
		return none, err
	}
	c := reconcile.Control{Kind: body.Kind, Source: body.Source, Rule: body.Rule, By: access.Of(ctx).Author(), Via: via(ctx), Reason: strings.TrimSpace(body.Reason)}
	switch {
	case !slices.Contains([]reconcile.ControlKind{reconcile.Freeze, reconcile.Thaw, reconcile.Resume}, c.Kind):
		return none, badRequest(fmt.Sprintf("unknown kind %q", c.Kind), "want freeze, thaw or resume")
	case c.Reason == "":
		return none, badRequest("a reason is missing", reasonHint)
	case c.Kind == reconcile.Resume && c.Rule == "":
		return none, badRequest("no rule is named", "`driftd rules` lists the rules")
	case c.Kind == reconcile.Freeze:
		if c.Until, err = until(body.Until, a.Now()); err != nil {
			return none, err
		}
	}
	return actor.Control(c)
}

// until parses the end of a freeze.
func until(text string, now time.Time) (time.Time, error) {
	if text == "" || text == decide.Forever {
		return time.Time{}, badRequest("a freeze needs an end", "want how long, as in 2h, or a time")
	}
	end, err := decide.ParseUntil(text, now)
	if err == nil && !end.After(now) {
		err = badRequest(fmt.Sprintf("end %q is not in the future", text), "want how long, as in 2h, or a time")
	}
	return end, err
}
