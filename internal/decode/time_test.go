package decode

import (
	"testing"
	"time"
)

func TestTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 5, 29, 18, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-11-20T05:29:18Z":      at,
		"2026-11-20T06:29:18+01:00": at,
		"2026-11-20T05:29:18":       at,
		"":                          {},
		"yesterday":                 {},
		"9999-12-31T23:59:59-23:00": {},
		"0001-01-01T00:00:00+23:00": {},
	} {
		if got := Time(text, time.RFC3339, "2006-01-02T15:04:05"); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
