package web

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/access"
)

// Limits of one kept: the answers that it holds, and the requests that wait for one.
const (
	keptMost    = 4
	keptWaiting = 16
)

// kept holds the last answers to a few questions. Without changes an answer is built at most once,
// at most once per pause, and one at a time, so that a visitor with many questions does not delay
// other pages.
type kept[T any] struct {
	now func() time.Time
	// making is held during a build; waiting also by the requests that wait for it.
	making, waiting chan struct{}

	mu  sync.Mutex
	all []keptOne[T]
}

type keptOne[T any] struct {
	question string
	revision uint64
	made     time.Time
	answer   T
}

func newKept[T any](now func() time.Time) *kept[T] {
	return &kept[T]{now: now, making: make(chan struct{}, 1), waiting: make(chan struct{}, 1+keptWaiting)}
}

// get returns the answer to a question, and the revision of the news that it includes.
func (k *kept[T]) get(ctx context.Context, revision uint64, question string, build func() (T, error)) (T, uint64, error) {
	if o, ok := k.find(revision, question); ok {
		return o.answer, o.revision, nil
	}
	var none T
	select {
	case k.waiting <- struct{}{}:
		defer func() { <-k.waiting }()
	default:
		return none, 0, &access.Refused{Status: http.StatusServiceUnavailable, RetryAfter: 5 * time.Second,
			Message: "too many requests", Hint: "try again soon"}
	}
	select {
	case k.making <- struct{}{}:
		defer func() { <-k.making }()
	case <-ctx.Done():
		return none, 0, context.Cause(ctx)
	}
	// Another request may have built it meanwhile.
	if o, ok := k.find(revision, question); ok {
		return o.answer, o.revision, nil
	}
	made := k.now()
	answer, err := build()
	if err != nil {
		return none, 0, err
	}
	k.keep(keptOne[T]{question, revision, made, answer})
	return answer, revision, nil
}

// find returns a stored answer that is still valid.
func (k *kept[T]) find(revision uint64, question string) (keptOne[T], bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	k.all = slices.DeleteFunc(k.all, func(o keptOne[T]) bool { return now.Sub(o.made) > longest })
	for _, o := range k.all {
		if o.question == question && (o.revision >= revision || now.Sub(o.made) < pause) {
			return o, true
		}
	}
	return keptOne[T]{}, false
}

// keep stores an answer. It replaces the previous answer to the question, and the oldest answer if
// there are too many.
func (k *kept[T]) keep(one keptOne[T]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(slices.DeleteFunc(k.all, func(o keptOne[T]) bool { return o.question == one.question }), one)
	k.all = slices.Clone(k.all[max(0, len(k.all)-keptMost):])
}
