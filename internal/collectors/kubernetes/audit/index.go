package audit

import (
	"container/list"
	"slices"
	"sync"
	"time"
)

// Bounds of the index: the writes in total, their size in bytes, the writes to one
// object, and the writes of one writer to one object. The oldest writes are dropped.
const (
	maxWrites   = 50_000
	maxBytes    = 64 << 20
	maxOfObject = 256
	maxOfWriter = 16
)

// An index keeps recent writes by object. It is safe for concurrent use.
type index struct {
	keep time.Duration
	max  int

	mu sync.Mutex
	// order holds *Write in order of arrival.
	order   *list.List
	objects map[Object][]*list.Element
	// bytes is the approximate memory use of the writes.
	bytes int
}

func newIndex(keep time.Duration, limit int) *index {
	return &index{keep: keep, max: limit, order: list.New(), objects: map[Object][]*list.Element{}}
}

// add records a write, unless it is too old or already recorded. Writes can be repeated because a
// line of the log may be read twice and the webhook repeats events.
func (x *index) add(w Write, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget(now)
	if now.Sub(w.Ended) > x.keep || x.contains(&w) {
		return
	}
	x.objects[w.Object] = append(x.objects[w.Object], x.order.PushBack(&w))
	x.bytes += w.weight()
	if excess := x.excess(&w); excess != nil {
		x.drop(excess)
	}
	for x.order.Len() > x.max || x.bytes > maxBytes {
		x.drop(x.order.Front())
	}
}

func (x *index) contains(w *Write) bool {
	return slices.ContainsFunc(x.objects[w.Object], func(e *list.Element) bool {
		recorded := writeOf(e)
		return recorded.ID == w.ID && recorded.Ended.Equal(w.Ended)
	})
}

// excess returns the oldest write of the writer or to the object if there are more than
// the maximum after w, or nil.
func (x *index) excess(w *Write) *list.Element {
	all := x.objects[w.Object]
	same := slices.DeleteFunc(slices.Clone(all), func(e *list.Element) bool { return writeOf(e).writer() != w.writer() })
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

// forget drops the writes that are too old.
func (x *index) forget(now time.Time) {
	for e := x.order.Front(); e != nil && now.Sub(writeOf(e).Ended) > x.keep; e = x.order.Front() {
		x.drop(e)
	}
}

func (x *index) drop(e *list.Element) {
	o := writeOf(e).Object
	x.bytes -= writeOf(e).weight()
	x.order.Remove(e)
	rest := slices.DeleteFunc(x.objects[o], func(f *list.Element) bool { return f == e })
	if len(rest) == 0 {
		delete(x.objects, o)
		return
	}
	x.objects[o] = rest
}

// each calls do with every object and its writes, sorted by time. Do must not call
// methods of the index.
func (x *index) each(now time.Time, do func(Object, []Write)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget(now)
	for o, elements := range x.objects {
		writes := make([]Write, 0, len(elements))
		for _, e := range elements {
			writes = append(writes, *writeOf(e))
		}
		slices.SortFunc(writes, func(v, w Write) int { return v.compare(&w) })
		do(o, writes)
	}
}

func writeOf(e *list.Element) *Write {
	w, _ := e.Value.(*Write) // the list holds no other type
	return w
}
