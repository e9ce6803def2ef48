package store

import (
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
	r := outlineReader{filter: f, seen: map[string]moment{}, full: make(chan *chunk)}
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
	all := slices.Concat(lists...)
	model.SortOutlines(all)
	return all, nil
}

// chunkSize is the number of bytes of heads that a goroutine decodes at a time.
const chunkSize = 256 << 10

// A chunk is a part of the heads of findings: text has the ID and the head of each, and ends where
// each of both ends. list are the outlines that the filter selects.
type chunk struct {
	text strings.Builder
	ends []int
	list []*model.Outline
	err  error
}

// An outlineReader copies the heads of findings, and decodes the copies on all cores.
type outlineReader struct {
	filter Filter
	// seen are the times at which the findings of each source were last seen.
	seen   map[string]moment
	chunks []*chunk
	// full are the chunks to decode.
	full chan *chunk
}

// read reads the heads of buckets. It waits for its goroutines also if a record is damaged, which panics.
func (r *outlineReader) read(heads []*bucket) error {
	var group sync.WaitGroup
	defer group.Wait()
	defer close(r.full)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for c := range r.full {
				c.list, c.err = r.decode(c)
			}
		})
	}
	last := r.newChunk(0)
	for _, b := range heads {
		err := each(b, nil, func(id, v []byte) error {
			if len(v) >= headSize && momentAt(v) < momentOf(r.filter.Since) {
				return nil
			}
			if size := len(id) + len(v); last.text.Len()+size > chunkSize {
				r.full <- last
				last = r.newChunk(size)
			}
			last.add(id, v)
			return nil
		})
		if err != nil {
			return err
		}
	}
	r.full <- last
	return nil
}

// newChunk adds a chunk with room for a head of a size.
func (r *outlineReader) newChunk(size int) *chunk {
	const usualHead = 160
	c := &chunk{ends: make([]int, 0, 2*chunkSize/usualHead)}
	c.text.Grow(max(chunkSize, size))
	r.chunks = append(r.chunks, c)
	return c
}

func (c *chunk) add(id, v []byte) {
	c.text.Write(id)
	c.ends = append(c.ends, c.text.Len())
	c.text.Write(v)
	c.ends = append(c.ends, c.text.Len())
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
