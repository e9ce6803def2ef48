//go:build !race

package box_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/driftd/driftd/internal/box"
)

// TestEnds checks the error of a job that was ended, and that the next job has a new process.
func TestEnds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		job  string
		args any
		want error
	}{
		{"take", 2048, box.ErrMemory},
		{"recurse", "", box.ErrMemory},
		{"much", 300, box.ErrResult},
	} {
		l := box.Limits{}
		if tc.want == box.ErrResult { //nolint:errorlint // of the table
			l.Memory = 4 << 30
		}
		b := opened(t, l)
		if err := b.Do(t.Context(), fstest.MapFS{}, tc.job, tc.args, new(string)); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.job, err, tc.want)
		}
		if got, err := do(t, b, fstest.MapFS{}, "echo", "again"); got != "again" || err != nil {
			t.Errorf("after %s: %q, %v", tc.job, got, err)
		}
	}
}
