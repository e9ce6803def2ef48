package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/server"
)

// TestManyQuestions verifies that a client that sends many requests and disconnects does not delay
// others afterwards.
func TestManyQuestions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, made := newKept[int](time.Now), 0
		build := func() (int, error) { made++; time.Sleep(time.Second); return made, nil }
		gone, leave := context.WithCancel(t.Context())
		ended := make(chan error)
		for i := range 500 {
			go func() {
				_, _, err := k.get(gone, 1, fmt.Sprint(i), build)
				ended <- err
			}()
		}
		synctest.Wait()
		refused := 0
		for range 500 - 1 - keptWaiting { // the others wait
			if err := <-ended; server.AsError(err).Status == http.StatusServiceUnavailable {
				refused++
			}
		}
		if refused != 500-1-keptWaiting {
			t.Errorf("%d of 500 are refused, want all but %d", refused, 1+keptWaiting)
		}
		leave()
		for range keptWaiting {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("who is gone gets %v", err)
			}
		}
		if err := <-ended; err != nil || made != 1 {
			t.Errorf("made %d answers for those who are gone, %v", made, err)
		}
	})
}

func TestOneQuestionIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, made := newKept[int](time.Now), 0
		build := func() (int, error) { made++; time.Sleep(time.Second); return made, nil }
		get := func(revision uint64, question string) (int, uint64) {
			answer, known, err := k.get(t.Context(), revision, question, build)
			if err != nil {
				t.Error(err)
			}
			return answer, known
		}
		done := make(chan struct{})
		for range keptWaiting {
			go func() { get(1, "a"); done <- struct{}{} }()
		}
		for range keptWaiting {
			<-done
		}
		if made != 1 {
			t.Errorf("made %d times for those who ask at once", made)
		}
		if answer, known := get(0, "a"); answer != 1 || known != 1 {
			t.Errorf("what is newer than asked for: %d of revision %d", answer, known)
		}
		if answer, _ := get(2, "a"); answer != 2 {
			t.Errorf("after news: %d", answer)
		}
		for i := range keptMost {
			get(2, fmt.Sprint(i))
		}
		if answer, _ := get(2, "a"); answer != 3+keptMost || len(k.all) != keptMost {
			t.Errorf("%d are kept, want the latest %d: %d", len(k.all), keptMost, answer)
		}
		before := made
		time.Sleep(longest + time.Second)
		if get(2, "a"); made != before+1 {
			t.Error("what nobody told of is not noticed")
		}
	})
}

func TestWhatFailsIsNotKept(t *testing.T) {
	t.Parallel()
	k, fails := newKept[int](now), errors.New("the disk is gone")
	for _, want := range []error{fails, nil} {
		if _, _, err := k.get(t.Context(), 1, "", func() (int, error) { return 1, want }); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}
