package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/model"
)

func runKey(num uint64) []byte { return binary.BigEndian.AppendUint64(nil, num) }

// A series is the stored record of one run, or of several consecutive runs with the same result.
// The fields that pruning needs precede the compressed run.
type series struct {
	// first and last are the start times of the first and the last run.
	first, last moment
	runs        uint64
	// next reports whether the run is compressed with the following run as the dictionary, from
	// which it differs little.
	next   bool
	packed []byte
}

const seriesSize = 8 + 8 + 8 + 1

func (s *series) encode() []byte {
	b := s.last.append(s.first.append(make([]byte, 0, seriesSize+len(s.packed))))
	b = append(binary.BigEndian.AppendUint64(b, s.runs), 0)
	if s.next {
		b[seriesSize-1] = 1
	}
	return append(b, s.packed...)
}

func parseSeries(v []byte) (series, error) {
	if len(v) < seriesSize || v[seriesSize-1] > 1 {
		return series{}, fmt.Errorf("%w: run of %d bytes", errCorrupt, len(v))
	}
	return series{first: momentAt(v), last: momentAt(v[8:]), runs: binary.BigEndian.Uint64(v[16:]),
		next: v[seriesSize-1] == 1, packed: v[seriesSize:]}, nil
}

// rawRun returns the JSON of the run. next is the JSON of the following run.
func (c codec) rawRun(s *series, next []byte) ([]byte, error) {
	if s.next {
		return c.unpackWith(next, s.packed)
	}
	return c.unpack(s.packed)
}

// saveRun adds a run. If the run has the same result as the last one, and its transaction wrote no
// new version of a resource or finding, saveRun adds it to the last record instead. Only the last
// run keeps its list of exemptions and its samples of objects.
func (t *txn) saveRun(run *model.Run, at moment) error {
	k, v := t.newest.cursor().last()
	if k == nil {
		return t.addRun(run, at)
	}
	last, s, err := t.parseRun(v)
	if err != nil {
		return err
	}
	changed := t.versions.now != t.versions.was || t.findings.now != t.findings.was
	// The time within a series counts in full towards ages, so it must not contain a jump of the
	// clock.
	steady := at >= s.last && at-s.last <= maxPause
	if joined, same := last.Follow(run); same && steady && !changed {
		return t.putRun(bytes.Clone(k), &joined, series{first: s.first, last: at, runs: s.runs + 1})
	}
	last.Exempt = nil
	for i := range last.Declarations {
		last.Declarations[i].Objects = nil
	}
	k = bytes.Clone(k)
	if err := t.putRun(k, &last, s); err != nil {
		return err
	}
	if err := t.shrinkBefore(k); err != nil {
		return err
	}
	return t.addRun(run, at)
}

// maxPause is the longest pause between two runs of one record.
const maxPause = moment(24 * time.Hour)

func (t *txn) addRun(run *model.Run, at moment) error {
	num, err := t.runs.next()
	if err != nil {
		return err
	}
	return t.putRun(runKey(num), run, series{first: at, last: at, runs: 1})
}

// putRun writes one of the newest runs, compressed without a dictionary.
func (t *txn) putRun(k []byte, run *model.Run, s series) (err error) {
	s.next = false
	if s.packed, err = t.packJSON(run); err != nil {
		return err
	}
	return t.newest.put(k, s.encode())
}

// shrinkBefore compresses the run before the one under k, which does not change any more, with the
// one under k as the dictionary.
func (t *txn) shrinkBefore(k []byte) error {
	c := t.newest.cursor()
	_, v := c.seek(k)
	before, old := c.prev()
	if before == nil {
		return nil
	}
	now, err := parseSeries(v)
	if err != nil {
		return err
	}
	next, err := t.unpack(now.packed)
	if err != nil {
		return err
	}
	s, err := parseSeries(old)
	if err != nil {
		return err
	}
	raw, err := t.unpack(s.packed)
	if err != nil {
		return err
	}
	if s.packed, err = t.packWith(next, raw); err != nil {
		return err
	}
	s.next = true
	before = bytes.Clone(before)
	if err := t.newest.remove(before); err != nil {
		return err
	}
	return t.runs.put(before, s.encode())
}

// parseRun decodes one of the newest runs.
func (c codec) parseRun(v []byte) (model.Run, series, error) {
	var run model.Run
	s, err := parseSeries(v)
	if err != nil {
		return run, s, err
	}
	if s.next {
		return run, s, fmt.Errorf("%w: a newest run is compressed with another one", errCorrupt)
	}
	err = c.unpackJSON(s.packed, &run)
	return run, s, err
}

// eachRun calls fn with the JSON of the runs, newest first, until fn returns false.
func (t *txn) eachRun(fn func(raw []byte) (more bool, err error)) error {
	var next []byte
	for _, b := range []*bucket{t.newest, t.runs} {
		c := b.cursor()
		for k, v := c.last(); k != nil; k, v = c.prev() {
			s, err := parseSeries(v)
			if err != nil {
				return b.damage(k, err.Error())
			}
			if next, err = t.rawRun(&s, next); err != nil {
				return b.damage(k, err.Error())
			}
			if more, err := fn(next); !more || err != nil {
				return err
			}
		}
	}
	return nil
}

// LastRun returns the record of the run that was saved last. It returns ErrNotFound if there is
// none.
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

// Runs returns up to limit run records, starting with the one that was saved last. If limit is not
// positive, it returns all. One record may represent several runs.
func (s *Store) Runs(limit int) ([]model.Run, error) {
	var runs []model.Run
	err := s.view("read runs", func(t *txn) error {
		return t.eachRun(func(raw []byte) (bool, error) {
			var run model.Run
			err := parseJSON(raw, &run)
			runs = append(runs, run)
			return len(runs) != limit, err
		})
	})
	return runs, err
}

// convertRuns copies the runs of an earlier schema version unchanged.
func convertRuns(from *bbolt.Bucket, to *filler) error {
	c := from.Cursor()
	last, _ := c.Last()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if len(v) < 8 {
			return fmt.Errorf("%w: run of %d bytes", errCorrupt, len(v))
		}
		b, at := to.t.runs, momentAt(v)
		if bytes.Equal(k, last) {
			b = to.t.newest
		}
		s := series{first: at, last: at, runs: 1, packed: v[8:]}
		if err := b.put(k, s.encode()); err != nil {
			return err
		}
		if err := to.wrote(len(v)); err != nil {
			return err
		}
	}
	if err := to.t.runs.continueAt(from.Sequence()); err != nil {
		return err
	}
	return convertLastReads(from, to)
}

// rememberedRuns is how many runs earlier versions searched for the last read of a source.
const rememberedRuns = 100

// convertLastReads stores the last reads of sources and declarations from the last runs of an
// earlier schema version.
func convertLastReads(from *bbolt.Bucket, to *filler) error {
	c := from.Cursor()
	read := 0
	for k, v := c.Last(); k != nil && read < rememberedRuns; k, v = c.Prev() {
		var run model.Run
		if err := to.c.unpackJSON(v[8:], &run); err != nil {
			return fmt.Errorf("run %s: %w", keyText(runBucket, k), err)
		}
		noted := func(key string) bool { return to.t.notes.get([]byte(key)) != nil }
		run.Sources = slices.DeleteFunc(run.Sources, func(s model.SourceRun) bool { return noted(lastNote + s.Name) })
		run.Declarations = slices.DeleteFunc(run.Declarations, func(d model.DeclarationRun) bool { return noted(stateNote + d.Name) })
		if err := to.t.saveLastReads(&run, momentAt(v)); err != nil {
			return err
		}
		read++
	}
	return nil
}
