package store

import (
	"bytes"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// refresh is the age up to which the time of an unchanged last read is not updated, so that a run
// does not write those of all sources.
const refresh = moment(24 * time.Hour)

// LastRead returns the record of a source in the last run that read it, or ErrNotFound if there is
// none. That run need not be among the stored runs.
func (s *Store) LastRead(source string) (model.SourceRun, error) {
	var last model.SourceRun
	err := s.view("read the last scan of "+source, func(t *txn) error { return t.note(lastNote+source, &last) })
	return last, err
}

// LastStates returns the state reads of a declaration in the last run that has any. It returns
// ErrNotFound if there is none.
func (s *Store) LastStates(declaration string) ([]model.StateRead, error) {
	var last []model.StateRead
	err := s.view("read the last states of "+declaration, func(t *txn) error { return t.note(stateNote+declaration, &last) })
	return last, err
}

func (t *txn) note(key string, into any) error {
	v := t.notes.get([]byte(key))
	if v == nil {
		return ErrNotFound
	}
	return t.parseNote(v, into)
}

// parseNote decodes the value of a note that begins with a time.
func (c codec) parseNote(v []byte, into any) error {
	if len(v) < 8 {
		return fmt.Errorf("%w: note of %d bytes", errCorrupt, len(v))
	}
	return c.unpackJSON(v[8:], into)
}

// saveLastReads stores the parts of a run that later runs need.
func (t *txn) saveLastReads(run *model.Run, at moment) error {
	for i := range run.Sources {
		if err := t.putNote(lastNote+run.Sources[i].Name, &run.Sources[i], at); err != nil {
			return err
		}
	}
	for i := range run.Declarations {
		if d := &run.Declarations[i]; len(d.States) > 0 {
			if err := t.putNote(stateNote+d.Name, d.States, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// putNote writes a value with its time, unless the same value was written less than refresh ago.
func (t *txn) putNote(key string, value any, at moment) error {
	packed, err := t.packJSON(value)
	if err != nil {
		return err
	}
	if was := t.notes.get([]byte(key)); len(was) >= 8 && bytes.Equal(was[8:], packed) && momentAt(was) > at-refresh {
		return nil
	}
	return t.notes.put([]byte(key), append(at.append(nil), packed...))
}

// pruneLastReads removes the last reads of sources and declarations that no run since the cut has
// read.
func (p *pruner) pruneLastReads() error {
	if p.cut == never {
		return nil
	}
	var old [][]byte
	for _, prefix := range []string{lastNote, stateNote} {
		err := each(p.notes, []byte(prefix), func(k, v []byte) error {
			if len(v) >= 8 && momentAt(v) < p.cut-refresh {
				old = append(old, bytes.Clone(k))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return removeAll(p.notes, old)
}
