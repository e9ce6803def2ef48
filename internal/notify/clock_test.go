package notify

import (
	"fmt"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

const oneDay = 24 * time.Hour

// A dstChange is a day on which a time zone changes to or from summer time. Europe/Berlin
// skips or repeats the hour after 02:00, America/New_York the hour after 02:00 or 01:00,
// and Australia/Lord_Howe half an hour.
type dstChange struct {
	zone             string
	year, month, day int
}

func dstChanges() []dstChange {
	return []dstChange{
		{"Europe/Berlin", 2026, 3, 29}, {"Europe/Berlin", 2026, 10, 25},
		{"America/New_York", 2026, 3, 8}, {"America/New_York", 2026, 11, 1},
		{"Australia/Lord_Howe", 2026, 4, 5}, {"Australia/Lord_Howe", 2026, 10, 4},
		{"Africa/Cairo", 2026, 4, 24}, {"Africa/Cairo", 2026, 10, 30}, // at midnight
	}
}

// around returns the location of the time zone, and noon two days before its clocks
// change.
func (c dstChange) around(t *testing.T) (*time.Location, time.Time) {
	t.Helper()
	location, err := time.LoadLocation(c.zone)
	if err != nil {
		t.Fatal(err)
	}
	return location, time.Date(c.year, time.Month(c.month), c.day-2, 12, 0, 0, 0, location)
}

func (c dstChange) String() string {
	return fmt.Sprintf("%s %d-%02d-%02d", c.zone, c.year, c.month, c.day)
}

// TestDigestOverSummerTime checks that there is one digest for each day on which the
// clocks change.
func TestDigestOverSummerTime(t *testing.T) {
	t.Parallel()
	for _, change := range dstChanges() {
		for _, at := range []time.Duration{0, 30 * time.Minute, time.Hour + 45*time.Minute, 2 * time.Hour, 2*time.Hour + 15*time.Minute, 3 * time.Hour, 9 * time.Hour, 23*time.Hour + 59*time.Minute} {
			t.Run(fmt.Sprint(change, " ", at), func(t *testing.T) {
				t.Parallel()
				location, begin := change.around(t)
				p := Pacing{Digest: at, Location: location}
				digests, last := 0, time.Time{}
				for now := begin; now.Before(begin.Add(4 * oneDay)); now = now.Add(time.Minute) {
					due := p.dueDigest(now)
					if due.After(now) || now.Sub(due) > 26*time.Hour {
						t.Fatalf("at %s: the last digest was due at %s", now, due)
					}
					if !last.IsZero() && due.Before(last) {
						t.Fatalf("at %s: the last digest was due at %s, a minute before at %s", now, due, last)
					}
					if !last.IsZero() && due.After(last) {
						digests++
					}
					last = due
				}
				if digests != 4 {
					t.Errorf("got %d digests in four days, want 4", digests)
				}
			})
		}
	}
}

// TestQuietHoursOverSummerTime checks that quiet hours follow the local time of day, and
// that there is one uninterrupted period each night.
func TestQuietHoursOverSummerTime(t *testing.T) {
	t.Parallel()
	for _, change := range dstChanges() {
		t.Run(change.String(), func(t *testing.T) {
			t.Parallel()
			location, begin := change.around(t)
			q := QuietHours{From: 22 * time.Hour, To: 6 * time.Hour}
			nights, was := 0, false
			for now := begin; now.Before(begin.Add(4 * oneDay)); now = now.Add(time.Minute) {
				is := q.contains(now)
				if hour := now.In(location).Hour(); is != (hour >= 22 || hour < 6) {
					t.Fatalf("at %s: contains() = %t", now, is)
				}
				if is && !was {
					nights++
				}
				was = is
			}
			if nights != 4 {
				t.Errorf("got %d periods of quiet hours in four nights, want 4", nights)
			}
		})
	}
}

// A clockJump is a sudden change of the system clock.
type clockJump struct {
	reason string
	by     time.Duration
	// back is set if the clock is corrected after an hour.
	back bool
}

func clockJumps() map[string]clockJump {
	const year = 365 * oneDay
	return map[string]clockJump{
		"a day ahead":           {"the digest of the day was sent while the clock was ahead", oneDay, false},
		"a day ahead and back":  {"a digest is not sent again", oneDay, true},
		"a day back":            {"the digest of today is not sent again", -oneDay, false},
		"a day back and ahead":  {"the digest of today is not sent again", -oneDay, true},
		"a year ahead and back": {"digests do not wait until the clock shows the later time again", 365 * oneDay, true},
		"a year back":           {"digests continue by the new time", -year, false},
		"a year back and ahead": {"digests continue", -year, true},
	}
}

// TestDigestWhenTheClockJumps checks that no date has two digests, that at most one date
// has none, and that digests continue after the jump.
func TestDigestWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for name, jump := range clockJumps() {
		for _, hour := range []int{1, 8, 9, 10, 23} {
			t.Run(fmt.Sprintf("%s at %d", name, hour), func(t *testing.T) {
				t.Parallel()
				d := newFixture()
				d.policy.Receivers["ops"] = Pacing{Digest: 9 * time.Hour}
				d.policy.Routes[0].Repeat = 0
				d.now = time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
				d.setOpen(finding("a"))
				dues, after := map[string]int{}, 0
				run := func(minutes int) {
					for range minutes / 10 {
						d.messages = nil
						d.plan()
						for _, m := range d.messages {
							if m.Kind == model.DigestMessage {
								p := d.policy.Receivers["ops"]
								dues[p.dueDigest(d.now).Format(time.DateOnly)]++
								after++
							}
						}
						d.advance(10 * time.Minute)
					}
				}
				run(2*24*60 + (hour-9)*60)
				d.advance(jump.by)
				run(60)
				if jump.back {
					d.advance(-jump.by)
				}
				after = 0
				run(5 * 24 * 60)
				if after < 4 || after > 6 {
					t.Errorf("got %d digests in the five days after the jump: %s", after, jump.reason)
				}
				for date, n := range dues {
					if n > 1 {
						t.Errorf("%d digests of %s: %s", n, date, jump.reason)
					}
				}
			})
		}
	}
}

// TestMessagesContinueWhenTheClockJumps checks that a message about a new finding is sent
// immediately after a clock jump, and that reminders are sent on time.
func TestMessagesContinueWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for name, jump := range clockJumps() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture()
			d.policy.Receivers["ops"] = Pacing{Messages: 3, Per: time.Hour, Digest: -1, Quiet: QuietHours{From: 22 * time.Hour, To: 6 * time.Hour}}
			d.now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
			d.setOpen(finding("a")).plan()
			d.advance(jump.by).setOpen(finding("b"))
			if got := d.plan(); len(got) == 0 {
				t.Error("no message about a new finding while the clock is wrong")
			}
			d.advance(time.Hour)
			if jump.back {
				d.advance(-jump.by)
			}
			d.setOpen(finding("c"))
			if got := d.plan(); len(got) == 0 {
				t.Error("no message about a new finding after the jump")
			}
			d.messages = nil
			for range 2 * 24 {
				d.advance(time.Hour).plan()
			}
			if len(d.messages) < 3 || len(d.messages) > 6 {
				t.Errorf("got %d reminders for three threads in two days, want one a day for each", len(d.messages))
			}
		})
	}
}
