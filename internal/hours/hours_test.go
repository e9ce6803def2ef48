package hours_test

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/hours"
)

func TestWindow(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const night, day, whole = 22 * time.Hour, 8 * time.Hour, 24 * time.Hour
	at := func(text string) time.Time {
		moment, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return moment
	}
	weekend := []time.Weekday{time.Saturday, time.Sunday}
	for name, c := range map[string]struct {
		window hours.Window
		at     string
		end    string // "" if it is not open
	}{
		"zero":                    {hours.Window{}, "2026-03-04 12:00", ""},
		"before":                  {hours.Window{From: day, To: night}, "2026-03-04 07:59", ""},
		"first minute":            {hours.Window{From: day, To: night}, "2026-03-04 08:00", "2026-03-04 22:00"},
		"after":                   {hours.Window{From: day, To: night}, "2026-03-04 22:00", ""},
		"before midnight":         {hours.Window{From: night, To: day}, "2026-03-04 23:00", "2026-03-05 08:00"},
		"after midnight":          {hours.Window{From: night, To: day}, "2026-03-04 01:00", "2026-03-04 08:00"},
		"of the day before":       {hours.Window{From: night, To: day, Days: weekend}, "2026-03-09 01:00", "2026-03-09 08:00"},
		"not begun on a day":      {hours.Window{From: night, To: day, Days: weekend}, "2026-03-07 01:00", ""},
		"whole days are one":      {hours.Window{To: whole, Days: weekend}, "2026-03-07 01:00", "2026-03-09 00:00"},
		"not on another day":      {hours.Window{To: whole, Days: weekend}, "2026-03-09 00:00", ""},
		"the last minute":         {hours.Window{To: whole, Days: weekend}, "2026-03-08 23:59", "2026-03-09 00:00"},
		"a week is bounded":       {hours.Window{To: whole}, "2026-03-04 12:00", "2026-03-12 00:00"},
		"over the summer time":    {hours.Window{From: night, To: day}, "2026-03-28 23:00", "2026-03-29 08:00"},
		"its end is skipped":      {hours.Window{From: night, To: 2*time.Hour + 30*time.Minute}, "2026-03-28 23:00", "2026-03-29 03:30"},
		"over the end of summer":  {hours.Window{From: night, To: day}, "2026-10-24 23:00", "2026-10-25 08:00"},
		"adjacent parts of a day": {hours.Window{From: day, To: day - time.Hour, Days: weekend}, "2026-03-07 09:00", "2026-03-08 07:00"},
	} {
		want := time.Time{}
		if c.end != "" {
			want = at(c.end)
		}
		if got := c.window.End(at(c.at)); !got.Equal(want) {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		if got := c.window.Contains(at(c.at)); got != (c.end != "") {
			t.Errorf("%s: open: %t", name, got)
		}
	}
}
