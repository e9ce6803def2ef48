package httpclient_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/driftd/driftd/internal/httpclient"
)

// TestWithin holds that requests that hang one after another never use up the time
// of a look, and which bound each of them names.
func TestWithin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		look, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		for i, want := range []httpclient.Timeout{{After: 40 * time.Second}, {After: 30 * time.Second, Look: true}, {After: 15 * time.Second, Look: true}} {
			request, done := httpclient.Within(look, 40*time.Second)
			<-request.Done()
			done()
			var got *httpclient.Timeout
			if !errors.As(context.Cause(request), &got) || *got != want {
				t.Errorf("request %d ended with %v, want %+v", i+1, context.Cause(request), want)
			}
			if errors.Is(got, context.DeadlineExceeded) != want.Look {
				t.Errorf("request %d: its end is the look's: %v, want %v", i+1, !want.Look, want.Look)
			}
		}
		if look.Err() != nil {
			t.Error("requests that hang used up the time of the look")
		}
	})
}

// errScan is the cause of the end of a context.
var errScan = errors.New("source a: no answer")

func TestTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		look, cancel := context.WithTimeoutCause(t.Context(), time.Second, errScan)
		defer cancel()
		if err := httpclient.Turn(look, nil); err != nil {
			t.Errorf("without a limit: %v", err)
		}
		limiter := rate.NewLimiter(rate.Every(time.Hour), 1)
		if err := httpclient.Turn(look, limiter); err != nil {
			t.Errorf("the first turn: %v", err)
		}
		err := httpclient.Because(look, httpclient.Turn(look, limiter))
		if !errors.Is(err, errScan) {
			t.Errorf("a turn after the deadline: %v, want %v", err, errScan)
		}
	})
}

func TestBecause(t *testing.T) {
	t.Parallel()
	cause, other := errors.New("cause"), errors.New("other")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for name, tc := range map[string]struct {
		ctx       context.Context
		err, want error
	}{
		"no error":            {ended, nil, nil},
		"the context ended":   {ended, other, cause},
		"the context goes on": {t.Context(), other, other},
	} {
		if got := httpclient.Because(tc.ctx, tc.err); !errors.Is(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
