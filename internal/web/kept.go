package web

import (
	"slices"
	"sync"
	"time"
)

// keptMost bounds what is kept of one thing.
const keptMost = 4

// kept is what was last made for a few questions. It is made at most once while
// nothing changes, and not more often than once in pause.
type kept[T any] struct {
	mu  sync.Mutex
	all []keptOne[T]
}

type keptOne[T any] struct {
	question string
	revision uint64
	made     time.Time
	answer   T
}

// get returns the answer to a question, and the revision of the news that it
// knows.
func (k *kept[T]) get(revision uint64, question string, now time.Time, build func() (T, error)) (T, uint64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = slices.DeleteFunc(k.all, func(o keptOne[T]) bool { return now.Sub(o.made) > longest })
	for _, o := range k.all {
		if o.question == question && (o.revision == revision || now.Sub(o.made) < pause) {
			return o.answer, o.revision, nil
		}
	}
	answer, err := build()
	if err != nil {
		return answer, 0, err
	}
	k.all = append(slices.DeleteFunc(k.all, func(o keptOne[T]) bool { return o.question == question }), keptOne[T]{question, revision, now, answer})
	k.all = slices.Clone(k.all[max(0, len(k.all)-keptMost):])
	return answer, revision, nil
}
