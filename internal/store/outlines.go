package store

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/model"
)

// Outlines returns the outlines of the findings that the filter selects, in no particular order.
func (s *Store) Outlines(f Filter) ([]*model.Outline, error) {
	var list []*model.Outline
	err := s.view("read the outlines of findings", func(t *txn) (err error) {
		list, err = t.outlines(f)
		return err
	})
	return list, err
}

func (t *txn) outlines(f Filter) ([]*model.Outline, error) {
	r := newOutlineReader(f)
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
	heads := []*bucket{t.open}
	if f.Resolved {
		heads = append(heads, t.resolved)
	}
	if err := r.read(heads); err != nil {
		return nil, err
	}
	var lists [][]*model.Outline
	for _, c := range r.chunks {
		if c.err != nil {
			return nil, c.err
		}
		lists = append(lists, c.list)
	}
	return slices.Concat(lists...), nil
}

// chunkSize is the number of findings that a goroutine decodes at a time.
const chunkSize = 1024

// An outlineReader decodes the heads of findings on all cores, within the transaction.
type outlineReader struct {
	filter Filter
	// seen are the times at which the findings of each source were last seen.
	seen   map[string]moment
	chunks []*chunk
	// full are the chunks to decode, and empty the records of those that were.
	full  chan *chunk
	empty chan []entry
}

// A chunk is a part of the heads of findings. list are the outlines that the filter selects.
type chunk struct {
	// heads are valid until the transaction ends.
	heads []entry
	list  []*model.Outline
	err   error
}

func newOutlineReader(f Filter) *outlineReader {
	return &outlineReader{filter: f, seen: map[string]moment{}, full: make(chan *chunk), empty: make(chan []entry, runtime.GOMAXPROCS(0))}
}

// read reads the heads of buckets. It waits for its goroutines even if it panics because a record
// is damaged.
func (r *outlineReader) read(heads []*bucket) error {
	var group sync.WaitGroup
	defer group.Wait()
	defer close(r.full)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for c := range r.full {
				r.finish(c)
			}
		})
	}
	last := r.newChunk()
	for _, b := range heads {
		err := each(b, nil, func(id, v []byte) error {
			if len(v) >= headSize && momentAt(v) < momentOf(r.filter.Since) {
				return nil
			}
			if len(last.heads) == chunkSize {
				r.full <- last
				last = r.newChunk()
			}
			last.heads = append(last.heads, entry{id, v})
			return nil
		})
		if err != nil {
			return err
		}
	}
	r.full <- last
	return nil
}

// finish decodes the heads of a chunk. It has a guard because that of the transaction is for another goroutine.
func (r *outlineReader) finish(c *chunk) {
	c.err = guard(func() (err error) {
		c.list, err = r.decode(c.heads)
		return err
	})
	select {
	case r.empty <- c.heads[:0]:
	default:
	}
	c.heads = nil
}

func (r *outlineReader) newChunk() *chunk {
	c := &chunk{}
	select {
	case c.heads = <-r.empty:
	default:
		c.heads = make([]entry, 0, chunkSize)
	}
	r.chunks = append(r.chunks, c)
	return c
}

func (r *outlineReader) decode(heads []entry) ([]*model.Outline, error) {
	outlines, list := make([]model.Outline, len(heads)), make([]*model.Outline, 0, len(heads))
	var t texts
	const usualTexts = 64
	t.Grow(len(heads) * usualTexts)
	like := &model.Outline{}
	for i := range outlines {
		o := &outlines[i]
		source, outline, err := cutHead(heads[i].value)
		if err != nil {
			return nil, err
		}
		o.ID, o.Source = t.text(heads[i].key, ""), t.text(source, like.Source)
		seen := momentAt(heads[i].value[8:])
		if seen == withSource {
			seen = never
			if at, ok := r.seen[o.Source]; ok {
				seen = at
			}
		}
		o.LastSeen = seen.time()
		if err := decodeOutline(outline, o, like, &t); err != nil {
			return nil, err
		}
		like = o
		if r.filter.fits(o) {
			list = append(list, o)
		}
	}
	return list, nil
}
