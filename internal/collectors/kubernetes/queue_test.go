package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// testQueue returns a queue that reads from r, with turns of at most a minute.
func testQueue(t *testing.T, r io.Reader, turns chan struct{}) *queue {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return newQueue(ctx, cancel, time.Minute, r, turns)
}

// TestQueue checks that one stream at a time reads a large event, and that streams with small
// events do not wait.
func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := make(chan struct{}, 1)
		large := bytes.Repeat([]byte("x"), 4*largeEvent)
		first, second := testQueue(t, bytes.NewReader(large), turns), testQueue(t, bytes.NewReader(large), turns)
		if n, err := io.Copy(io.Discard, first); n != int64(len(large)) || err != nil {
			t.Fatalf("the first queue read %d bytes, %v", n, err)
		}
		var read int64
		done := make(chan error)
		go func() {
			n, err := io.Copy(io.Discard, second)
			read = n
			done <- err
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("the second queue does not wait")
		default:
		}
		small := testQueue(t, strings.NewReader("small"), turns)
		if text, err := io.ReadAll(small); string(text) != "small" || err != nil {
			t.Errorf("a small event: %q, %v", text, err)
		}
		if small.leave() {
			t.Error("leave() of a small event = true")
		}
		if !first.leave() {
			t.Error("leave() of a large event = false")
		}
		if err := <-done; err != nil || read != int64(len(large)) {
			t.Errorf("the second queue read %d bytes, %v", read, err)
		}
		// The second queue does not leave: its stream is ended so that others can continue.
		time.Sleep(2 * time.Minute)
		if second.ended() == nil {
			t.Error("a stream keeps its turn longer than the timeout")
		}
		if first.ended() != nil {
			t.Error("a stream without a turn was ended")
		}
		if _, err := io.Copy(io.Discard, testQueue(t, strings.NewReader(""), turns)); err != nil {
			t.Error(err)
		}
	})
}

// TestQueueEnds checks that a stream that ended does not wait for a turn.
func TestQueueEnds(t *testing.T) {
	t.Parallel()
	turns := make(chan struct{}, 1)
	turns <- struct{}{}
	q := testQueue(t, bytes.NewReader(make([]byte, 4*largeEvent)), turns)
	q.cancel()
	if _, err := io.Copy(io.Discard, q); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if q.leave() {
		t.Error("leave() without a turn = true")
	}
}
