package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// carryOut plans an action again, arms it if no guard refuses, writes, and reads the result. Once the
// action is armed, it does not end with ctx.
func (r *Reconciler) carryOut(ctx context.Context, id string) (Action, error) {
	r.Acting.Acquire()
	defer r.Acting.Release()
	ctx = context.WithoutCancel(ctx)
	waiting, done, err := r.carriedOut(id)
	if done || err != nil {
		return waiting, err
	}
	if !r.Current() {
		return Action{}, errReloaded
	}
	reading, cancel := r.untilStop(ctx, 0)
	change, err := r.planAgain(reading, &waiting)
	cancel()
	if r.stops() {
		return Action{}, &StateError{"driftd stops: the action is checked again after the next start"}
	}
	if err != nil {
		return r.refuse(id, err)
	}
	plan := change.Plan()
	others, err := r.covered(plan.Also)
	if err != nil {
		return r.refuse(id, err)
	}
	a, err := r.Store.ChangeAction(id, func(a *Action, standing *Standing, f *model.Finding) error {
		if a.State != Approved && a.State != Proposed {
			return &StateError{fmt.Sprintf("action %s is %s", a.ID, a.State)}
		}
		if !r.Current() {
			return errReloaded
		}
		if f == nil {
			return &Refusal{"still-so", "the finding is resolved"}
		}
		s := r.situation(f, standing, a.By)
		s.Action, s.Plan, s.others = a, &plan, others
		if refusal := Check(s); refusal != nil {
			return refusal
		}
		a.Revision = s.Revision
		a.Enter(Armed, s.Now, "")
		return nil
	})
	if err != nil {
		return r.refuseUnsent(id, err)
	}
	return r.write(ctx, &a, change)
}

// errReloaded ends carrying out an action with the rules, the writers and the people of a configuration that was
// replaced. Recover goes on with those of the new one.
var errReloaded = &StateError{"the configuration was reloaded meanwhile: the action is checked again with the new one"}

// carriedOut returns an action if it does not wait to be carried out any more: Recover may have found it
// first. The error is a *Refusal if it was refused.
func (r *Reconciler) carriedOut(id string) (a Action, done bool, err error) {
	standing, err := r.Store.Standing()
	if err != nil {
		return Action{}, false, err
	}
	a, err = FindAction(standing.History, id)
	switch {
	case err != nil || a.State == Approved || a.State == Proposed:
		return a, false, err
	case a.State == Refused || a.State == Superseded:
		return a, true, &Refusal{a.Guard, strings.TrimSuffix(a.Outcome, " (guard "+a.Guard+")")}
	}
	return a, true, nil
}

const (
	// StopWithin is the time that driftd waits for an action when it stops. stopPatience is the time that
	// it waits without an interrupt: a Terraform provider that is interrupted may lose track of resources
	// that it creates. The timeout of the service manager must be longer.
	StopWithin   = 25 * time.Second
	stopPatience = 12 * time.Second
)

// refreshTimeout bounds reading a declaration again.
const refreshTimeout = 2 * time.Minute

// planAgain reads the declaration of a waiting action's finding, and plans the action, as they are now.
func (r *Reconciler) planAgain(ctx context.Context, a *Action) (Change, error) {
	// The declaration may have moved while the action waited.
	refreshing, cancel := context.WithTimeout(ctx, refreshTimeout)
	err := r.LastReads.Refresh(refreshing, a.finding())
	cancel()
	if err != nil {
		return nil, &Refusal{"coverage", fmt.Sprintf("what is declared could not be read again: %v", err)}
	}
	f, err := r.finding(a)
	if err != nil {
		return nil, err
	}
	if why := r.LastReads.Evidence(r.seen(f, Find(r.Rules, f))).Unread; why != "" {
		return nil, &Refusal{"coverage", why}
	}
	return r.plan(ctx, f, &planning{a.By, a.isAutomatic() && len((&approvers{identities: r.Identities}).valid(a, f)) == 0, a})
}

// finding returns the open finding of an action. The error is a *Refusal if it is not as it was.
func (r *Reconciler) finding(a *Action) (*model.Finding, error) {
	findings, err := r.Store.OpenFindings()
	if err != nil {
		return nil, err
	}
	for i := range findings {
		f := &findings[i]
		switch {
		case f.ID != a.Finding:
		case f.Basis != a.Basis || f.Verdict != a.Verdict:
			return nil, &Refusal{"still-so", "the finding changed since: look again"}
		default:
			return f, nil
		}
	}
	return nil, &Refusal{"still-so", "the finding is resolved"}
}

// refuse ends an action that was not armed because of err, unless that is an error of the store.
func (r *Reconciler) refuse(id string, err error) (Action, error) {
	return r.endUnsent(id, err, func(a *Action) bool { return a.State == Approved || a.State == Proposed })
}

// refuseUnsent is refuse for the one who holds Acting and sent no request. The store may have the action as armed, if the
// audit log could not keep that.
func (r *Reconciler) refuseUnsent(id string, err error) (Action, error) {
	return r.endUnsent(id, err, func(a *Action) bool { return a.State == Approved || a.State == Proposed || a.State == Armed })
}

func (r *Reconciler) endUnsent(id string, err error, ends func(*Action) bool) (Action, error) {
	state, guard := Refused, ""
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
		guard = refusal.Guard
	}
	if wrong := (*StateError)(nil); errors.As(err, &wrong) {
		return Action{}, err
	}
	a, failed := r.Store.ChangeAction(id, func(a *Action, _ *Standing, _ *model.Finding) error {
		if !ends(a) {
			return &StateError{fmt.Sprintf("action %s is %s", a.ID, a.State)}
		}
		if a.Guard = guard; guard == "still-so" {
			state = Superseded
		}
		if a.State == Armed && guard == "" {
			state = Failed
		}
		a.Enter(state, r.Now(), err.Error())
		return nil
	})
	if failed == nil {
		r.count(err)
	}
	return a, errors.Join(err, failed)
}

// write sends the request of an armed action.
func (r *Reconciler) write(ctx context.Context, a *Action, change Change) (Action, error) {
	writing, cancel := context.WithTimeout(ctx, r.of(a).Limit())
	defer cancel()
	writing, cancelWrite := r.untilStop(writing, stopPatience)
	receipt, err := change.Write(writing)
	cancelWrite()
	state, note := Written, ""
	if not := (*NotWrittenError)(nil); errors.As(err, &not) {
		state, note = Failed, err.Error()
		// Something on the way may have sent the request twice: then the first one was carried out.
		if r.isAsWanted(ctx, a) {
			state, note = Written, "the resource is as wanted although the answer is: "+err.Error()
		}
	} else if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
		return r.refuseUnsent(a.ID, refusal)
	} else if err != nil {
		state, note = Unknown, err.Error()
	}
	after, failed := r.Store.ChangeAction(a.ID, func(a *Action, _ *Standing, _ *model.Finding) error {
		a.Receipt = receipt
		a.Enter(state, r.Now(), note)
		return nil
	})
	if failed != nil {
		return after, failed
	}
	if state == Failed || r.stops() { // the next start goes on with it
		return after, err
	}
	return r.settle(ctx, &after)
}

// untilStop returns a context that ends when driftd has to stop and the patience is over.
func (r *Reconciler) untilStop(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-r.Stopping:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(patience):
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// stops reports whether driftd stops.
func (r *Reconciler) stops() bool {
	select {
	case <-r.Stopping:
		return true
	default:
		return false
	}
}

func (r *Reconciler) isAsWanted(ctx context.Context, a *Action) bool {
	actuator := r.of(a)
	ctx, cancel := context.WithTimeout(ctx, actuator.Limit())
	defer cancel()
	inspection, err := actuator.Inspect(ctx, a.Subject, a.Plan)
	return err == nil && inspection.isSet()
}

const (
	// inspectPause is the pause between two reads of a resource that is not as wanted yet, and
	// inspectTime how long it is read.
	inspectPause = 200 * time.Millisecond
	inspectTime  = 5 * time.Second
)

// settle reads the resource of an action whose request may have been sent, hands its fields back, and
// records what came of it. An action whose resource cannot be read is unknown.
func (r *Reconciler) settle(ctx context.Context, a *Action) (Action, error) {
	actuator := r.of(a)
	if actuator == nil {
		return *a, fmt.Errorf("action %s is %s, and source %s has no writer any more: look, then run `driftd actions settle %s`",
			a.ID, a.State, a.Subject.Source, a.ID)
	}
	ctx, cancel := context.WithTimeout(ctx, actuator.Limit())
	defer cancel()
	ctx, cancelRead := r.untilStop(ctx, 0)
	defer cancelRead()
	state, note, err := r.result(ctx, actuator, a)
	if state == a.State || err != nil && r.stops() { // the next start reads it again
		return *a, err
	}
	after, failed := r.Store.ChangeAction(a.ID, func(now *Action, _ *Standing, _ *model.Finding) error {
		if now.State != a.State {
			return &StateError{fmt.Sprintf("action %s is %s", a.ID, now.State)}
		}
		now.Enter(state, r.Now(), note)
		return nil
	})
	if failed == nil && !state.IsOpen() {
		r.Done(after)
	}
	return after, errors.Join(err, failed)
}

// result returns what came of an action. It hands the fields of the resource back if that is as wanted. After a
// write that changed more than the plan, it does not: the field manager of the actuator has these fields, too, and
// shows which write made them.
func (r *Reconciler) result(ctx context.Context, actuator Actuator, a *Action) (state State, note string, err error) {
	if more := a.Receipt.Unexpected; len(more) > 0 {
		return NotConverged, "the write changed more: " + strings.Join(more, ", "), nil
	}
	inspection, err := r.inspect(ctx, actuator, a)
	if err == nil && inspection.isSet() {
		err = actuator.HandBack(ctx, a.Subject, a.Plan)
	}
	if err != nil {
		return Unknown, err.Error(), err
	}
	state, note = outcome(a, inspection, r.Now(), actuator.Limit())
	return state, note, nil
}

// inspect reads the resource until it is as wanted, for inspectTime at most.
func (r *Reconciler) inspect(ctx context.Context, actuator Actuator, a *Action) (Inspection, error) {
	within, cancel := context.WithTimeout(ctx, inspectTime)
	defer cancel()
	for {
		inspection, err := actuator.Inspect(ctx, a.Subject, a.Plan)
		if err != nil || inspection.isSet() || a.State != Written {
			return inspection, err
		}
		select {
		case <-within.Done():
			return inspection, nil
		case <-time.After(inspectPause):
		}
	}
}

// askedLimit is how long a request to another tool may still take effect: the tool may be at work with it.
const askedLimit = time.Hour

// outcome returns what came of an action whose resource was seen. A request that was sent may still take
// effect until the limit after the action was armed.
func outcome(a *Action, inspection Inspection, now time.Time, limit time.Duration) (State, string) {
	confirmed := slices.ContainsFunc(a.Steps, func(s Step) bool { return s.State == Written })
	if a.Plan.Asks != "" {
		limit = askedLimit
	}
	switch {
	case inspection == AsWaiting:
		return Converged, "it takes effect after a stop and a start"
	case inspection == AsWanted && confirmed:
		return Converged, ""
	case inspection == AsWanted:
		return Converged, "the answer was lost, and the resource is as wanted"
	case inspection == AsBefore && confirmed && a.Plan.Asks != "":
		return NotConverged, "the tool is done with the request, and the resource is as it was"
	case inspection == AsBefore && confirmed:
		return NotConverged, "the system confirmed the change, and the resource is as it was: something else writes it"
	case inspection == AsBefore && now.Sub(a.WroteAt()) < limit:
		return Unknown, "it is not known what came of the request, which may still take effect"
	case inspection == AsBefore:
		return Failed, "it is not known what came of the request, which had no effect"
	}
	return NotConverged, "the resource is neither as wanted nor as it was"
}

// Recover resumes the actions that a crash or a lost response interrupted. The caller calls it at the
// start, and from time to time.
func (r *Reconciler) Recover(ctx context.Context) error {
	standing, err := r.Store.Standing()
	if err != nil {
		return err
	}
	var errs []error
	for i := range standing.History {
		a := &standing.History[i]
		switch {
		case a.ready() && !r.Now().Before(a.Expires):
			_, err = r.refuse(a.ID, &Refusal{"person", "it was not carried out before " + stamp(a.Expires) + ": propose it again"})
		case a.ready() && !r.isRead(a):
			continue // after a start, nothing has been read yet
		case a.ready():
			_, err = r.carryOut(ctx, a.ID)
		case a.State.MayHaveWritten():
			err = r.resume(ctx, a.ID)
		default:
			continue
		}
		if done := (*StateError)(nil); errors.As(err, &done) {
			continue // it was carried out since
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("action %s: %w", a.ID, err))
		}
	}
	return errors.Join(errs...)
}

// ready reports whether the action waits for no person, and was not armed: a crash, or a reload, came between.
func (a *Action) ready() bool {
	return a.State == Approved || a.State == Proposed && a.isAutomatic()
}

// isAutomatic reports whether no person asked for the action, and its rule needs none.
func (a *Action) isAutomatic() bool { return a.Mode == Auto && a.By == "" }

// isRead reports whether the last reads prove something of an action's finding.
func (r *Reconciler) isRead(a *Action) bool {
	f, err := r.finding(a)
	return err != nil || r.LastReads.Evidence(f).Unread == ""
}

// resume settles an action, unless it is being carried out right now.
func (r *Reconciler) resume(ctx context.Context, id string) error {
	r.Acting.Acquire()
	defer r.Acting.Release()
	standing, err := r.Store.Standing()
	if err != nil {
		return err
	}
	a, err := FindAction(standing.History, id)
	if err != nil || !a.State.MayHaveWritten() {
		return err
	}
	_, err = r.settle(ctx, &a)
	return err
}
