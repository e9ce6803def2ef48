package cli

import (
	"fmt"
	"slices"
	"testing"
)

// TestWatchScreen checks what watch shows on terminals of several sizes: never more lines than there are, and an error above
// what was read last.
func TestWatchScreen(t *testing.T) {
	t.Parallel()
	v := view{scan: "scanned 2 s ago", findings: 6}
	for i := range 7 {
		v.lines = append(v.lines, fmt.Sprint("line ", i))
	}
	failed := v
	failed.failed = "connection refused"
	for name, tc := range map[string]struct {
		view          view
		width, height int
		want          []string
	}{
		"enough":    {v, 80, 24, append([]string{"6 findings, scanned 2 s ago", ""}, v.lines...)},
		"too low":   {v, 80, 5, []string{"6 findings, scanned 2 s ago", "", "line 0", "line 1", "and 5 more lines"}},
		"exactly":   {v, 80, 9, append([]string{"6 findings, scanned 2 s ago", ""}, v.lines...)},
		"narrow":    {view{scan: "scanned 2 s ago"}, 11, 24, []string{"0 findings", ""}},
		"not again": {failed, 80, 4, []string{"not current: connection refused", "", "line 0", "and 6 more lines"}},
	} {
		if got := tc.view.screen(tc.width, tc.height); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
