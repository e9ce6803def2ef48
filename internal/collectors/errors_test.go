package collectors_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
)

func TestEnded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"timeout of the source":                  {fmt.Errorf("list: %w", &collectors.ExpiredError{Of: "source a", After: time.Minute}), "timed out after 1m0s: raise timeout of the source"},
		"timeout of a request, for lack of time": {&httpclient.Timeout{After: time.Second, Look: true}, "timed out before the end of the scan: raise timeout of the source"},
		"timeout of a request":                   {&httpclient.Timeout{After: time.Second}, ""},
		"cancelled":                              {context.Canceled, "the scan ended before it was read"},
		"another deadline":                       {context.DeadlineExceeded, "the scan ended before it was read"},
		"another error":                          {errors.New("403"), ""},
		"none":                                   {nil, ""},
	} {
		if got := collectors.Ended(tc.err); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestVoid(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, end := context.WithTimeoutCause(t.Context(), 0, &collectors.ExpiredError{})
	defer end()
	for name, tc := range map[string]struct {
		ctx  context.Context
		read bool
		want bool
	}{
		"not ended":             {t.Context(), false, false},
		"cancelled":             {cancelled, true, true},
		"expired, nothing read": {late, false, true},
		"expired, a part read":  {late, true, false},
	} {
		if got := collectors.Void(tc.ctx, tc.read); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
