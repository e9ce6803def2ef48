package manifests

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"github.com/driftd/driftd/internal/model"
)

// A room is the memory that remains for the objects and problems of one declaration:
// a few files can stand for much of it. It is safe for concurrent use.
type room struct {
	size int64
	free atomic.Int64
}

func newRoom(size int64) *room {
	r := &room{size: size}
	r.free.Store(size)
	return r
}

// isFull reports whether more was taken than there was.
func (r *room) isFull() bool { return r.free.Load() < 0 }

// take takes what a content needs.
func (r *room) take(t *tree, c *content) error {
	var need int64
	for _, o := range c.objects {
		need += weight(o.value)
	}
	for i := range c.problems {
		p := &c.problems[i]
		need += int64(len(p.Address)+len(p.Reason)) + valueWeight*int64(1+len(p.Extents))
	}
	if r.free.Add(-need) < 0 {
		return fmt.Errorf("read manifests: %s declares more than fits in %d MiB; narrow it, or raise max_memory", t.where, r.size>>20)
	}
	return nil
}

// valueWeight is about what one value takes of memory beside its text, in bytes.
const valueWeight = 48

// weight returns about what a value takes of memory, in bytes.
func weight(v model.Value) int64 {
	total := int64(valueWeight + len(v.Str()))
	for _, item := range v.Items() {
		total += weight(item)
	}
	for _, f := range v.Fields() {
		total += int64(len(f.Name)) + weight(f.Value)
	}
	return total
}

// weight returns about what the objects take of memory at most, in bytes, without
// parsing them.
func (p *packed) weight() int64 {
	var total int64
	for _, o := range p.Objects {
		values := 1
		for _, begin := range []string{"{", "[", ","} {
			values += bytes.Count(o.JSON, []byte(begin))
		}
		total += int64(len(o.JSON) + valueWeight*values)
	}
	return total
}
