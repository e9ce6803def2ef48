package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/hours"
	"github.com/driftd/driftd/internal/reconcile"
)

// TestWindowFreezes checks that a freeze of the configuration holds in its time zone and for its sources, that its end
// is named, and that a thaw does not end it.
func TestWindowFreezes(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	window := func(from, to int, sources ...string) reconcile.Window {
		return reconcile.Window{Name: "reconcile.freezes[0]", Sources: sources, Location: berlin, Reason: "office hours",
			Window: hours.Window{From: time.Duration(from) * time.Hour, To: time.Duration(to) * time.Hour, Days: []time.Weekday{time.Wednesday}}}
	}
	for name, c := range map[string]struct {
		window reconcile.Window
		want   string
	}{
		"it holds":              {window(13, 17), "actions are frozen until 2026-11-25 16:00 UTC by reconcile.freezes[0] of the configuration: office hours"},
		"it begins later there": {window(14, 17), ""},
		"it ended there":        {window(12, 13), ""},
		"of the source":         {window(13, 17, "lab", "prod"), "actions are frozen"},
		"of another source":     {window(13, 17, "lab"), ""},
	} {
		s := situation() // Wednesday, 13:00 in Berlin
		s.Windows = []reconcile.Window{c.window}
		s.Controls = []reconcile.Control{{Kind: reconcile.Thaw}}
		refusal := reconcile.Check(s)
		if c.want == "" && refusal != nil || c.want != "" && (refusal == nil || refusal.Guard != "frozen" || !strings.Contains(refusal.Why, c.want)) {
			t.Errorf("%s: got %v, want %q", name, refusal, c.want)
		}
	}
	b := newBench(t)
	b.Windows = []reconcile.Window{window(13, 17, "prod", "lab")}
	if o, err := b.Overview(); err != nil || len(o.Freezes) != 2 || o.Freezes[1].Source != "lab" || o.Freezes[0].Until.Hour() != 16 {
		t.Errorf("got %+v, %v", o.Freezes, err)
	}
}
