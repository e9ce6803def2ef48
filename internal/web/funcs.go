package web

import (
	"html/template"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// functions are what templates call.
func functions(a *assets) template.FuncMap {
	return template.FuncMap{
		"asset":    a.path,
		"count":    phrase.Count,
		"number":   phrase.Number,
		"visible":  phrase.Visible,
		"clip":     func(limit int, text string) string { return phrase.Line(text, limit) },
		"kind":     phrase.Kind,
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
		"say":      func(asOf time.Time, p phrase.Phrase) saying { return saying{asOf, p} },
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

// A saying is a phrase, and the moment from which its times count.
type saying struct {
	AsOf   time.Time
	Phrase phrase.Phrase
}

// A momentView is a moment as a page shows it.
type momentView struct {
	At   time.Time
	Text string
	// Counts tells that the text says how long ago it was, and counts on.
	Counts bool
}

// newMoment says how long ago a moment was; one to come as a time.
func newMoment(asOf, t time.Time) momentView {
	if age := asOf.Sub(t); age > -time.Minute {
		return momentView{t, phrase.Ago(age), true}
	}
	return momentView{t, t.UTC().Format("2 Jan 2006 15:04 UTC"), false}
}

// spanMoment says the moment of a span as the span does: how long ago it was, or
// the time; one to come in the words of pages.
func spanMoment(asOf time.Time, s phrase.Span) momentView {
	if strings.HasSuffix(s.Text, " ago") || s.Text == "just now" || s.At.After(asOf) {
		return newMoment(asOf, s.At)
	}
	return momentView{s.At, s.Text, false}
}

// length says how long something is, roughly: "10 minutes".
func length(d time.Duration) string { return strings.TrimSuffix(phrase.Ago(d), " ago") }

// severityClass is the class of a severity's color: one of ours.
func severityClass(s model.Severity) string {
	if s.Rank() < len(model.Severities()) {
		return strings.ToLower(string(s))
	}
	return string(model.Info)
}

// dict makes what a template passes on to another of names and values.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if name, ok := pairs[i].(string); ok {
			m[name] = pairs[i+1]
		}
	}
	return m
}
