package store

import (
	"bytes"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// refresh is how old the time of a last look may get while nothing else of it
// changes, so that a run does not write those of all sources.
const refresh = moment(24 * time.Hour)

// LastLook returns the part that a source has in the last run that had it, or
// ErrNotFound. It is found however many runs have been saved since.
func (s *Store) LastLook(source string) (model.SourceRun, error) {
	var last model.SourceRun
	err := s.view("read the last look at "+source, func(t *txn) error { return t.note(lookNote+source, &last) })
	return last, err
}

// LastStates returns the records of what was applied that a declaration last had in
// a run, or ErrNotFound.
func (s *Store) LastStates(declaration string) ([]model.StateRead, error) {
	var last []model.StateRead
	err := s.view("read the last records of "+declaration, func(t *txn) error { return t.note(stateNote+declaration, &last) })
	return last, err
}

func (t *txn) note(key string, into any) error {
	v := t.notes.get([]byte(key))
	if v == nil {
		return ErrNotFound
	}
	return t.parseNote(v, into)
}

// parseNote reads a value and when it was noted.
func (c codec) parseNote(v []byte, into any) error {
	if len(v) < 8 {
		return fmt.Errorf("%w: note of %d bytes", errCorrupt, len(v))
	}
	return c.unpackJSON(v[8:], into)
}

// saveLooks notes the parts of a run that later runs go by.
func (t *txn) saveLooks(run *model.Run, at moment) error {
	for i := range run.Sources {
		if err := t.putNote(lookNote+run.Sources[i].Name, &run.Sources[i], at); err != nil {
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

// putNote writes a value, unless it was noted lately as it is.
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

// pruneLooks removes the last looks at sources, and records of declarations, that
// no run since the cut has had.
func (p *pruner) pruneLooks() error {
	if p.cut == never {
		return nil
	}
	var old [][]byte
	for _, prefix := range []string{lookNote, stateNote} {
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
