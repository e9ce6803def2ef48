package web

import (
	"html/template"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// functions returns the template functions.
func functions(a *assets) template.FuncMap {
	return template.FuncMap{
		"asset":    a.path,
		"count":    phrase.Count,
		"number":   phrase.Number,
		"visible":  phrase.Visible,
		"clip":     func(limit int, text string) string { return phrase.Line(text, limit) },
		"kind":     phrase.Kind,
		"titled":   phrase.Titled,
		"class":    severityClass,
		"stamp":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"short":    func(t time.Time) string { return t.UTC().Format("2 Jan 15:04 UTC") },
		"clock":    func(t time.Time) string { return t.UTC().Format("15:04:05") },
		"date":     func(t time.Time) string { return t.UTC().Format("Monday, 2 January 2006") },
		"day":      func(t time.Time) string { return t.UTC().Format(time.DateOnly) },
		"moment":   newMoment,
		"span":     spanMoment,
		"length":   length,
		"within":   func(asOf, t time.Time) string { return length(max(asOf.Sub(t), time.Second)) },
		"say":      func(asOf time.Time, p phrase.Phrase) phraseAt { return phraseAt{asOf, p} },
		"dict":     dict,
		"minus":    func(a, b int) int { return a - b },
		"severity": func(name string) model.Severity { return model.Severity(name) },
		"columns": func(running bool) int {
			if running {
				return 4
			}
			return 3
		},
		"first": func(all []phrase.Field) []phrase.Field { return all[:min(len(all), 1)] },
		"revision": func(text string) string {
			if len(text) >= 40 && strings.Trim(text, "0123456789abcdef") == "" {
				return text[:10]
			}
			return phrase.Line(text, 40)
		},
		"mib": func(bytes int64) string { return phrase.Number(int((bytes+1<<20-1)>>20)) + " MiB" },
	}
}

// A phraseAt is a phrase and the time from which its relative times count.
type phraseAt struct {
	AsOf   time.Time
	Phrase phrase.Phrase
}

// A momentView is a time as shown on a page.
type momentView struct {
	At   time.Time
	Text string
	// Counts reports that the text is an age, which the page keeps current.
	Counts bool
}

// newMoment returns a past time as an age, and a future time as a date.
func newMoment(asOf, t time.Time) momentView {
	if age := asOf.Sub(t); age > -time.Minute {
		return momentView{t, phrase.Ago(age), true}
	}
	return momentView{t, t.UTC().Format("2 Jan 2006 15:04 UTC"), false}
}

// spanMoment returns a span's time in the span's form: as an age or as a date. Future times are
// formatted as on other pages.
func spanMoment(asOf time.Time, s phrase.Span) momentView {
	if strings.HasSuffix(s.Text, " ago") || s.Text == "just now" || s.At.After(asOf) {
		return newMoment(asOf, s.At)
	}
	return momentView{s.At, s.Text, false}
}

// length returns an approximate duration: "10 minutes".
func length(d time.Duration) string { return strings.TrimSuffix(phrase.Ago(d), " ago") }

// severityClass returns the CSS class of a severity's color.
func severityClass(s model.Severity) string {
	if s.Rank() < len(model.Severities()) {
		return strings.ToLower(string(s))
	}
	return string(model.Info)
}

// dict returns a map of names and values, for passing to another template.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if name, ok := pairs[i].(string); ok {
			m[name] = pairs[i+1]
		}
	}
	return m
}
