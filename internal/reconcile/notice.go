package reconcile

import "github.com/driftd/driftd/internal/model"

// Notice returns the content of a notification about the action, which needs the given number of approvals.
// ok is false if the current state causes no notification, because it lasts only for a moment.
func (a *Action) Notice(needed int) (n model.ActionNotice, ok bool) {
	switch a.State {
	case Approved, Armed, Written:
		return n, false
	case Proposed:
		if needed == 0 {
			return n, false
		}
	}
	changes := a.Plan.publicChanges()
	for i := range changes {
		changes[i].Path = a.Plan.Changes[i].Where()
	}
	n = model.ActionNotice{ID: a.ID, State: string(a.State), Outcome: a.ending(), Waits: a.State == Proposed, Converged: a.State == Converged,
		Alarm: a.State == Unknown || a.State == NotConverged || a.Guard == fightGuard, Known: a.State == Declined || a.State == Cancelled || a.State == Superseded,
		Digest: a.Digest, Finding: a.Finding, Resource: a.Subject, Name: a.Name, Changes: changes[:min(len(changes), model.MaxFields)], Fields: len(changes),
		Creates: a.Plan.Creates, Deletes: a.Plan.Deletes, Records: a.Plan.Records, Asks: a.Plan.Asks, Restarts: a.Plan.Restarts, AfterRestart: a.Plan.AfterRestart, Requests: a.Plan.Requests, Unseen: a.Plan.Unseen, Endpoint: a.Plan.Endpoint, Identity: a.Plan.Identity, Rule: a.Rule, Author: a.Drift.Name, By: a.By, Reason: a.Reason, Needed: needed, Expires: a.Expires.UTC(),
		Others: len(a.Plan.Also), Step: len(a.Steps) + len(a.Approvals)}
	for _, c := range a.Plan.Also[:min(len(a.Plan.Also), model.MaxFields)] {
		n.Also = append(n.Also, c.Subject)
	}
	for _, p := range a.Approvals {
		n.Approvers = append(n.Approvers, p.By)
	}
	return n, true
}

// ending returns what came of the action, with the person who ended it: a message is delivered at once.
func (a *Action) ending() string {
	if len(a.Steps) == 0 {
		return a.Outcome
	}
	switch by := a.Steps[len(a.Steps)-1].By; {
	case by == "":
		return a.Outcome
	case a.Outcome == "":
		return "by " + by
	default:
		return "by " + by + ": " + a.Outcome
	}
}
