package audit

import (
	"container/list"
	"slices"
	"sync"
	"time"
)

// Bounds of what is remembered of writes: in all, by number and in bytes, of one
// object, and of one writer of an object, of whom the last ones count.
const (
	maxWrites   = 50_000
	maxBytes    = 64 << 20
	maxOfObject = 256
	maxOfWriter = 16
)

// A book remembers writes by object, for a while. It is safe for concurrent
// use.
type book struct {
	keep time.Duration
	max  int

	mu sync.Mutex
	// order holds *Write, the one that was told first in front.
	order   *list.List
	objects map[Object][]*list.Element
	// bytes is about what the writes take of memory.
	bytes int
}

func newBook(keep time.Duration, limit int) *book {
	return &book{keep: keep, max: limit, order: list.New(), objects: map[Object][]*list.Element{}}
}

// add notes a write, unless it is too old or known already; a log may be read
// twice, and a webhook tell again what it told.
func (b *book) add(w Write, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(now)
	if now.Sub(w.Ended) > b.keep || b.knows(&w) {
		return
	}
	b.objects[w.Object] = append(b.objects[w.Object], b.order.PushBack(&w))
	b.bytes += w.weight()
	if excess := b.excess(&w); excess != nil {
		b.drop(excess)
	}
	for b.order.Len() > b.max || b.bytes > maxBytes {
		b.drop(b.order.Front())
	}
}

func (b *book) knows(w *Write) bool {
	return slices.ContainsFunc(b.objects[w.Object], func(e *list.Element) bool {
		known := writeOf(e)
		return known.ID == w.ID && known.Ended.Equal(w.Ended)
	})
}

// excess returns what is one too much of an object, or of its writer: the oldest.
func (b *book) excess(w *Write) *list.Element {
	all := b.objects[w.Object]
	same := slices.DeleteFunc(slices.Clone(all), func(e *list.Element) bool { return writeOf(e).by() != w.by() })
	switch {
	case len(same) > maxOfWriter:
		return oldest(same)
	case len(all) > maxOfObject:
		return oldest(all)
	}
	return nil
}

func oldest(all []*list.Element) *list.Element {
	return slices.MinFunc(all, func(a, b *list.Element) int { return writeOf(a).compare(writeOf(b)) })
}

// forget drops what is too old.
func (b *book) forget(now time.Time) {
	for e := b.order.Front(); e != nil && now.Sub(writeOf(e).Ended) > b.keep; e = b.order.Front() {
		b.drop(e)
	}
}

func (b *book) drop(e *list.Element) {
	o := writeOf(e).Object
	b.bytes -= writeOf(e).weight()
	b.order.Remove(e)
	rest := slices.DeleteFunc(b.objects[o], func(f *list.Element) bool { return f == e })
	if len(rest) == 0 {
		delete(b.objects, o)
		return
	}
	b.objects[o] = rest
}

// each hands over the writes of every object that has any, by time. It is not
// called twice at once, and must not call back.
func (b *book) each(now time.Time, do func(Object, []Write)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(now)
	for o, elements := range b.objects {
		writes := make([]Write, 0, len(elements))
		for _, e := range elements {
			writes = append(writes, *writeOf(e))
		}
		slices.SortFunc(writes, func(v, w Write) int { return v.compare(&w) })
		do(o, writes)
	}
}

func writeOf(e *list.Element) *Write {
	w, _ := e.Value.(*Write) // nothing else is put in
	return w
}
