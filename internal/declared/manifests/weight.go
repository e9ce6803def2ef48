package manifests

import (
	"bytes"
	"context"
	"fmt"

	"github.com/driftd/driftd/internal/budget"
)

// valueWeight is about what one value takes of memory beside its text, in bytes.
const valueWeight = 48

// take counts the memory of the objects and problems: a few files can stand for much
// of it.
func (c *content) take(ctx context.Context) error {
	var need int64
	for _, o := range c.objects {
		need += o.value.Weight()
	}
	for i := range c.problems {
		p := &c.problems[i]
		need += int64(len(p.Address)+len(p.Reason)) + valueWeight*int64(1+len(p.Extents))
	}
	if err := budget.Take(ctx, need); err != nil {
		return fmt.Errorf("read manifests: %w", err)
	}
	return nil
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
