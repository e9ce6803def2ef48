package daemon

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestScansAreLogged checks that each scan is logged with what it read, also one that a trigger or an action begins.
func TestScansAreLogged(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3, nil)
	var log strings.Builder
	b.engine.log = slog.New(slog.NewTextHandler(&log, nil))
	b.cycle(t)
	b.source.values[1] = "2"
	if err := b.engine.Read(t.Context(), Due{Sources: []string{"live"}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`read="source live, declaration git" findings=0 in_sync=3`, `read="source live" findings=1 in_sync=2`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, log.String())
		}
	}
}

func TestDueNames(t *testing.T) {
	t.Parallel()
	many := Due{Watched: []model.Snapshot{{Source: "k8s"}}, Lost: []Loss{{Source: "pve"}}}
	for i := range 12 {
		many.Declarations = append(many.Declarations, fmt.Sprint("d", i))
	}
	for want, due := range map[string]Due{
		"nothing": {},
		"source k8s, source pve, declaration d0, declaration d1, declaration d2, declaration d3, declaration d4, declaration d5, declaration d6, " +
			"declaration d7, and 4 more": many,
	} {
		if got := due.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
