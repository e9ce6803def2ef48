package store

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/model"
)

// Outlines returns the outlines of the findings that the filter selects, in the order of Findings.
func (s *Store) Outlines(f Filter) ([]*model.Outline, error) {
	var list []*model.Outline
	err := s.view("read the outlines of findings", func(t *txn) (err error) {
		list, err = t.outlines(f)
		return err
	})
	return list, err
}

func (t *txn) outlines(f Filter) ([]*model.Outline, error) {
	r := outlineReader{filter: f, seen: map[string]moment{}}
	err := each(t.seen, nil, func(k, v []byte) error {
		err := decodeSeen(k, v)
		if err == nil {
			r.seen[strings.TrimSuffix(string(k), "\x00")] = momentAt(v)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := r.copy(t.open); err != nil {
		return nil, err
	}
	if f.Resolved {
		if err := r.copy(t.resolved); err != nil {
			return nil, err
		}
	}
	return r.list()
}

// chunkSize is the number of bytes of heads that a goroutine decodes at a time.
const chunkSize = 256 << 10

// A chunk is a part of the heads of findings: text has the ID and the head of each, and ends where
// each of both ends.
type chunk struct {
	text strings.Builder
	ends []int
}

// An outlineReader copies the heads of findings, and decodes the copies on all cores.
type outlineReader struct {
	filter Filter
	// seen are the times at which the findings of each source were last seen.
	seen   map[string]moment
	chunks []*chunk
}

// copy copies the heads of a bucket.
func (r *outlineReader) copy(b *bucket) error {
	since := momentOf(r.filter.Since)
	return each(b, nil, func(id, v []byte) error {
		if len(v) >= headSize && momentAt(v) < since {
			return nil
		}
		var last *chunk
		if n := len(r.chunks); n > 0 {
			last = r.chunks[n-1]
		}
		if last == nil || last.text.Len()+len(id)+len(v) > chunkSize {
			last = &chunk{}
			last.text.Grow(max(chunkSize, len(id)+len(v)))
			r.chunks = append(r.chunks, last)
		}
		last.text.Write(id)
		last.ends = append(last.ends, last.text.Len())
		last.text.Write(v)
		last.ends = append(last.ends, last.text.Len())
		return nil
	})
}

// list decodes the copies, and returns those that the filter selects, sorted.
func (r *outlineReader) list() ([]*model.Outline, error) {
	lists, errs := make([][]*model.Outline, len(r.chunks)), make([]error, len(r.chunks))
	workers := runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(r.chunks); i += workers {
				lists[i], errs[i] = r.decode(r.chunks[i])
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	all := slices.Concat(lists...)
	model.SortOutlines(all)
	return all, nil
}

func (r *outlineReader) decode(c *chunk) ([]*model.Outline, error) {
	text, n := c.text.String(), len(c.ends)/2
	outlines, list := make([]model.Outline, n), make([]*model.Outline, 0, n)
	start, like := 0, &model.Outline{}
	for i := range outlines {
		o, end := &outlines[i], c.ends[2*i]
		h, err := parseHeadText(text[end:c.ends[2*i+1]])
		if err != nil {
			return nil, err
		}
		seen := h.seen
		if seen == withSource {
			seen = never
			if at, ok := r.seen[h.source]; ok {
				seen = at
			}
		}
		if err := h.decode(text[start:end], seen, o, like); err != nil {
			return nil, err
		}
		start, like = c.ends[2*i+1], o
		if r.filter.fits(o) {
			list = append(list, o)
		}
	}
	return list, nil
}
