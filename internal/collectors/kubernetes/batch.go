package kubernetes

import (
	"runtime"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sourcegraph/conc/pool"
)

// maxBatch bounds the text of a batch, in bytes.
const maxBatch = 64 << 10

// A batcher decodes the items of a page on all processors while further items arrive. It
// holds at most one batch for each processor and one that is being filled.
type batcher struct {
	reader  *reader
	api     api
	workers *pool.Pool
	// text is the text of the items that belong to the next batch; ends are the offsets at
	// which they end.
	text []byte
	ends []int
	// pages are the results of the batches, in the order of the items.
	pages []*page
}

func newBatcher(r *reader, a api) *batcher {
	return &batcher{reader: r, api: a, workers: pool.New().WithMaxGoroutines(runtime.GOMAXPROCS(0))}
}

// add adds a copy of an item. It decodes an item that is larger than a batch itself.
func (b *batcher) add(raw jsontext.Value) {
	if len(b.text)+len(raw) > maxBatch {
		b.flush()
	}
	if len(raw) > maxBatch {
		p := &page{}
		b.pages = append(b.pages, p)
		b.reader.decode(b.api, raw, p)
		return
	}
	b.text = append(b.text, raw...)
	b.ends = append(b.ends, len(b.text))
}

// flush starts the decoding of the current batch. It waits for a free worker.
func (b *batcher) flush() {
	if len(b.ends) == 0 {
		return
	}
	text, ends, p := b.text, b.ends, &page{}
	b.text, b.ends, b.pages = make([]byte, 0, cap(text)), make([]int, 0, cap(ends)), append(b.pages, p)
	b.workers.Go(func() {
		begin := 0
		for _, end := range ends {
			b.reader.decode(b.api, text[begin:end], p)
			begin = end
		}
	})
}

// wait adds the results of all batches to p when they are decoded.
func (b *batcher) wait(p *page) {
	b.flush()
	b.workers.Wait()
	for _, batch := range b.pages {
		p.resources = append(p.resources, batch.resources...)
		p.unreadable = append(p.unreadable, batch.unreadable...)
	}
}
