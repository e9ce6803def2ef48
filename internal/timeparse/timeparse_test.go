package timeparse_test

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/timeparse"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		text   string
		want   time.Duration
		fails  bool
	}{
		"go":         {reason: "Go's own notation is read", text: "1h30m", want: 90 * time.Minute},
		"zero":       {reason: "Go reads a bare zero", text: "0", want: 0},
		"days":       {reason: "retention is said in days", text: "90d", want: 90 * timeparse.Day},
		"weeks":      {reason: "weeks come before days", text: "1w2d", want: 9 * timeparse.Day},
		"mixed":      {reason: "hours may follow days", text: "1d12h", want: 36 * time.Hour},
		"negative":   {reason: "the caller says whether it may be", text: "-1d1h", want: -25 * time.Hour},
		"empty":      {reason: "nothing is no duration", text: "", fails: true},
		"minus":      {reason: "a sign alone is none", text: "-", fails: true},
		"no unit":    {reason: "seconds or minutes? say which", text: "10", fails: true},
		"words":      {reason: "sentences are not read", text: "10 minutes", fails: true},
		"two signs":  {reason: "one sign is enough", text: "--1h", fails: true},
		"inner sign": {reason: "a sign stands in front", text: "1d-1h", fails: true},
		"plus":       {reason: "a sign stands in front", text: "1d+1h", fails: true},
		"no digits":  {reason: "a unit needs a number", text: "d", fails: true},
		"order":      {reason: "days do not follow hours", text: "1h1d", fails: true},
		"long":       {reason: "a century bounds it", text: "36501d", fails: true},
		"overflow":   {reason: "a sum does not wrap around", text: "5000w36000d", fails: true},
		"long tail":  {reason: "a sum does not wrap around", text: "36000d2000000h", fails: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := timeparse.ParseDuration(tt.text)
			if (err != nil) != tt.fails || got != tt.want {
				t.Errorf("%s: ParseDuration(%q) = %v, %v; want %v, error %v", tt.reason, tt.text, got, err, tt.want, tt.fails)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		reason string
		text   string
		want   time.Time
		fails  bool
	}{
		"now":      {reason: "the present has a name", text: "now", want: now},
		"ago":      {reason: "people write ago", text: "2h ago", want: now.Add(-2 * time.Hour)},
		"back":     {reason: "a bare duration counts back", text: "7d", want: now.Add(-7 * timeparse.Day)},
		"date":     {reason: "a date is its beginning", text: "2026-05-01", want: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)},
		"rfc 3339": {reason: "programs write RFC 3339", text: "2026-05-01T10:00:00+02:00", want: time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)},
		"future":   {reason: "nothing is known of the future", text: "-2h", fails: true},
		"empty":    {reason: "an empty text is no time", text: "", fails: true},
		"word":     {reason: "yesterday is whose yesterday?", text: "yesterday", fails: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := timeparse.Parse(tt.text, now)
			if (err != nil) != tt.fails || !got.Equal(tt.want) {
				t.Errorf("%s: Parse(%q) = %v, %v; want %v, error %v", tt.reason, tt.text, got, err, tt.want, tt.fails)
			}
		})
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"90d", "1w2d3h", "-5m", "9223372036854775807ns", "65535w"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := timeparse.ParseDuration(text)
		if err == nil && (d > timeparse.Longest || d < -timeparse.Longest) {
			t.Errorf("ParseDuration(%q) = %v, beyond the bound", text, d)
		}
	})
}
