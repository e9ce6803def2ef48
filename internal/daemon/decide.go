package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// Decide makes and saves decisions about the findings with the IDs, which may be abbreviated, or
// about a baseline if r.Baseline is set. It then plans notifications. It returns a *decide.Refusal
// if the request is not valid, and the error of the store if an ID is unknown or ambiguous.
func (e *Engine) Decide(_ context.Context, ids []string, r decide.Request) ([]model.Decision, error) {
	e.evaluating.Lock()
	defer e.evaluating.Unlock()
	if r.Baseline != nil {
		return e.baseline(r)
	}
	findings := make([]model.Finding, 0, len(ids))
	for _, id := range ids {
		f, _, err := e.store.Finding(id)
		if err != nil {
			return nil, err
		}
		findings = append(findings, f)
	}
	return e.decide(findings, r)
}

// baseline saves the decision of a baseline. The caller holds evaluating.
func (e *Engine) baseline(r decide.Request) ([]model.Decision, error) {
	now := e.now()
	runs, err := e.store.Runs(1)
	if err != nil {
		return nil, fmt.Errorf("read the last run: %w", err)
	}
	open, err := e.store.OpenFindings()
	if err != nil {
		return nil, fmt.Errorf("read what is open: %w", err)
	}
	if len(runs) == 0 {
		return nil, &decide.Refusal{Message: "nothing has been scanned yet", Hint: "run driftd scan first"}
	}
	run := runs[0].At(now, open)
	preview := decide.PreviewBaseline(open, &run)
	made, err := preview.Make(r, now, e.random)
	if err != nil {
		return nil, err
	}
	if err := e.store.Decide([]model.Decision{made}, now); err != nil {
		return nil, err
	}
	e.announceNow()
	return []model.Decision{made}, nil
}

// decide is called with evaluating held.
func (e *Engine) decide(findings []model.Finding, r decide.Request) ([]model.Decision, error) {
	now := e.now()
	decisions, err := decide.Make(findings, r, now, e.random)
	if err != nil {
		return nil, err
	}
	if err := e.store.Decide(decisions, now); err != nil {
		return nil, err
	}
	e.announceNow()
	return decisions, nil
}

// announceNow plans the notifications about a saved decision. If that fails, the next tick
// does.
func (e *Engine) announceNow() {
	if err := e.announce(); err != nil {
		e.log.Error("announce", "err", err)
	}
}

// Revoke revokes the decision with the ID, which may be abbreviated, in the name of the person by,
// and plans notifications. It returns the revoked decision.
func (e *Engine) Revoke(_ context.Context, id, by string) (model.Decision, error) {
	e.evaluating.Lock()
	defer e.evaluating.Unlock()
	d, err := e.store.Revoke(id, by, e.now())
	if err != nil {
		return d, err
	}
	e.announceNow()
	return d, nil
}

// Answer decides about the open findings of a thread that did not change since its last message,
// and returns the text of the reply. It returns an error if the thread is unknown or has no such
// finding.
func (e *Engine) Answer(_ context.Context, r notify.Request) (string, error) {
	e.evaluating.Lock()
	defer e.evaluating.Unlock()
	findings, changed, err := e.threadFindings(r)
	if err != nil {
		return "", err
	}
	if len(findings) == 0 {
		return "", errors.New("nothing of this is open as it is shown here: see the last message of the thread")
	}
	decisions, err := e.decide(findings, decide.Request{Kind: r.Kind, Reason: r.Reason, Owner: r.Owner, Until: r.Until,
		By: r.By, Via: r.Receiver})
	if err != nil {
		return "", err
	}
	return answer(r, decisions, changed), nil
}

// threadFindings returns the open findings of a thread that are as in its last message, and the
// number of findings that changed since.
func (e *Engine) threadFindings(r notify.Request) (findings []model.Finding, changed int, err error) {
	notices, err := e.store.Notices()
	if err != nil {
		return nil, 0, err
	}
	at := slices.IndexFunc(notices.Threads, func(t model.Thread) bool { return t.ID == r.Thread && t.Receiver == r.Receiver })
	if at < 0 {
		return nil, 0, errors.New("this message is too old to answer: see driftd findings")
	}
	open, err := e.store.OpenFindings()
	if err != nil {
		return nil, 0, err
	}
	for i := range open {
		notified, member := notices.Threads[at].Members[open[i].ID]
		switch {
		case !member || notified.Ended() || !open[i].Shown() || r.Kind == model.Acknowledge && open[i].Muted():
		case notified.Sequence > r.Sequence, notified.Basis != open[i].Basis && len(open[i].Changes) > 0,
			open[i].Severity.Rank() < notified.Severity.Rank():
			changed++
		default:
			findings = append(findings, open[i])
		}
	}
	return findings, changed, nil
}

// answer returns the text of a reply to a request.
func answer(r notify.Request, decisions []model.Decision, changed int) string {
	count := fmt.Sprintf("%d findings", len(decisions))
	if len(decisions) == 1 {
		count = "1 finding"
	}
	said := fmt.Sprintf("%s %s %s", r.By, r.Kind.Participle(), count)
	if until := decisions[0].Until; until.IsZero() {
		said += " forever"
	} else {
		said += " until " + until.UTC().Format("2006-01-02 15:04 UTC")
	}
	if r.Reason != "" {
		said += ": " + r.Reason
	}
	switch {
	case changed == 1:
		said += " (1 changed meanwhile and was left)"
	case changed > 1:
		said += fmt.Sprintf(" (%d changed meanwhile and were left)", changed)
	}
	return said
}
