package model_test

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestCompareBool(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b bool
		want int
	}{{false, false, 0}, {false, true, -1}, {true, false, 1}, {true, true, 0}} {
		if got := model.CompareBool(c.a, c.b); got != c.want {
			t.Errorf("CompareBool(%t, %t) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
