package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// A ReplacedError reports that a decision cannot be revoked because another one, which would remain
// in force, replaced it.
type ReplacedError struct{ Decision model.Decision }

// Error returns the ID of the decision to revoke instead.
func (e *ReplacedError) Error() string {
	return fmt.Sprintf("it was replaced by decision %s: revoke that one", e.Decision.ReplacedBy)
}

// A DeclaredError reports that a decision cannot be revoked because it is declared in a file. The
// next read of the file would add it again.
type DeclaredError struct{ Decision model.Decision }

// Error returns the file and the next step.
func (e *DeclaredError) Error() string {
	return fmt.Sprintf("it is declared in %s: remove it there", e.Decision.Via)
}

// A NamedError reports that a name cannot be erased because a decision in a file contains it. The
// next read of the file would record it again.
type NamedError struct{ Decision model.Decision }

// Error returns the file and the next step.
func (e *NamedError) Error() string {
	return fmt.Sprintf("decision %s, which is declared in %s, has the name: remove it there, and scan", e.Decision.ID, e.Decision.Via)
}

// Decisions returns all stored decisions, sorted by ID, including ended ones that Prune has not
// removed yet.
func (s *Store) Decisions() ([]model.Decision, error) {
	var list []model.Decision
	err := s.view("read decisions", func(t *txn) (err error) {
		list, err = t.allDecisions()
		return err
	})
	return list, err
}

// Decide stores the decisions in list and applies them to the open findings that they are about. A
// decision replaces an earlier one of its kind about the same finding and basis, unless the earlier
// one is declared in a file. The earlier one remains stored as replaced, and Decide sets Replaces
// of the new one in list.
func (s *Store) Decide(list []model.Decision, now time.Time) error {
	return s.update("save decisions", func(t *txn) error {
		known, err := t.allDecisions()
		if err != nil {
			return err
		}
		standing := map[topic]model.Decision{}
		for _, d := range known {
			if d.From == "" && !d.Ended(now) {
				standing[topicOf(&d)] = d
			}
		}
		for i := range list {
			d := &list[i]
			if earlier, ok := standing[topicOf(d)]; ok && earlier.ID != d.ID {
				d.Replaces, earlier.ReplacedBy, earlier.Replaced = earlier.ID, d.ID, now
				if err := t.putDecision(&earlier); err != nil {
					return err
				}
			}
			if err := t.putDecision(d); err != nil {
				return err
			}
			standing[topicOf(d)] = *d
		}
		if err := t.recordDecisions(list, now); err != nil {
			return err
		}
		_, err = t.settle(now)
		return err
	})
}

// A topic identifies the subject of a decision that was not declared in a file. At most one
// decision in force has a given topic.
type topic struct {
	kind           model.DecisionKind
	finding, basis string
	subject        model.Target
	// baseline is the ID of a baseline, so that each has a topic of its own.
	baseline string
}

func topicOf(d *model.Decision) topic {
	if d.Covers > 0 {
		return topic{kind: d.Kind, baseline: d.ID}
	}
	if d.Finding != "" {
		return topic{kind: d.Kind, finding: d.Finding, basis: d.Basis}
	}
	return topic{kind: d.Kind, basis: d.Basis, subject: d.Subject}
}

// Revoke removes the decision whose ID begins with idPrefix, on behalf of the person by, and
// settles the open findings again. It returns the removed decision. It returns ErrNotFound if there
// is no such decision, ErrAmbiguous if there are several, a *DeclaredError if the decision is
// declared in a file, and a *ReplacedError if it was replaced.
func (s *Store) Revoke(idPrefix, by string, now time.Time) (model.Decision, error) {
	var d model.Decision
	err := s.update(fmt.Sprintf("revoke decision %q", idPrefix), func(t *txn) error {
		id, err := complete(idPrefix, "it may have ended and been pruned; `driftd decisions` lists the stored ones", t.decisions)
		if err != nil {
			return err
		}
		if d, err = t.parseDecision([]byte(id), t.decisions.get([]byte(id))); err != nil {
			return err
		}
		if d.From != "" {
			return &DeclaredError{d}
		}
		if d.ReplacedBy != "" {
			return &ReplacedError{d}
		}
		if err := t.decisions.remove([]byte(id)); err != nil {
			return err
		}
		if err := t.recordRevoked(&d, by, now); err != nil {
			return err
		}
		_, err = t.settle(now)
		return err
	})
	if err != nil {
		return model.Decision{}, err
	}
	return d, nil
}

// Settle sets on each open finding the decision that is in force for it at the time now. It returns
// the number of findings that changed.
func (s *Store) Settle(now time.Time) (changed int, err error) {
	err = s.update("settle findings", func(t *txn) error {
		changed, err = t.settle(now)
		return err
	})
	return changed, err
}

func (t *txn) settle(now time.Time) (changed int, err error) {
	list, err := t.allDecisions()
	if err != nil {
		return 0, err
	}
	decisions := model.IndexDecisions(list)
	open, err := t.collect(t.open, Filter{})
	if err != nil {
		return 0, err
	}
	l := t.amend(open, now)
	for i := range open {
		f := &open[i]
		if !decisions.Settle(f, now) {
			continue
		}
		if err := l.save(f); err != nil {
			return 0, fmt.Errorf("finding %s: %w", f.ID, err)
		}
	}
	if l.written > 0 {
		err = t.record(audit.Entry{Kind: audit.KindSettle, Time: now, Data: settleData{l.written}})
	}
	return l.written, err
}

// resolvedIDs returns the IDs of the resolved findings, and of those merged into them.
func resolvedIDs(findings []model.Finding) map[string]bool {
	over := map[string]bool{}
	for i := range findings {
		f := &findings[i]
		if f.Resolved.IsZero() || f.MergedInto != "" {
			continue // the decisions on a merged finding apply to the finding that it was merged into
		}
		over[f.ID] = true
		for _, id := range f.Merged {
			over[id] = true
		}
	}
	return over
}

// saveDecisions replaces the decisions of the given files, and removes the acknowledgements of
// findings that were resolved.
func (t *txn) saveDecisions(files map[string][]model.Decision, findings []model.Finding, now time.Time) error {
	over := resolvedIDs(findings)
	if len(files)+len(over) == 0 {
		return nil
	}
	declared := map[string]bool{}
	var made []model.Decision
	for _, from := range slices.Sorted(maps.Keys(files)) {
		for _, d := range files[from] {
			d.From = from
			was := t.decisions.now
			if err := t.putDecision(&d); err != nil {
				return err
			}
			if t.decisions.now != was {
				made = append(made, d)
			}
			declared[d.ID] = true
		}
	}
	known, err := t.allDecisions()
	if err != nil {
		return err
	}
	var gone [][]byte
	var ended []model.Decision
	for i := range known {
		d := &known[i]
		_, read := files[d.From]
		if d.From == "" {
			read = d.Kind == model.Acknowledge && over[d.Finding]
		}
		if read && !declared[d.ID] {
			gone, ended = append(gone, []byte(d.ID)), append(ended, *d)
		}
	}
	if err := removeAll(t.decisions, gone); err != nil {
		return err
	}
	return t.recordDeclared(made, ended, now)
}

// rename replaces the name of a person in the decisions.
func (t *txn) rename(name, to string) error {
	list, err := t.allDecisions()
	if err != nil {
		return err
	}
	for i := range list {
		d := &list[i]
		if d.By != name && d.Owner != name {
			continue
		}
		if d.From != "" {
			return &NamedError{*d}
		}
		for _, person := range []*string{&d.By, &d.Owner} {
			if *person == name {
				*person = to
			}
		}
		if err := t.putDecision(d); err != nil {
			return err
		}
	}
	return nil
}

// putDecision writes a decision, unless the stored one is equal.
func (t *txn) putDecision(d *model.Decision) error {
	value, err := t.packJSON(d)
	if err != nil {
		return err
	}
	if bytes.Equal(t.decisions.get([]byte(d.ID)), value) {
		return nil
	}
	if err := t.decisions.put([]byte(d.ID), value); err != nil {
		return fmt.Errorf("write decision %q: %w", d.ID, err)
	}
	return nil
}

func (t *txn) allDecisions() ([]model.Decision, error) {
	var list []model.Decision
	err := each(t.decisions, nil, func(k, v []byte) error {
		d, err := t.parseDecision(k, v)
		list = append(list, d)
		return err
	})
	return list, err
}

func (t *txn) parseDecision(k, v []byte) (model.Decision, error) {
	var d model.Decision
	if err := t.unpackJSON(v, &d); err != nil {
		return d, fmt.Errorf("decision %q: %w", k, err)
	}
	if d.ID != string(k) {
		return d, fmt.Errorf("%w: decision %q is stored under %q", errCorrupt, d.ID, k)
	}
	return d, nil
}
