package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// Prune removes what lies beyond the retention: versions that were superseded,
// resources that were gone and findings that were resolved before, decisions
// that had ended, old runs, and contents that nothing names any more. Time counts that
// passed while runs were made: a clock that is wrong removes nothing. It returns
// how many versions, runs and decisions it removed. The newest run, what exists,
// what is open and what is to be told stay. The file does not shrink: its free
// space is used again.
func (s *Store) Prune(now time.Time) (removed int, err error) {
	if s.o.Retention == (Retention{}) {
		return 0, nil
	}
	err = s.update("prune", func(t *txn) error {
		p := &pruner{txn: t, cut: never}
		if age := s.o.Retention.MaxAge; age > 0 {
			p.cut = cutOf(momentOf(now), age, t.runSpans())
		}
		if err := p.prune(s.o.Retention.MaxRuns); err != nil {
			return err
		}
		removed = p.removed
		return nil
	})
	return removed, err
}

// runSpans returns when the runs were made, newest first.
func (t *txn) runSpans() []span {
	var spans []span
	c := t.runs.Cursor()
	for k, v := c.Last(); k != nil; k, v = c.Prev() {
		spans = append(spans, span{momentAt(v), momentAt(v)})
	}
	return spans
}

// A pruner removes what nobody can ask for any more when nobody asks for
// anything before the cut.
type pruner struct {
	*txn
	cut     moment
	removed int
}

func (p *pruner) prune(maxRuns int) error {
	if err := p.pruneRuns(maxRuns); err != nil {
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
	if err := p.pruneContents(); err != nil {
		return fmt.Errorf("contents: %w", err)
	}
	return nil
}

// pruneRuns removes old run records. Where there are more than limit, it moves
// the cut to the start of the oldest that stays.
func (p *pruner) pruneRuns(limit int) error {
	var old [][]byte
	kept, oldest := 0, withSource
	c := p.runs.Cursor()
	for k, v := c.Last(); k != nil; k, v = c.Prev() {
		at := momentAt(v)
		beyond := limit > 0 && kept >= limit
		if beyond {
			p.cut = max(p.cut, oldest)
		}
		if beyond || kept > 0 && at < p.cut {
			old = append(old, bytes.Clone(k))
			continue
		}
		kept++
		oldest = min(oldest, at)
	}
	p.removed += len(old)
	return deleteAll(p.runs, old)
}

// pruneResources removes versions that were over at the cut, and resources of
// which none is left.
func (p *pruner) pruneResources() error {
	var old [][]byte
	emptied := map[uint64]bool{}
	c := p.versions.Cursor()
	for k, v := c.First(); k != nil; {
		next, nextValue := c.Next()
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
	if err := deleteAll(p.versions, old); err != nil || len(emptied) == 0 {
		return err
	}
	return p.forget(emptied)
}

// forget removes the states of the resources with these numbers.
func (p *pruner) forget(nums map[uint64]bool) error {
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
	return deleteAll(p.resources, keys)
}

// pruneFindings removes findings that were resolved before the cut, and the
// versions of the others that were over at it.
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
	if err := deleteAll(p.resolved, ids); err != nil {
		return err
	}
	var old [][]byte
	c := p.findings.Cursor()
	for k, _ := c.First(); k != nil; {
		next, _ := c.Next()
		id := k[:len(k)-8]
		over := bytes.HasPrefix(next, id) && momentAt(next[len(id):]) <= p.cut
		if over || p.forgotten(id) {
			old = append(old, k)
		}
		k = next
	}
	p.removed += len(old)
	return deleteAll(p.findings, old)
}

// forgotten tells whether there is no finding with this ID, given with the NUL
// that follows it in the keys of versions.
func (p *pruner) forgotten(id []byte) bool {
	id = bytes.TrimSuffix(id, []byte{0})
	return p.open.Get(id) == nil && p.resolved.Get(id) == nil
}

// pruneDecisions removes those that had ended at the cut.
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
	return deleteAll(p.decisions, ended)
}

// pruneContents removes what no version names.
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
	return deleteAll(p.contents, unnamed)
}

// deleteAll removes entries once their bucket is no longer being read.
func deleteAll(b *bbolt.Bucket, keys [][]byte) error {
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}
