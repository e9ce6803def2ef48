package box

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/budget"
)

// TestResultMemory holds that many small values in a result count before they are made,
// and that nothing of them counts afterwards.
func TestResultMemory(t *testing.T) {
	t.Parallel()
	const n = 100_000
	many := []byte(`{"Objects":[` + strings.Repeat("{},", n) + `{}]}`)
	for _, tc := range []struct {
		reason string
		limit  int64
		times  int
		fits   bool
	}{
		{"more than the look may take", n * 48, 1, false},
		{"within the limit, again and again", n * 1024, 3, true},
	} {
		ctx := budget.NewTotal(1<<50).Scope(t.Context(), tc.limit)
		_, err := budget.Run(ctx, func(ctx context.Context) (r reply, err error) {
			for range tc.times {
				err = errors.Join(err, decodeCounted(ctx, many, &r))
			}
			return r, err
		})
		if _, exceeded := errors.AsType[*budget.Exceeded](err); exceeded == tc.fits {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}
}
