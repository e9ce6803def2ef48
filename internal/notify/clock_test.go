package notify

import (
	"fmt"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

const oneDay = 24 * time.Hour

// changeOfClocks is a day on which a zone changes to or from summer time: Europe/Berlin
// and America/New_York skip or repeat the hour from two or one, Australia/Lord_Howe half
// an hour.
type changeOfClocks struct {
	zone             string
	year, month, day int
}

func changesOfClocks() []changeOfClocks {
	return []changeOfClocks{
		{"Europe/Berlin", 2026, 3, 29}, {"Europe/Berlin", 2026, 10, 25},
		{"America/New_York", 2026, 3, 8}, {"America/New_York", 2026, 11, 1},
		{"Australia/Lord_Howe", 2026, 4, 5}, {"Australia/Lord_Howe", 2026, 10, 4},
		{"Africa/Cairo", 2026, 4, 24}, {"Africa/Cairo", 2026, 10, 30}, // at midnight
	}
}

// around returns a place and the noon two days before its clocks change.
func (c changeOfClocks) around(t *testing.T) (*time.Location, time.Time) {
	t.Helper()
	place, err := time.LoadLocation(c.zone)
	if err != nil {
		t.Fatal(err)
	}
	return place, time.Date(c.year, time.Month(c.month), c.day-2, 12, 0, 0, 0, place)
}

func (c changeOfClocks) String() string {
	return fmt.Sprintf("%s %d-%02d-%02d", c.zone, c.year, c.month, c.day)
}

// TestDigestOverSummerTime holds that a digest comes once for each day, whatever the
// clocks do on it.
func TestDigestOverSummerTime(t *testing.T) {
	t.Parallel()
	for _, change := range changesOfClocks() {
		for _, at := range []time.Duration{0, 30 * time.Minute, time.Hour + 45*time.Minute, 2 * time.Hour, 2*time.Hour + 15*time.Minute, 3 * time.Hour, 9 * time.Hour, 23*time.Hour + 59*time.Minute} {
			t.Run(fmt.Sprint(change, " ", at), func(t *testing.T) {
				t.Parallel()
				place, begin := change.around(t)
				p := Pacing{Digest: at, Location: place}
				told, last := 0, time.Time{}
				for now := begin; now.Before(begin.Add(4 * oneDay)); now = now.Add(time.Minute) {
					due := p.dueDigest(now)
					if due.After(now) || now.Sub(due) > 26*time.Hour {
						t.Fatalf("at %s the last one was due at %s", now, due)
					}
					if !last.IsZero() && due.Before(last) {
						t.Fatalf("at %s the last one was due at %s, before it at %s", now, due, last)
					}
					if !last.IsZero() && due.After(last) {
						told++
					}
					last = due
				}
				if told != 4 {
					t.Errorf("told %d times in four days", told)
				}
			})
		}
	}
}

// TestQuietHoursOverSummerTime holds that it is quiet when the clock on the wall shows
// it, once each night, with no break.
func TestQuietHoursOverSummerTime(t *testing.T) {
	t.Parallel()
	for _, change := range changesOfClocks() {
		t.Run(change.String(), func(t *testing.T) {
			t.Parallel()
			place, begin := change.around(t)
			q := QuietHours{From: 22 * time.Hour, To: 6 * time.Hour}
			nights, was := 0, false
			for now := begin; now.Before(begin.Add(4 * oneDay)); now = now.Add(time.Minute) {
				is := q.hold(now)
				if hour := now.In(place).Hour(); is != (hour >= 22 || hour < 6) {
					t.Fatalf("at %s it is quiet: %t", now, is)
				}
				if is && !was {
					nights++
				}
				was = is
			}
			if nights != 4 {
				t.Errorf("it was quiet %d times in four nights", nights)
			}
		})
	}
}

// A jumpOf is what happens to a clock for an hour, at a time of day.
type jumpOf struct {
	reason string
	by     time.Duration
	// back reports whether the clock is right again after an hour.
	back bool
}

func jumpsOf() map[string]jumpOf {
	const year = 365 * oneDay
	return map[string]jumpOf{
		"a day ahead":           {"the day was told when the clock was ahead", oneDay, false},
		"a day ahead and back":  {"the day that was told is not told again", oneDay, true},
		"a day back":            {"what was told of today is not told again", -oneDay, false},
		"a day back and ahead":  {"what was told of today is not told again", -oneDay, true},
		"a year ahead and back": {"it is not silent until the clock comes there again", 365 * oneDay, true},
		"a year back":           {"it goes on by the new time", -year, false},
		"a year back and ahead": {"it goes on", -year, true},
	}
}

// TestDigestWhenTheClockJumps holds that no day is told twice by its date, that at most
// one date is left out, and that digests go on.
func TestDigestWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for name, jump := range jumpsOf() {
		for _, hour := range []int{1, 8, 9, 10, 23} {
			t.Run(fmt.Sprintf("%s at %d", name, hour), func(t *testing.T) {
				t.Parallel()
				d := newDesk()
				d.policy.Receivers["ops"] = Pacing{Digest: 9 * time.Hour}
				d.policy.Routes[0].Repeat = 0
				d.now = time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
				d.show(finding("a"))
				dues, after := map[string]int{}, 0
				live := func(minutes int) {
					for range minutes / 10 {
						d.messages = nil
						d.tell()
						for _, m := range d.messages {
							if m.Kind == model.DigestMessage {
								p := d.policy.Receivers["ops"]
								dues[p.dueDigest(d.now).Format(time.DateOnly)]++
								after++
							}
						}
						d.later(10 * time.Minute)
					}
				}
				live(2*24*60 + (hour-9)*60)
				d.later(jump.by)
				live(60)
				if jump.back {
					d.later(-jump.by)
				}
				after = 0
				live(5 * 24 * 60)
				if after < 4 || after > 6 {
					t.Errorf("%d digests in the five days after it: %s", after, jump.reason)
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

// TestNobodyIsSilentWhenTheClockJumps holds that new drift is told at once, and repeated
// on time, whatever was told before a clock jumped.
func TestNobodyIsSilentWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for name, jump := range jumpsOf() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk()
			d.policy.Receivers["ops"] = Pacing{Messages: 3, Per: time.Hour, Digest: -1, Quiet: QuietHours{From: 22 * time.Hour, To: 6 * time.Hour}}
			d.now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
			d.show(finding("a")).tell()
			d.later(jump.by).show(finding("b"))
			if said := d.tell(); len(said) == 0 {
				t.Error("what is new is not told at the wrong time")
			}
			d.later(time.Hour)
			if jump.back {
				d.later(-jump.by)
			}
			d.show(finding("c"))
			if said := d.tell(); len(said) == 0 {
				t.Error("what is new is not told afterwards")
			}
			d.messages = nil
			for range 2 * 24 {
				d.later(time.Hour).tell()
			}
			if len(d.messages) < 3 || len(d.messages) > 6 {
				t.Errorf("%d reminders of three threads in two days, which are due once a day", len(d.messages))
			}
		})
	}
}
