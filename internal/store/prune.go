package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/audit"
)

// Prune removes records that exceed the retention: superseded versions, resources that are gone,
// resolved findings, ended decisions and actions, runs, and contents to which no version refers.
// Age counts only time during which runs were made, so that a wrong clock removes nothing. Prune
// never removes the newest run, existing resources, open findings and queued messages. It returns
// the number of versions, runs, decisions and records of actions that it removed. The file does not
// shrink, since bbolt reuses its free pages.
func (s *Store) Prune(now time.Time) (removed int, err error) {
	if s.o.Retention == (Retention{}) {
		return 0, nil
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	err = s.update("prune", func(t *txn) error {
		runs, err := t.runRecords()
		if err != nil {
			return fmt.Errorf("runs: %w", err)
		}
		// All ages are counted alike, before runs are removed.
		cut := func(age time.Duration) moment { return cutOf(momentOf(now), age, spansOf(runs)) }
		p := &pruner{txn: t, cut: never, at: now}
		if age := s.o.Retention.MaxAge; age > 0 {
			p.cut = cut(age)
		}
		if err := p.prune(s.o.Retention); err != nil {
			return err
		}
		if removed = p.removed; removed > 0 {
			if err := t.record(audit.Entry{Kind: audit.KindPrune, Time: now, Data: pruneData{p.cut.time(), removed}}); err != nil {
				return err
			}
		}
		if err := t.writeLog(); err != nil {
			return err
		}
		return t.dropAudit(s.o.Retention.AuditMaxAge, cut, now)
	})
	return removed, err
}

// spansOf returns the spans of run records, in the same order.
func spansOf(records []runRecord) []span {
	spans := make([]span, len(records))
	for i, r := range records {
		spans[i] = span{r.first, r.last}
	}
	return spans
}

// A pruner removes records that are only needed for times before the cut.
type pruner struct {
	*txn
	cut     moment
	at      time.Time
	removed int
}

func (p *pruner) prune(keep Retention) error {
	if err := p.pruneRuns(keep); err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	if err := p.pruneResources(); err != nil {
		return fmt.Errorf("resources: %w", err)
	}
	if err := p.pruneFindings(); err != nil {
		return fmt.Errorf("findings: %w", err)
	}
	if err := p.pruneDecisions(); err != nil {
		return fmt.Errorf("decisions: %w", err)
	}
	if err := p.pruneActions(); err != nil {
		return fmt.Errorf("actions: %w", err)
	}
	if err := p.pruneLastReads(); err != nil {
		return fmt.Errorf("last reads: %w", err)
	}
	if err := p.pruneContents(); err != nil {
		return fmt.Errorf("contents: %w", err)
	}
	return nil
}

// A runRecord is a stored series of runs, without its content.
type runRecord struct {
	in  *bucket
	key []byte
	series
	// size is the number of bytes of the record in the file.
	size int64
}

// runRecords returns the records of runs, newest first.
func (t *txn) runRecords() ([]runRecord, error) {
	var list []runRecord
	for _, b := range []*bucket{t.newest, t.runs} {
		c := b.cursor()
		for k, v := c.last(); k != nil; k, v = c.prev() {
			s, err := parseSeries(v)
			if err != nil {
				return nil, b.damage(k, err.Error())
			}
			s.packed = nil
			list = append(list, runRecord{b, bytes.Clone(k), s, int64(len(k) + len(v) + checksumSize)})
		}
	}
	return list, nil
}

// pruneRuns removes the oldest run records that exceed one of the limits. If there are more runs
// than MaxRuns, it moves the cut to the start of the oldest one that remains. It always keeps the
// newest record.
func (p *pruner) pruneRuns(keep Retention) error {
	list, err := p.runRecords()
	if err != nil {
		return err
	}
	n := p.within(list, keep)
	for n > 1 && list[n-1].last < p.cut {
		n--
	}
	for _, r := range list[min(n, len(list)):] {
		if err := r.in.remove(r.key); err != nil {
			return err
		}
		p.removed++
	}
	return nil
}

// within returns the number of records that MaxRuns and MaxRunBytes allow.
func (p *pruner) within(list []runRecord, keep Retention) int {
	var size int64
	var runs uint64
	oldest := withSource
	for i, r := range list {
		if keep.MaxRuns > 0 && runs >= uint64(keep.MaxRuns) {
			p.cut = max(p.cut, oldest)
			return i
		}
		if size += r.size; i > 0 && keep.MaxRunBytes > 0 && size > keep.MaxRunBytes {
			return i
		}
		runs += r.runs
		oldest = min(oldest, r.first)
	}
	return len(list)
}

// pruneResources removes versions that were superseded before the cut, and resources without
// remaining versions.
func (p *pruner) pruneResources() error {
	var old [][]byte
	emptied := map[uint64]bool{}
	c := p.versions.cursor()
	for k, v := c.first(); k != nil; {
		next, nextValue := c.next()
		last := !bytes.HasPrefix(next, k[:8])
		switch {
		case !last && momentAt(next[8:]) <= p.cut:
			old = append(old, k)
		case last && len(v) == 0 && momentAt(k[8:]) <= p.cut:
			old = append(old, k)
			emptied[binary.BigEndian.Uint64(k)] = true
		}
		k, v = next, nextValue
	}
	p.removed += len(old)
	if err := removeAll(p.versions, old); err != nil || len(emptied) == 0 {
		return err
	}
	return p.removeStates(emptied)
}

// removeStates removes the states of the resources with these numbers.
func (p *pruner) removeStates(nums map[uint64]bool) error {
	var keys [][]byte
	err := each(p.resources, nil, func(k, v []byte) error {
		st, err := parseState(v)
		if err == nil && nums[st.num] {
			keys = append(keys, k)
		}
		return err
	})
	if err != nil {
		return err
	}
	return removeAll(p.resources, keys)
}

// pruneFindings removes findings that were resolved before the cut, and versions of other findings
// that were superseded before it.
func (p *pruner) pruneFindings() error {
	var ids [][]byte
	err := each(p.resolved, nil, func(id, v []byte) error {
		h, err := parseHead(v)
		if err == nil && h.at <= p.cut {
			ids = append(ids, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := removeAll(p.resolved, ids); err != nil {
		return err
	}
	var old [][]byte
	c := p.findings.cursor()
	for k, _ := c.first(); k != nil; {
		next, _ := c.next()
		id := k[:len(k)-8]
		over := bytes.HasPrefix(next, id) && momentAt(next[len(id):]) <= p.cut
		if over || p.orphaned(id) {
			old = append(old, k)
		}
		k = next
	}
	p.removed += len(old)
	return removeAll(p.findings, old)
}

// orphaned reports whether no finding has this ID, which is followed by NUL as in the keys of
// versions.
func (p *pruner) orphaned(id []byte) bool {
	id = bytes.TrimSuffix(id, []byte{0})
	return p.open.get(id) == nil && p.resolved.get(id) == nil
}

// pruneDecisions removes decisions that ended before the cut.
func (p *pruner) pruneDecisions() error {
	list, err := p.allDecisions()
	if err != nil {
		return err
	}
	var ended [][]byte
	for i := range list {
		d := &list[i]
		if !d.Until.IsZero() && momentOf(d.Until) <= p.cut || !d.Replaced.IsZero() && momentOf(d.Replaced) <= p.cut {
			ended = append(ended, []byte(d.ID))
		}
	}
	p.removed += len(ended)
	return removeAll(p.decisions, ended)
}

// pruneContents removes contents that no version refers to.
func (p *pruner) pruneContents() error {
	named := map[digest]bool{}
	err := each(p.versions, nil, func(_, v []byte) error {
		sum, err := versionSum(v)
		named[sum] = true
		return err
	})
	if err != nil {
		return err
	}
	var unnamed [][]byte
	err = each(p.contents, nil, func(k, _ []byte) error {
		if !named[digest(k)] {
			unnamed = append(unnamed, k)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return removeAll(p.contents, unnamed)
}
