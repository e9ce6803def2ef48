package manifests

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/budget"
)

// valueWeight is the approximate memory of a value in addition to its text, in bytes.
const valueWeight = 48

// takeMemory takes the memory of the objects and problems from the budget in ctx. It can be
// many times the size of the files.
func (c *content) takeMemory(ctx context.Context) error {
	var need int64
	for _, o := range c.objects {
		need += o.value.Weight()
		for _, other := range slices.Concat(o.again, o.otherwise) {
			need += other.Weight()
		}
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

// weight returns an upper estimate of the memory of the objects in bytes, without parsing
// them.
func (p *packed) weight() int64 {
	var total int64
	for i := range p.Objects {
		o := &p.Objects[i]
		total += weightOfJSON(o.JSON)
		for _, again := range o.Again {
			total += weightOfJSON(again)
		}
	}
	return total
}

func weightOfJSON(data []byte) int64 {
	values := 1
	for _, begin := range []string{"{", "[", ","} {
		values += bytes.Count(data, []byte(begin))
	}
	return int64(len(data) + valueWeight*values)
}
