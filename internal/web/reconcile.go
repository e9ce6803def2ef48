package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/server"
)

// maxActions bounds the actions on their page.
const maxActions = 200

// An actionsView is the page of the actions, newest first.
type actionsView struct {
	frame
	reconcile.Overview
	Holds []reconcile.Hold
	More  int
	// Thaws reports whether a freeze holds that a person set.
	Thaws bool
}

// An actView is the part of a finding's page about actions.
type actView struct {
	// Last is the newest action for the finding; nil if there is none.
	Last *reconcile.Action
	// Held is why driftd proposed none after the last scan; nil if no rule allows it, or Last is open.
	Held *reconcile.Held
	// Changes are what it does.
	Changes []planChange
	// Proposes, Answers and Declines report whether the visitor may propose one, and answer Last, or only decline it.
	// Why is why the visitor may not approve it; "" if they may.
	Proposes, Answers, Declines bool
	Why                         string
	// Settles are the results with which the visitor may settle Last.
	Settles []reconcile.State
}

// A planChange is one field of a plan as text.
type planChange struct{ Path, Old, New string }

// maxPlanValue bounds the values of a plan, in characters.
const maxPlanValue = 2000

// reconciles reports whether there are rules for actions.
func (s *site) reconciles() bool {
	if s.API.Acting == nil {
		return false
	}
	o, err := s.API.Actions()
	return err == nil && (len(o.Rules) > 0 || len(o.Actions) > 0)
}

// acting returns the part of a finding's page about actions; nil if there are no rules for actions, or none
// can be made.
func (s *site) acting(r *http.Request, id string, resolved bool) (*actView, error) {
	if s.API.Acting == nil {
		return nil, nil
	}
	o, err := s.API.Actions()
	if err != nil {
		return nil, err
	}
	v := &actView{Last: o.LastAction(id), Held: o.HeldFinding(id)}
	if v.Last == nil && (len(o.Rules) == 0 || resolved) {
		return nil, nil
	}
	visitor := access.Of(r.Context())
	open := v.Last != nil && v.Last.State.IsOpen()
	v.Proposes = !open && !resolved && visitor.May(access.Operator) && visitor.Person != ""
	if v.Last == nil {
		return v, nil
	}
	v.Changes = planChanges(&v.Last.Plan)
	v.Declines = open && !v.Last.State.MayHaveWritten() && visitor.May(access.Operator)
	v.Answers = v.Declines && v.Last.State == reconcile.Proposed
	v.Why = whyNotApprove(visitor, v.Last)
	v.Settles = settles(visitor, v.Last)
	return v, nil
}

// settles returns the results with which a visitor may settle an action.
func settles(visitor access.Visitor, a *reconcile.Action) []reconcile.State {
	if !a.State.MayHaveWritten() || !visitor.May(access.Approver) || visitor.Person == "" {
		return nil
	}
	return reconcile.Settlements()
}

func planChanges(p *reconcile.Plan) (list []planChange) {
	text := func(v *model.Value) string {
		if v == nil {
			return "(absent)"
		}
		return phrase.Line(v.String(), maxPlanValue)
	}
	for _, c := range p.Changes {
		list = append(list, planChange{c.Where(), text(c.Old), text(c.New)})
	}
	return list
}

// whyNotApprove returns why a visitor may not approve an action; "" if they may.
func whyNotApprove(visitor access.Visitor, a *reconcile.Action) string {
	switch {
	case !visitor.May(access.Approver):
		return "Approving requires the role approver."
	case visitor.Person == "":
		return "Approving requires a person of people in the configuration, and " + visitor.Author() + " is none."
	case visitor.Person == a.By:
		return "You asked for it: another person must approve it."
	case a.Drift.IsPerson() && visitor.Person == a.Drift.Name:
		return "You made the drift: another person must approve it."
	}
	return ""
}

// actionsPage lists the actions.
func (s *site) actionsPage(w http.ResponseWriter, r *http.Request) error {
	o, err := s.API.Actions()
	if err != nil {
		return err
	}
	v := actionsView{frame: s.frame(w, r, "Actions", "actions"), Overview: o, Holds: o.Holds(), More: max(0, len(o.Actions)-maxActions)}
	v.Actions = o.Actions[:len(o.Actions)-v.More]
	v.Thaws = slices.ContainsFunc(o.Freezes, func(c reconcile.Control) bool { return !c.Scheduled() })
	return s.render(w, r, http.StatusOK, "actions", v)
}

// control freezes actions, ends that, or resumes a rule.
func (s *site) control(w http.ResponseWriter, r *http.Request) error {
	request := server.ControlRequest{Kind: reconcile.ControlKind(r.PostFormValue("kind")), Source: strings.TrimSpace(r.PostFormValue("source")),
		Rule: r.PostFormValue("rule"), Until: strings.TrimSpace(r.PostFormValue("until")), Reason: r.PostFormValue("reason")}
	if _, err := s.API.Control(r.Context(), request); err != nil {
		return fmt.Errorf("%s: %w", request.Kind, err)
	}
	s.News.Notify()
	after(w, r, "/actions", "controlled")
	return nil
}

// propose proposes an action for a finding.
func (s *site) propose(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	q := reconcile.Request{By: access.Of(r.Context()).Author(), Via: "web", Reason: r.PostFormValue("reason")}
	var made server.Proposed
	err := server.Unhurried(w, func() (err error) { //nolint:contextcheck // an action that is armed outlives the request
		made, err = s.API.Reconcile(r.Context(), id, false, q)
		return err
	})
	if err != nil {
		return fmt.Errorf("propose an action for %s: %w", id, err)
	}
	s.News.Notify()
	after(w, r, "/findings/"+made.Action.Finding, "proposed")
	return nil
}

// answer approves, declines, cancels or settles an action.
func (s *site) answer(w http.ResponseWriter, r *http.Request) error {
	answer := reconcile.Answer(r.PathValue("answer"))
	if err := s.API.Permit(r.Context(), server.RoleOf(answer)); err != nil {
		return err
	}
	q := reconcile.Request{By: access.Of(r.Context()).Author(), Via: "web", Reason: r.PostFormValue("reason"), Digest: r.PostFormValue("digest"),
		As: reconcile.State(r.PostFormValue("as"))}
	var made reconcile.Action
	err := server.Unhurried(w, func() (err error) { //nolint:contextcheck // an action that is armed outlives the request
		made, err = s.API.AnswerAction(r.Context(), r.PathValue("id"), answer, q)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s action %s: %w", answer, r.PathValue("id"), err)
	}
	s.News.Notify()
	said := "answered"
	if made.State == reconcile.Converged {
		said = "converged"
	}
	after(w, r, "/findings/"+made.Finding, said)
	return nil
}
