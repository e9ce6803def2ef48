package notify

import (
	"fmt"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestEachFindingHasItsOwnMessages verifies that no finding is left out for a receiver that records each: neither in a group, nor
// beyond the rate limit, nor at the end of quiet hours.
func TestEachFindingHasItsOwnMessages(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		pacing Pacing
	}{
		"plain": {"they have one cause", Pacing{}},
		"rate":  {"a limit combines others", Pacing{Messages: 20, Per: 10 * time.Minute}},
		"quiet": {"quiet hours combine others", Pacing{Quiet: QuietHours{From: 7 * time.Hour, To: 9 * time.Hour}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture()
			tc.pacing.Digest, tc.pacing.Each = -1, true
			d.policy.Receivers["ops"] = tc.pacing
			const many = 70
			for i := range many {
				d.setOpen(finding(fmt.Sprintf("f%02d", i)))
			}
			told := map[string]int{}
			for range 12 {
				before := len(d.messages)
				d.plan()
				for _, m := range d.messages[before:] {
					if len(m.News) != 1 || m.NewsCount != 1 {
						t.Fatalf("%s: a message has %d findings", tc.reason, m.NewsCount)
					}
					told[m.News[0].Finding.ID]++
				}
				d.now = d.now.Add(11 * time.Minute)
			}
			if len(told) != many {
				t.Errorf("%s: %d findings are in messages, want %d", tc.reason, len(told), many)
			}
			for id, n := range told {
				if n != 1 {
					t.Errorf("%s: %d messages about %s", tc.reason, n, id)
				}
			}
		})
	}
}

// TestConcerns verifies that a receiver gets no messages about findings that do not concern it, also when they end.
func TestConcerns(t *testing.T) {
	t.Parallel()
	d := newFixture()
	d.policy.Receivers["ops"] = Pacing{Digest: -1, Each: true, Concerns: func(f *model.Finding) bool { return f.ID == "a" }}
	d.setOpen(finding("a"), finding("b"))
	d.plan()
	d.resolve("a", "b")
	d.plan()
	if len(d.messages) != 2 {
		t.Fatalf("%d messages, want 2", len(d.messages))
	}
	for i, want := range []model.News{model.Appeared, model.Over} {
		if it := d.messages[i].News[0]; it.Finding.ID != "a" || it.News != want {
			t.Errorf("message %d is about %s: %s", i, it.Finding.ID, it.News)
		}
	}
}
