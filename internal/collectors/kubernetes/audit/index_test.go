package audit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// contents returns the IDs of the recorded writes by object.
func (x *index) contents(now time.Time) map[string]string {
	all := map[string]string{}
	x.each(now, time.Time{}, func(o Object, h History) {
		var ids []string
		for _, w := range h.Writes {
			ids = append(ids, w.ID)
		}
		all[o.ID()] = strings.Join(ids, " ")
	})
	return all
}

func TestIndexForgets(t *testing.T) {
	t.Parallel()
	b := newIndex(time.Hour, 1000)
	b.add(writeAt("old", -2*time.Hour, nil), noon())
	b.add(writeAt("1", 0, nil), noon())
	b.add(writeAt("1", 0, nil), noon())
	b.add(writeAt("2", 30*time.Minute, nil), noon().Add(30*time.Minute))
	if diff := cmp.Diff(map[string]string{"shop/web": "1 2"}, b.contents(noon().Add(30*time.Minute))); diff != "" {
		t.Errorf("old and repeated writes are dropped (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"shop/web": "2"}, b.contents(noon().Add(61*time.Minute))); diff != "" {
		t.Errorf("after 61 minutes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{}, b.contents(noon().Add(24*time.Hour))); diff != "" || len(b.objects) != 0 {
		t.Errorf("after 24 hours (-want +got):\n%s", diff)
	}
}

// TestIndexIsBounded records many writes of a controller to one object, and of other
// writers to many objects: the write of a person is kept while there is room.
func TestIndexIsBounded(t *testing.T) {
	t.Parallel()
	b := newIndex(24*time.Hour, 1000)
	b.add(writeAt("hand", 0, nil), noon())
	for i := range 5000 {
		b.add(writeAt(fmt.Sprint("c", i), time.Duration(i)*time.Second, func(w *Write) { w.Manager, w.User = "controller", "system:controller" }), noon())
	}
	if got := b.contents(noon())["shop/web"]; !strings.HasPrefix(got, "hand ") || strings.Count(got, " ") != maxOfWriter {
		t.Errorf("with many writes of a controller: %s", got)
	}
	for i := range 5000 {
		b.add(writeAt(fmt.Sprint("m", i), 0, func(w *Write) { w.Manager = fmt.Sprint("tool-", i) }), noon())
	}
	if got := strings.Count(b.contents(noon())["shop/web"], " ") + 1; got != maxOfObject {
		t.Errorf("%d writes to one object are recorded, want %d", got, maxOfObject)
	}
	for i := range 5000 {
		b.add(writeAt("x", 0, func(w *Write) { w.Object.Name = fmt.Sprint("pod-", i) }), noon())
	}
	if b.order.Len() != 1000 || len(b.objects) != 1000 {
		t.Errorf("%d writes to %d objects are recorded, want 1000", b.order.Len(), len(b.objects))
	}
}

// TestIndexIsBoundedInBytes records writes with user names of the maximum length.
func TestIndexIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	b := newIndex(24*time.Hour, maxWrites)
	held := 0
	for i := range 40_000 {
		b.add(writeAt(fmt.Sprint(i), 0, func(w *Write) {
			w.Object.Name, w.User = fmt.Sprint("pod-", i), strings.Repeat("u", 8*maxShown)
		}), noon())
	}
	b.each(noon(), time.Time{}, func(_ Object, h History) {
		for _, w := range h.Writes {
			held += len(w.User)
		}
	})
	if held > maxBytes || held < maxBytes/2 || b.bytes > maxBytes {
		t.Errorf("%d bytes of users are recorded, %d are counted, want at most %d", held, b.bytes, maxBytes)
	}
	if b.contents(noon().Add(48 * time.Hour)); b.bytes != 0 {
		t.Errorf("%d bytes are counted for an empty index", b.bytes)
	}
}

// TestIndexTakesAnyOrder adds the same writes in many orders.
func TestIndexTakesAnyOrder(t *testing.T) {
	t.Parallel()
	var writes []Write
	for i := range 40 {
		writes = append(writes, writeAt(fmt.Sprint(i%20), time.Duration(i%20)*time.Second, nil))
	}
	var want map[string]string
	order := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		order.Shuffle(len(writes), func(i, j int) { writes[i], writes[j] = writes[j], writes[i] })
		b := newIndex(time.Hour, 1000)
		for _, w := range writes {
			b.add(w, noon())
		}
		got := b.contents(noon())
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("another order of arrival (-first +now):\n%s", diff)
		}
	}
}

func TestIndexServesManyAtOnce(t *testing.T) {
	t.Parallel()
	b := newIndex(time.Hour, 100)
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			for i := range 500 {
				b.add(writeAt(fmt.Sprint(n, i), 0, func(w *Write) { w.Object.Name = fmt.Sprint(i) }), noon())
				if i%50 == 0 {
					b.contents(noon())
				}
			}
		})
	}
	group.Wait()
	if b.order.Len() != 100 {
		t.Errorf("%d writes, want 100", b.order.Len())
	}
}

// TestIndexRecordsLosses checks the time since which the index lacks no write to an object.
func TestIndexRecordsLosses(t *testing.T) {
	t.Parallel()
	since := func(x *index, now, begin time.Time, name string) time.Time {
		found := time.Time{}
		x.each(now, begin, func(o Object, h History) {
			if o.Name == name {
				found = h.Since
			}
		})
		return found
	}
	named := func(name string) func(*Write) { return func(w *Write) { w.Object.Name = name } }
	begin, end := noon().Add(-30*time.Minute), func(after time.Duration) time.Time { return noon().Add(after + 4*time.Millisecond + 1) }
	expect := func(reason string, got, want time.Time) {
		t.Helper()
		if !got.Equal(want) {
			t.Errorf("%s: since %v, want %v", reason, got, want)
		}
	}
	x := newIndex(time.Hour, 3)
	x.add(writeAt("1", 0, named("a")), noon())
	expect("nothing was dropped", since(x, noon(), begin, "a"), begin)
	expect("the beginning is unknown", since(x, noon(), time.Time{}, "a"), time.Time{})
	x.add(writeAt("0", -time.Hour-time.Second, named("a")), noon())
	expect("dropped before the beginning", since(x, noon(), begin, "a"), begin)
	expect("a write that is too old", since(x, noon(), noon().Add(-24*time.Hour), "a"), end(-time.Hour-time.Second))
	for i := range 3 {
		x.add(writeAt(fmt.Sprint("b", i), time.Duration(i+1)*time.Second, named("b")), noon())
	}
	expect("the write of another object was dropped", since(x, noon(), begin, "b"), end(0))
	x.add(writeAt("c", 90*time.Minute, named("c")), noon().Add(90*time.Minute))
	expect("the writes became too old", since(x, noon().Add(90*time.Minute), begin, "c"), end(3*time.Second))

	x = newIndex(time.Hour, 10*maxOfObject)
	x.add(writeAt("1", 0, named("other")), noon())
	for i := range maxOfObject + 1 {
		x.add(writeAt(fmt.Sprint(i), time.Duration(i)*time.Second, func(w *Write) { w.Object.Name, w.Manager = "many", fmt.Sprint(i) }), noon())
	}
	expect("an object with too many writers", since(x, noon(), begin, "many"), end(0))
	expect("another object", since(x, noon(), begin, "other"), begin)
	if x.forget(noon().Add(48 * time.Hour)); len(x.droppedOf) > 0 {
		t.Errorf("%d objects are recorded after their writes were dropped", len(x.droppedOf))
	}
}
