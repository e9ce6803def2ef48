package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// A scan is the data of one Cycle, in the order in which it is set.
type scan struct {
	due     Due
	started time.Time
	// failed are the declarations whose histories could not be read.
	failed historyFailures

	// Set by compare.
	view       view
	firstLooks []model.FirstRead
	judged     []model.Judged
	candidates []candidate

	// Set by classify.
	before storedState
	result classify.Result
	run    model.Run

	// Set by plan.
	notices model.NoticeChange
}

// Cycle runs one scan. It reads the sources and declarations in due, compares them with the last
// results of all others, classifies and saves the findings, delivers notifications, and logs the
// result. Verdicts that depend on the history of a declaration are determined twice: first without
// the history, and then with it. A source or declaration that could not be read is not an error;
// the report contains the reason. If Cycle returns an error, the report is empty.
func (e *Engine) Cycle(ctx context.Context, due Due) (model.Report, error) {
	due.Objects = slices.Clone(due.Objects)
	s := &scan{due: due, started: e.now(), failed: historyFailures{}}
	e.collectAndLoad(ctx, due)
	e.awaitFirstReads(ctx)
	err := e.matchAndDiff(ctx, s)
	if err != nil {
		return model.Report{}, err
	}
	defer e.evaluating.Unlock()
	err = e.classify(s)
	if err == nil {
		err = e.plan(s)
	}
	if err == nil {
		err = e.save(s)
	}
	e.noteSaved(s.view, err)
	if err != nil {
		return model.Report{}, err
	}
	e.deliver(s)
	r := report(s.run, s.result.Current)
	e.log.Info("scanned", "id", r.Scan.ID, "read", due.String(), "findings", r.Summary.Findings,
		"in_sync", r.Summary.InSync, "unchecked", r.Summary.Unchecked, "complete", r.Scan.Complete)
	return r, nil
}

// matchAndDiff matches and diffs what was read. If verdicts depend on the histories of
// declarations, it unlocks evaluating, reads these and compares again, maxRounds times at
// most. Histories that it could not read by then are missing evidence for classify. It
// returns with evaluating locked, and the caller unlocks it, unless it returns an error.
func (e *Engine) matchAndDiff(ctx context.Context, s *scan) error {
	for round := 1; ; round++ {
		e.evaluating.Lock()
		questions, err := e.matchAndDiffOnce(ctx, s)
		if err == nil && (len(questions) == 0 || round > maxRounds) {
			return nil
		}
		e.evaluating.Unlock()
		if err != nil {
			return err
		}
		e.askHistories(ctx, questions, s.failed)
	}
}

// matchAndDiffOnce matches and diffs what was read. It returns the questions about histories
// that have no answer yet.
func (e *Engine) matchAndDiffOnce(ctx context.Context, s *scan) (questions []question, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.view = e.view(s.due)
	s.view.keepKinds(e.recordsBefore(s.view))
	s.view.failed = s.failed
	if s.firstLooks, err = e.firstLooks(s.view); err != nil {
		e.noteSaved(s.view, err)
		return nil, err
	}
	s.judged = judgeAll(s.view, e.estate.Diff)
	s.candidates = candidates(s.view, s.judged, e.now())
	return e.unanswered(s.view, s.candidates), nil
}

// classify turns the outcomes into findings, with the evidence for the candidates.
func (e *Engine) classify(s *scan) (err error) {
	now := e.now()
	if s.before, err = e.previousState(s.view, now); err != nil {
		return err
	}
	if err := e.applyEvidence(s.view, s.candidates, s.before.findings); err != nil {
		return err
	}
	s.result = e.findings(s.view, s.judged, s.before, now)
	s.run = e.record(s.view, s.judged, s.result, s.started)
	s.judged = nil // the subjects take as much memory as storing the snapshots will
	return nil
}

// plan plans the notifications about the findings that are open after the scan.
func (e *Engine) plan(s *scan) (err error) {
	after := s.before
	after.findings, after.recent = s.result.Open(), append(after.recent, s.result.Resolved...)
	after.rules = slices.Concat(s.run.Rules, s.run.SeverityRules)
	s.notices, err = e.notices(after)
	return err
}

// save stores the results in one transaction.
func (e *Engine) save(s *scan) error {
	err := e.store.Save(store.Record{Run: s.run, Snapshots: append(s.view.observed(), s.view.declaredSnapshots()...), FirstReads: s.firstLooks,
		Findings: s.result.All(), Decisions: s.before.declared, Notices: s.notices})
	if err != nil {
		return err
	}
	e.records = s.result.Records
	e.forgetAnswers(s.candidates)
	return nil
}

// deliver publishes the results that were saved.
func (e *Engine) deliver(s *scan) {
	open := s.result.Open()
	e.observer.ObserveRun(s.run, open)
	e.dispatch(open, s.notices)
	select {
	case e.scanned <- struct{}{}:
	default:
	}
}

// noteSaved records whether the scan was saved; err is the error of reading or writing the store.
// It notifies the observer and marks the results that are not in the store, so that a later scan
// saves them.
func (e *Engine) noteSaved(v view, err error) {
	e.observer.Saved(err)
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range v.sources {
		if err == nil {
			delete(e.unsaved, s.Name)
		} else {
			e.unsaved[s.Name] = true
		}
	}
	for _, d := range v.declarations {
		if l, ok := e.loaded[d.Name]; ok && err == nil && l.at.Equal(d.at) {
			l.unsaved = false
			e.loaded[d.Name] = l
		}
	}
}
