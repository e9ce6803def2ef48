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

// testQueue returns a queue over r, whose turns last a minute.
func testQueue(t *testing.T, r io.Reader, turns chan struct{}) *queue {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return newQueue(ctx, cancel, time.Minute, r, turns)
}

// TestQueue holds that one stream at a time reads a large event, and that small ones
// do not wait.
func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := make(chan struct{}, 1)
		large := bytes.Repeat([]byte("x"), 4*largeEvent)
		first, second := testQueue(t, bytes.NewReader(large), turns), testQueue(t, bytes.NewReader(large), turns)
		if n, err := io.Copy(io.Discard, first); n != int64(len(large)) || err != nil {
			t.Fatalf("the first reads %d bytes, %v", n, err)
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
			t.Fatal("the second does not wait")
		default:
		}
		small := testQueue(t, strings.NewReader("small"), turns)
		if text, err := io.ReadAll(small); string(text) != "small" || err != nil {
			t.Errorf("a small event: %q, %v", text, err)
		}
		if small.leave() {
			t.Error("a small event is called large")
		}
		if !first.leave() {
			t.Error("a large event is called small")
		}
		if err := <-done; err != nil || read != int64(len(large)) {
			t.Errorf("the second reads %d bytes, %v", read, err)
		}
		// It does not leave: its stream ends, and others go on.
		time.Sleep(2 * time.Minute)
		if second.ended() == nil {
			t.Error("a stream keeps its turn for as long as it likes")
		}
		if first.ended() != nil {
			t.Error("a stream that left ends")
		}
		if _, err := io.Copy(io.Discard, testQueue(t, strings.NewReader(""), turns)); err != nil {
			t.Error(err)
		}
	})
}

// TestQueueEnds holds that a stream that ends does not wait for a turn.
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
		t.Error("it had no turn")
	}
}
