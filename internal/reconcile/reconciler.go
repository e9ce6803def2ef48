package reconcile

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/driftd/driftd/internal/model"
)

// A Store stores actions and controls.
type Store interface {
	Standing() (Standing, error)
	OpenFindings() ([]model.Finding, error)
	// Propose stores the action that propose returns for a finding. ChangeAction stores the action that
	// change modified. Both call the function within their transaction, with the current finding, or nil if
	// it no longer exists. An action becomes Armed only if the audit log has recorded it.
	Propose(finding string, propose func(*Standing, *model.Finding) (Action, error)) (Action, error)
	ChangeAction(id string, change func(*Action, *Standing, *model.Finding) error) (Action, error)
	AddControl(Control) error
}

// LastReads provides the results of the last reads of sources and declarations.
type LastReads interface {
	// Evidence returns the evidence for a finding. Subject returns its resource and the declared state for
	// it.
	Evidence(f *model.Finding) Evidence
	// Refresh reads the declaration of a finding again, or, for a resource that is not declared, the
	// declarations that govern its source. If a read fails, Evidence contains the reason.
	Refresh(ctx context.Context, f *model.Finding) error
	Subject(f *model.Finding) (Subject, error)
	// Reread reads a source again. It does nothing if the source is the plan of a declaration.
	Reread(ctx context.Context, source string) error
	// Agreement compares the declared values for a finding with earlier live values.
	Agreement(f *model.Finding) (Agreement, error)
}

// Options configure a Reconciler.
type Options struct {
	Rules []Rule
	// Windows are the freezes in the configuration.
	Windows []Window
	Writers
	Store     Store
	LastReads LastReads
	// Digest returns a keyed digest of a text.
	Digest func(text string) string
	// Identities returns the identities of a person in the systems, in the form "kind:ID". It returns none
	// for a name that is not in the table of people. It is nil if there is no such table.
	Identities func(person string) []string
	// Current reports whether the configuration from which these Options were created is still in use. nil
	// means that it always is.
	Current func() bool
	// Done, if not nil, is called at the end of each action that may have changed its resource.
	Done func(Action)
	// Acting is held while an action is carried out. All Reconcilers of a store must share it. It may be
	// nil for a single Reconciler.
	Acting Lock
	// Stopping is closed when driftd stops. An apply that does not end soon afterwards is interrupted. It
	// is nil if driftd never stops.
	Stopping <-chan struct{}
	Now      func() time.Time
	Log      *slog.Logger
}

// A Reconciler proposes actions and carries them out, one at a time. It is safe for concurrent use.
type Reconciler struct {
	Options

	random io.Reader
	mu     sync.Mutex
	// refusals counts refusals by guard since the start.
	refusals map[string]int
	// failed are the findings for which no plan could be made.
	failed map[string]failure
	// held are the findings that got no action after the last scan, the worst first.
	held []Held
}

// New returns a Reconciler with the given options.
func New(o Options) *Reconciler {
	if o.Acting == nil {
		o.Acting = NewLock()
	}
	if o.Done == nil {
		o.Done = func(Action) {}
	}
	if o.Current == nil {
		o.Current = func() bool { return true }
	}
	return &Reconciler{Options: o, random: rand.Reader, refusals: map[string]int{}, failed: map[string]failure{}}
}

// A Request is a request of a person that concerns a finding or an action.
type Request struct {
	// By is the name of the person, Via is the channel of the request, and Reason is the reason that the
	// person gave.
	By, Via, Reason string
	// Digest is the digest of the plan that was displayed to the person.
	Digest string
	// As is the state to which the person settles an action.
	As State
}

// A Proposal is the plan of a possible action, with the results of all guards.
type Proposal struct {
	Rule   string      `json:"rule,omitempty"`
	Mode   Mode        `json:"mode"`
	Guards []Judgement `json:"guards"`
	// Plan and Digest are set if a rule allows actions and the actuator could make a plan.
	Plan   *Plan  `json:"plan,omitempty"`
	Digest string `json:"digest,omitempty"`
}

// Allowed reports whether no guard refuses the action.
func (p *Proposal) Allowed() bool {
	return p.Plan != nil && !slices.ContainsFunc(p.Guards, func(j Judgement) bool { return j.Why != "" })
}

// Preview returns the proposal for a finding. It changes nothing.
func (r *Reconciler) Preview(ctx context.Context, f *model.Finding, by string) (Proposal, error) {
	standing, err := r.Store.Standing()
	if err != nil {
		return Proposal{}, err
	}
	s := r.situation(f, &standing, by)
	p := Proposal{Mode: Off, Guards: CheckAll(s)}
	if s.Rule != nil {
		p.Rule, p.Mode = s.Rule.Name, s.Rule.Mode
	}
	if off(s) != "" {
		return p, nil // a plan asks the live system for a dry run
	}
	change, err := r.plan(ctx, f, &planning{by: by, automatic: p.Mode == Auto && by == ""})
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
		p.Guards = append(p.Guards, Judgement{refusal.Guard, refusal.Why})
		return p, nil
	}
	if err != nil {
		return p, err
	}
	plan := change.Plan()
	p.Plan, p.Digest = &plan, plan.Digest(r.Options.Digest, f)
	for _, guard := range []string{"agreed", "kind", "declarer", "rehearsal"} {
		p.Guards = append(p.Guards, Judgement{Guard: guard})
	}
	return p, nil
}

// situation returns what the guards depend on, before an action.
func (r *Reconciler) situation(f *model.Finding, standing *Standing, by string) *Situation {
	rule := Find(r.Rules, f)
	return &Situation{Now: r.Now(), approvers: approvers{identities: r.Identities}, Finding: f, Rule: rule, Rules: r.Rules, Windows: r.Windows, Writer: r.For(f, rule) != nil, Applies: r.applies(f, rule), Writers: r.Writers, By: by,
		Standing: *standing, Evidence: r.LastReads.Evidence(r.seen(f, rule))}
}

// A planning is for what a plan is made.
type planning struct {
	// by is the person who asks for it; "" for driftd itself. automatic reports whether no person asked for it or
	// approved it.
	by        string
	automatic bool
	// action is the one that is planned again; nil for a new one.
	action *Action
}

// plan plans and rehearses the change for a finding. A panic is an error: an action that waits is planned again after each
// start.
func (r *Reconciler) plan(ctx context.Context, f *model.Finding, q *planning) (change Change, err error) {
	rule := Find(r.Rules, f)
	if why := off(&Situation{Finding: f, Rule: rule, Writer: r.For(f, rule) != nil}); why != "" {
		return nil, &Refusal{"off", why}
	}
	if panicked := panics.Try(func() { change, err = r.tryPlan(ctx, f, q) }); panicked != nil {
		r.Log.Error("panic while an action was planned", "finding", f.ID, "stack", string(panicked.Stack))
		return nil, errors.New("driftd panicked while it planned the action, which is a bug in driftd: report it with the stack in its log")
	}
	return change, err
}

// tryPlan is plan for a finding whose rule and actuator exist.
func (r *Reconciler) tryPlan(ctx context.Context, f *model.Finding, q *planning) (Change, error) {
	rule := Find(r.Rules, f)
	actuator := r.For(f, rule)
	f = r.seen(f, rule)
	if deleter, ok := actuator.(Deleter); isDeleted(f) && (!ok || !deleter.Deletes(f.Kind)) {
		return nil, &Refusal{"kind", "driftd does not delete resources of kind " + f.Kind}
	}
	unseen, err := r.checkAgreed(f, q.automatic)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, actuator.Limit())
	defer cancel()
	subject, err := r.LastReads.Subject(f)
	if err != nil {
		return nil, err
	}
	subject.Named, subject.Note = rule.names(f.Kind), noteOf(f, q)
	subject.Covers = func(path string) bool { return rule.covers(&model.Change{Path: path, Declared: &model.Value{}}) }
	subject.Again = func(ctx context.Context, also []Covered) error { return r.again(ctx, f, also) }
	if subject.Others, err = r.othersOf(f); err != nil {
		return nil, err
	}
	change, err := actuator.Plan(ctx, subject)
	if err != nil {
		return nil, err
	}
	if err := change.Rehearse(ctx); err != nil {
		return nil, err
	}
	planned := change.Plan()
	if planned.Person != "" && q.automatic {
		return nil, &Refusal{"verdict", planned.Person + " needs a person: run `driftd reconcile " + f.ID + "`"}
	}
	more, err := r.checkAlso(&planned, rule, q)
	if err != nil {
		return nil, err
	}
	if unseen && !rule.records() || more {
		change = unseenChange{change}
	}
	return change, nil
}

// noteOf returns what a system that keeps notes of changes is to keep of an action.
func noteOf(f *model.Finding, q *planning) string {
	note := []string{"driftd: finding " + f.ID}
	if q.by != "" {
		note = append(note, "asked for by "+q.by)
	}
	if q.action != nil {
		for i := range q.action.Approvals {
			note = append(note, "approved by "+q.action.Approvals[i].By)
		}
	}
	return strings.Join(note, ", ")
}

// Propose proposes an action for a finding. q.By is the person who requests it, or "" for the rule itself.
// An action that needs no approval is carried out at once. If a guard refuses the action, Propose returns a
// *Refusal.
func (r *Reconciler) Propose(ctx context.Context, f *model.Finding, q Request) (Action, error) {
	a, err := r.propose(ctx, f, q)
	if err != nil {
		r.count(err)
		return a, err
	}
	if Needed(Find(r.Rules, f), &a) > 0 {
		return a, nil
	}
	return r.carryOut(ctx, a.ID)
}

// count counts err if it is a refusal.
func (r *Reconciler) count(err error) {
	refusal := (*Refusal)(nil)
	if !errors.As(err, &refusal) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusals[refusal.Guard]++
}

func (r *Reconciler) propose(ctx context.Context, f *model.Finding, q Request) (Action, error) {
	standing, err := r.Store.Standing()
	if err != nil {
		return Action{}, err
	}
	if refusal := Check(r.situation(f, &standing, q.By)); refusal != nil {
		return Action{}, refusal
	}
	change, err := r.plan(ctx, f, &planning{by: q.By, automatic: Find(r.Rules, f).Mode == Auto && q.By == ""})
	if err != nil {
		return Action{}, err
	}
	return r.Store.Propose(f.ID, func(standing *Standing, now *model.Finding) (Action, error) {
		if now == nil || now.Basis != f.Basis || now.Verdict != f.Verdict {
			return Action{}, &Refusal{"still-so", "the finding changed while the action was planned: look again"}
		}
		s, plan := r.situation(f, standing, q.By), change.Plan()
		s.Plan = &plan
		if refusal := Check(s); refusal != nil {
			return Action{}, refusal
		}
		return r.newAction(s, plan, q)
	})
}

func (r *Reconciler) newAction(s *Situation, plan Plan, q Request) (Action, error) {
	id := make([]byte, 6)
	if _, err := io.ReadFull(r.random, id); err != nil {
		return Action{}, fmt.Errorf("make an ID: %w", err)
	}
	f := s.Finding
	a := Action{ID: hex.EncodeToString(id), Finding: f.ID, Basis: f.Basis, Verdict: f.Verdict, Subject: f.Key, Name: f.Name, Place: f.Place,
		Declaration: r.seen(f, s.Rule).Declaration, Revision: s.Revision, Drift: f.Actor, Rule: s.Rule.Name, RuleDigest: s.Rule.Digest(), Mode: s.Rule.Mode,
		By: q.By, Identities: r.marks(q.By), Via: q.Via, Reason: q.Reason, At: s.Now, Expires: s.Now.Add(s.Rule.Expiry), Plan: plan, Digest: plan.Digest(r.Options.Digest, f)}
	a.Enter(Proposed, s.Now, "")
	return a, nil
}

// A StateError is returned for a request that the current state does not allow.
type StateError struct{ Text string }

// Error returns the message.
func (e *StateError) Error() string { return e.Text }

// proposed returns an error unless the action waits for a decision.
func proposed(a *Action, now time.Time) error {
	switch {
	case a.State != Proposed:
		return &StateError{fmt.Sprintf("action %s is %s", a.ID, a.State)}
	case !now.Before(a.Expires):
		return &StateError{fmt.Sprintf("action %s expired at %s: propose it again", a.ID, stamp(a.Expires))}
	}
	return nil
}

// Approve approves an action on behalf of a person. If the action then has the approvals that its rule
// requires, it is carried out. Approve returns a *Refusal if the person is not allowed to approve the
// action, or has seen another plan.
func (r *Reconciler) Approve(ctx context.Context, id string, q Request) (Action, error) {
	others, err := r.coveredBy(id)
	if err != nil {
		return Action{}, err
	}
	a, err := r.Store.ChangeAction(id, func(a *Action, standing *Standing, f *model.Finding) error {
		now := r.Now()
		if err := proposed(a, now); err != nil {
			return err
		}
		if f == nil || f.Basis != a.Basis {
			return &Refusal{"still-so", "the finding changed since: look again"}
		}
		p := Approval{By: q.By, Identities: r.marks(q.By), Via: q.Via, At: now, Digest: q.Digest, Reason: q.Reason}
		judge := approvers{r.Identities, others}
		if why := judge.mayNotApprove(a, f, &p); why != "" {
			return &Refusal{"person", why}
		}
		rule := Find(r.Rules, f)
		if rule == nil || rule.Digest() != a.RuleDigest {
			return &Refusal{"still-so", fmt.Sprintf("rule %q changed since: look again", a.Rule)}
		}
		a.Approvals = append(a.Approvals, p)
		// A refusal that is over later ends no proposal.
		s := r.situation(f, standing, a.By)
		s.Action, s.Plan, s.others = a, &a.Plan, others
		if refusal := checkSome(s, func(g *guard) bool { return g.passes }); refusal != nil {
			return refusal
		}
		if len(judge.valid(a, f)) >= Needed(rule, a) {
			a.Enter(Approved, now, "")
		}
		return nil
	})
	if err != nil || a.State != Approved {
		return a, err
	}
	return r.carryOut(ctx, a.ID)
}

// An Answer is the decision of a person about an action.
type Answer string

// The answers.
const (
	ApproveAnswer Answer = "approve"
	DeclineAnswer Answer = "decline"
	CancelAnswer  Answer = "cancel"
	SettleAnswer  Answer = "settle"
)

// Answer approves, declines, cancels or settles an action on behalf of a person.
func (r *Reconciler) Answer(ctx context.Context, id string, answer Answer, q Request) (Action, error) {
	switch answer {
	case ApproveAnswer:
		return r.Approve(ctx, id, q)
	case DeclineAnswer:
		return r.end(id, Declined, q)
	case CancelAnswer:
		return r.end(id, Cancelled, q)
	case SettleAnswer:
		return r.Settle(ctx, id, q)
	}
	return Action{}, &StateError{fmt.Sprintf("unknown answer %q", answer)}
}

func (r *Reconciler) end(id string, state State, q Request) (Action, error) {
	return r.Store.ChangeAction(id, func(a *Action, _ *Standing, _ *model.Finding) error {
		// An approved action is not armed yet: it is read again, or waits for another one.
		if err := proposed(a, r.Now()); err != nil && a.State != Approved {
			return err
		}
		a.EnterBy(state, r.Now(), q.By, q.Reason)
		return nil
	})
}
