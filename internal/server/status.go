package server

import (
	"errors"
	"net/http"
	"slices"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// Status is the response of /api/v1/status.
type Status struct {
	Version string `json:"version"`
	// Daemon reports whether a daemon sent the response, instead of the command itself.
	Daemon bool `json:"daemon"`
	// Problems are descriptions of problems that the operator must fix. It is never nil.
	Problems []string `json:"problems"`
	// Waiting are descriptions of the conditions that must be met before the daemon is ready. It is empty
	// if the daemon is ready.
	Waiting []string `json:"waiting"`
	// LastRun is the last run, or nil before the first. Its Open is the number of open findings of its
	// sources and declarations.
	LastRun *model.Run     `json:"last_run,omitempty"`
	Open    *model.Summary `json:"open,omitempty"`
	// Receivers are the notification receivers. It is never nil.
	Receivers []model.ReceiverStatus `json:"receivers"`
	// Ending are the active decisions that end within a week, in order of their end. It is never nil.
	Ending     []model.DecisionStatus `json:"ending"`
	StoreBytes int64                  `json:"store_bytes"`
	// Box describes the restrictions of the sandbox process that expands untrusted input. It is nil if they
	// are unknown.
	Box *box.Report `json:"box,omitempty"`
	// Audit is the state of the audit log, or nil if it is not available.
	Audit *AuditState `json:"audit,omitempty"`
	// Actions contains the numbers of actions and of their obstacles. It is nil if there are no rules for
	// actions and no actions.
	Actions *ActionCounts `json:"actions,omitempty"`
}

// ActionCounts contains the number of open actions, of findings for which driftd proposed no action after
// the last scan although a rule matches them, of stopped rules, and of freezes in effect.
type ActionCounts struct {
	Open    int `json:"open"`
	Held    int `json:"held"`
	Stopped int `json:"stopped"`
	Frozen  int `json:"frozen"`
}

func (a API) status(r *http.Request) (any, error) {
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	return a.CurrentStatus()
}

// CurrentStatus returns the status of the daemon and its sources.
func (a API) CurrentStatus() (Status, error) {
	status := Status{Version: a.Version, Daemon: a.Scanner != nil, Waiting: a.waiting(), StoreBytes: a.Store.Size(),
		Problems: []string{}, Receivers: []model.ReceiverStatus{}, Ending: []model.DecisionStatus{}}
	if a.Problems != nil {
		status.Problems = append(status.Problems, a.Problems()...)
	}
	if a.Box != nil {
		status.Box = a.Box()
	}
	if a.Receivers != nil {
		for _, r := range a.Receivers() {
			status.Receivers = append(status.Receivers, r.Public())
		}
	}
	var err error
	if status.Audit, err = a.AuditState(); err != nil {
		return status, err
	}
	if status.Actions, err = a.countActions(); err != nil {
		return status, err
	}
	run, err := a.Store.LastRun()
	if errors.Is(err, store.ErrNotFound) {
		return status, nil
	}
	if err != nil {
		return status, err
	}
	open, err := a.Store.Findings(store.Filter{})
	if err != nil {
		return status, err
	}
	run = run.At(a.Now(), open).Public()
	now := summary(run, slices.DeleteFunc(open, func(f model.Finding) bool { return !run.Includes(&f) }))
	status.LastRun, status.Open = &run, &now
	status.Ending, err = a.ending()
	return status, err
}

// countActions returns the counts of actions; nil if there are no rules for them and none are stored.
func (a API) countActions() (*ActionCounts, error) {
	if a.Acting == nil {
		return nil, nil
	}
	o, err := a.Acting.Actions()
	if err != nil || len(o.Rules) == 0 && len(o.Actions) == 0 {
		return nil, err
	}
	counts := ActionCounts{Held: len(o.Held), Frozen: len(o.Freezes)}
	for i := range o.Actions {
		if o.Actions[i].State.IsOpen() {
			counts.Open++
		}
	}
	for i := range o.Rules {
		if o.Rules[i].Stopped != "" {
			counts.Stopped++
		}
	}
	return &counts, nil
}

// ending returns the decisions in force that end soon.
func (a API) ending() ([]model.DecisionStatus, error) {
	list, err := a.Store.Decisions()
	if err != nil {
		return nil, err
	}
	now := a.Now()
	standing, err := a.standing(slices.DeleteFunc(list, func(d model.Decision) bool { return !d.EndsSoon(now) }))
	if err != nil {
		return nil, err
	}
	ending := slices.DeleteFunc(standing.Decisions, func(d model.DecisionStatus) bool { return len(d.Holds) == 0 })
	slices.SortStableFunc(ending, func(d, e model.DecisionStatus) int { return d.Until.Compare(e.Until) })
	return ending, nil
}

// Mend is the advice for a receiver that has stopped.
const Mend = "fix it, then reload driftd (SIGHUP) or restart it"

// maxEnding bounds the number of shown decisions that end soon.
const maxEnding = 10

// EndingNext returns the decisions that end first, and the number of others that end soon.
func (s *Status) EndingNext() (next []model.DecisionStatus, more int) {
	n := min(len(s.Ending), maxEnding)
	return s.Ending[:n], len(s.Ending) - n
}
