package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/driftd/driftd/internal/model"
)

func runKey(num uint64) []byte { return binary.BigEndian.AppendUint64(nil, num) }

// saveRun adds a run. Of the exemptions only the last run keeps the list.
func (t *txn) saveRun(run *model.Run, at moment) error {
	if err := t.shortenLastRun(); err != nil {
		return err
	}
	packed, err := t.packJSON(run)
	if err != nil {
		return err
	}
	return appendTo(t.runs, append(at.append(nil), packed...))
}

// shortenLastRun drops the list of exemptions of the run that was saved last.
func (t *txn) shortenLastRun() error {
	k, v := t.runs.Cursor().Last()
	if k == nil {
		return nil
	}
	run, err := t.parseRun(v)
	if err != nil || len(run.Exempt) == 0 {
		return err
	}
	run.Exempt = nil
	packed, err := t.packJSON(&run)
	if err != nil {
		return err
	}
	return t.runs.Put(bytes.Clone(k), append(bytes.Clone(v[:8]), packed...))
}

func (t *txn) parseRun(v []byte) (model.Run, error) {
	var run model.Run
	if len(v) < 8 {
		return run, fmt.Errorf("%w: run of %d bytes", errCorrupt, len(v))
	}
	err := t.unpackJSON(v[8:], &run)
	return run, err
}

// LastRun returns the record of the run that was saved last, or ErrNotFound.
func (s *Store) LastRun() (model.Run, error) {
	runs, err := s.Runs(1)
	if err != nil {
		return model.Run{}, err
	}
	if len(runs) == 0 {
		return model.Run{}, fmt.Errorf("read last run: %w: nothing has been scanned yet", ErrNotFound)
	}
	return runs[0], nil
}

// Runs returns the records of the runs that were saved last, newest first; all
// of them when limit is not positive.
func (s *Store) Runs(limit int) ([]model.Run, error) {
	var runs []model.Run
	err := s.view("read runs", func(t *txn) error {
		c := t.runs.Cursor()
		for k, v := c.Last(); k != nil && (limit <= 0 || len(runs) < limit); k, v = c.Prev() {
			run, err := t.parseRun(v)
			if err != nil {
				return err
			}
			runs = append(runs, run)
		}
		return nil
	})
	return runs, err
}
