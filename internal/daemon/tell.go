package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// Telling is how people are told of findings.
type Telling struct {
	// Policy plans messages; nil tells nobody.
	Policy *notify.Policy
	// Mirrors are the receivers that are shown what is open, by name.
	Mirrors []string
	// Post delivers what was planned and kept.
	Post Post
}

// Post delivers messages that the store keeps.
type Post interface {
	// Wake says that a message was kept. It never blocks.
	Wake()
	// Show gives a mirror what is open now. It never blocks.
	Show(receiver string, open []model.Finding)
}

// notices plans the notifications about a state.
func (e *Engine) notices(k storedState) (model.NoticeChange, error) {
	if e.tell.Policy == nil {
		return model.NoticeChange{}, nil
	}
	notices, err := e.store.Notices()
	if err != nil {
		return model.NoticeChange{}, fmt.Errorf("read what was told: %w", err)
	}
	queues, err := e.store.Queues()
	if err != nil {
		return model.NoticeChange{}, fmt.Errorf("read what waits to be told: %w", err)
	}
	queued := make(map[string]int, len(queues))
	for receiver, q := range queues {
		queued[receiver] = q.Length
	}
	return e.tell.Policy.Plan(notify.Input{Findings: k.findings, Recent: k.recent, Notices: notices, Queued: queued,
		Rules: k.rules, Decisions: k.decisions, Now: e.now()}), nil
}

// post hands out what was planned, once it is kept.
func (e *Engine) post(open []model.Finding, planned model.NoticeChange) {
	if e.tell.Policy == nil {
		return
	}
	if len(planned.Messages) > 0 {
		e.tell.Post.Wake()
	}
	for _, name := range e.tell.Mirrors {
		e.tell.Post.Show(name, e.tell.Policy.Wanted(name, open, e.now()))
	}
}

// tickEvery is how often it is seen to what time alone brings.
const tickEvery = time.Minute

// tick tells what time alone brings, until ctx ends: reminders, and the end of
// quiet hours and of decisions.
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

// Announce settles open findings by what people decided, as far as that still
// holds, and plans what is to be told of them, without a scan.
func (e *Engine) Announce() error {
	e.evaluating.Lock()
	defer e.evaluating.Unlock()
	return e.announce()
}

// settledState reads what the store has, once decisions that ended are noted there.
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

// announce is called with evaluating held.
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
			return fmt.Errorf("keep what is to be told: %w", err)
		}
	}
	e.observer.ObserveFindings(k.findings)
	e.post(k.findings, planned)
	return nil
}
