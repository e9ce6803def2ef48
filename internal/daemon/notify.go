package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// Notifications configures the notifications about findings.
type Notifications struct {
	// Policy plans messages; nil plans none.
	Policy *notify.Policy
	// Mirrors lists the names of the receivers that display the current set of open findings.
	Mirrors []string
	// Dispatcher delivers the planned messages after they were saved.
	Dispatcher Dispatcher
}

// A Dispatcher delivers the messages in the store. Its methods must not block.
type Dispatcher interface {
	// Wake is called after a message was saved.
	Wake()
	// Show sends the open findings to a mirror.
	Show(receiver string, open []model.Finding)
}

// notices plans the notifications about a state.
func (e *Engine) notices(k storedState) (model.NoticeChange, error) {
	if e.notifications.Policy == nil {
		return model.NoticeChange{}, nil
	}
	notices, err := e.store.Notices()
	if err != nil {
		return model.NoticeChange{}, fmt.Errorf("read notification threads: %w", err)
	}
	queues, err := e.store.Queues()
	if err != nil {
		return model.NoticeChange{}, fmt.Errorf("read notification queues: %w", err)
	}
	queued := make(map[string]int, len(queues))
	for receiver, q := range queues {
		queued[receiver] = q.Length
	}
	return e.notifications.Policy.Plan(notify.Input{Findings: k.findings, Recent: k.recent, Notices: notices, Queued: queued,
		Rules: k.rules, Decisions: k.decisions, Now: e.now()}), nil
}

// dispatch wakes the dispatcher after the planned messages were saved.
func (e *Engine) dispatch(open []model.Finding, planned model.NoticeChange) {
	if e.notifications.Policy == nil {
		return
	}
	if len(planned.Messages) > 0 {
		e.notifications.Dispatcher.Wake()
	}
	for _, name := range e.notifications.Mirrors {
		e.notifications.Dispatcher.Show(name, e.notifications.Policy.Wanted(name, open, e.now()))
	}
}

// tickEvery is the interval of tick.
const tickEvery = time.Minute

// tick plans the notifications that depend only on time, until ctx ends: reminders, and those after
// the end of quiet hours and of decisions.
func (e *Engine) tick(ctx context.Context) {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	last := e.now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			last = e.noteClock(last)
			if err := e.Announce(); err != nil {
				e.log.Error("announce", "err", err)
			}
		}
	}
}

// Announce updates the open findings by the decisions that hold now and plans notifications,
// without a scan.
func (e *Engine) Announce() error {
	e.evaluating.Lock()
	defer e.evaluating.Unlock()
	return e.announce()
}

// settledState reads the state of the store and saves the findings whose decisions ended or
// changed.
func (e *Engine) settledState(now time.Time) (storedState, error) {
	k, err := e.readState(now)
	if err != nil {
		return k, err
	}
	decisions, changed := model.IndexDecisions(k.decisions), false
	for i := range k.findings {
		changed = decisions.Settle(&k.findings[i], now) || changed
	}
	if !changed {
		return k, nil
	}
	if _, err := e.store.Settle(now); err != nil {
		return k, fmt.Errorf("settle findings: %w", err)
	}
	return k, nil
}

// announce does the work of Announce. The caller holds evaluating.
func (e *Engine) announce() error {
	now := e.now()
	k, err := e.settledState(now)
	if err != nil {
		return err
	}
	runs, err := e.store.Runs(1)
	if err != nil {
		return fmt.Errorf("read the last run: %w", err)
	}
	if len(runs) > 0 {
		k.rules = slices.Concat(runs[0].Rules, runs[0].SeverityRules)
	}
	planned, err := e.notices(k)
	if err != nil {
		return err
	}
	if !planned.Empty() {
		if err := e.store.SaveNotices(planned); err != nil {
			return fmt.Errorf("save planned notifications: %w", err)
		}
	}
	e.observer.ObserveFindings(k.findings)
	e.dispatch(k.findings, planned)
	return nil
}
