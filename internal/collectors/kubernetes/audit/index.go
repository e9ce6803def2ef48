package audit

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
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
	// dropped is the latest end of a write that was dropped; zero if none was. droppedOf is the
	// same by object, for writes that were dropped because the object has too many.
	dropped   time.Time
	droppedOf map[Object]time.Time
}

func newIndex(keep time.Duration, limit int) *index {
	return &index{keep: keep, max: limit, order: list.New(), objects: map[Object][]*list.Element{}, droppedOf: map[Object]time.Time{}}
}

// add records a write, unless it is too old or already recorded. Writes can be repeated because a
// line of the log may be read twice and the webhook repeats events.
func (x *index) add(w Write, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget(now)
	if now.Sub(w.Ended) > x.keep {
		x.dropped = model.Later(x.dropped, w.Ended)
		return
	}
	if x.contains(&w) {
		return
	}
	x.objects[w.Object] = append(x.objects[w.Object], x.order.PushBack(&w))
	x.bytes += w.weight()
	x.limit(&w)
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

// limit removes the oldest write of the writer or to the object if there are more than the maximum
// after w. The next write of the writer represents the removed one.
func (x *index) limit(w *Write) {
	all := x.objects[w.Object]
	same := slices.DeleteFunc(slices.Clone(all), func(e *list.Element) bool { return writeOf(e).writer() != w.writer() })
	switch {
	case len(same) > maxOfWriter:
		first := oldest(same)
		x.remove(first)
		same = slices.DeleteFunc(same, func(e *list.Element) bool { return e == first })
		next := writeOf(oldest(same))
		if earliest := writeOf(first).first(); earliest.Before(next.first()) {
			next.Earliest = earliest
		}
	case len(all) > maxOfObject:
		first := oldest(all)
		x.remove(first)
		x.droppedOf[w.Object] = model.Later(x.droppedOf[w.Object], writeOf(first).Ended)
	}
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

// drop removes a write and records that the index lacks it.
func (x *index) drop(e *list.Element) {
	x.dropped = model.Later(x.dropped, writeOf(e).Ended)
	x.remove(e)
}

func (x *index) remove(e *list.Element) {
	o := writeOf(e).Object
	x.bytes -= writeOf(e).weight()
	x.order.Remove(e)
	rest := slices.DeleteFunc(x.objects[o], func(f *list.Element) bool { return f == e })
	if len(rest) == 0 {
		delete(x.objects, o)
		delete(x.droppedOf, o)
		return
	}
	x.objects[o] = rest
}

// each calls do with every object and its history. The log begins at the given time; zero if
// unknown. Do must not call methods of the index.
func (x *index) each(now, begin time.Time, do func(Object, History)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget(now)
	for o, elements := range x.objects {
		writes := make([]Write, 0, len(elements))
		for _, e := range elements {
			writes = append(writes, *writeOf(e))
		}
		slices.SortFunc(writes, func(v, w Write) int { return v.compare(&w) })
		do(o, History{writes, x.since(o, begin)})
	}
}

// since returns the time since which the index lacks no write to the object; zero if unknown.
func (x *index) since(o Object, begin time.Time) time.Time {
	lost := model.Later(x.dropped, x.droppedOf[o])
	if begin.IsZero() || lost.IsZero() {
		return begin
	}
	return model.Later(begin, lost.Add(1))
}

func writeOf(e *list.Element) *Write {
	w, _ := e.Value.(*Write) // the list holds no other type
	return w
}
