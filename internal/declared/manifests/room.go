package manifests

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"github.com/driftd/driftd/internal/model"
)

// A room counts the memory that the objects and problems of one declaration take: small
// files can expand to large objects. It is safe for concurrent use.
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

// take subtracts the memory of a content. It returns an error if none is left.
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

// valueWeight is about the memory of one value without its text, in bytes.
const valueWeight = 48

// weight returns about the memory of a value, in bytes.
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

// weight returns an upper estimate of the memory of the objects, in bytes, without parsing
// them.
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
