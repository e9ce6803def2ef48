package alertmanager

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/plain"
	"github.com/driftd/driftd/internal/phrase"
)

// Limits of an alert: the lengths of labels and annotations in characters, and the numbers of
// resource labels and fields.
const (
	maxLabel      = 200
	maxAnnotation = 1000
	maxLabels     = 30
	maxFields     = 3
)

// An alert is a postableAlert of the API.
type alert struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

// newAlert returns the alert of a finding.
func newAlert(f *model.Finding, url string, now, end time.Time) alert {
	t := plain.Text{Quote: plain.Unmention, URL: url}
	a := alert{
		Labels: labels(f), StartsAt: f.FirstSeen.UTC(), EndsAt: end, GeneratorURL: plain.Page(url, f),
		Annotations: bounded(map[string]string{
			"summary":     t.Summary(f),
			"description": strings.Join(t.Fields(f, len(f.Changes), maxFields), "\n"),
			"reason":      t.Reason(f),
			"who":         t.Actor(f),
			"since":       t.Seen(f),
			"next":        t.Next(f),
		}),
	}
	// An alert must not start after now: the time is zero if it is not stored, and in the future
	// if the clock was set back.
	if f.FirstSeen.IsZero() || a.StartsAt.After(now) {
		a.StartsAt = now
	}
	return a
}

// id returns a key of the labels, by which Alertmanager identifies an alert.
func (a *alert) id() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(a.Labels)) {
		b.WriteString(name + "\x00" + a.Labels[name] + "\x00")
	}
	return b.String()
}

// bounded removes empty texts and truncates long ones.
func bounded(texts map[string]string) map[string]string {
	for name, text := range texts {
		if runes := []rune(text); len(runes) > maxAnnotation {
			texts[name] = string(runes[:maxAnnotation-1]) + "…"
		} else if text == "" {
			delete(texts, name)
		}
	}
	return texts
}

// labels returns the labels of a finding's alert, which routes and silences match.
func labels(f *model.Finding) map[string]string {
	all := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(f.Labels)) {
		if label := "label_" + valid(name); i < maxLabels && all[label] == "" {
			all[label] = value(f.Labels[name])
		}
	}
	for name, text := range map[string]string{
		"alertname": "DriftdFinding", "finding": f.ID, "source": f.Source, "kind": f.Kind, "resource": f.Key.ID,
		"namespace": f.Place, "declaration": f.Declaration, "verdict": string(f.Verdict), "severity": string(f.Severity),
		"owner": f.Owner,
	} {
		all[name] = value(text)
	}
	maps.DeleteFunc(all, func(_, text string) bool { return text == "" })
	return all
}

// valid replaces all characters of a name that are not valid in the label names of all
// Alertmanager versions: [a-zA-Z_][a-zA-Z0-9_]*. The caller adds a prefix, so that the result may
// begin with a digit.
func valid(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), maxLabel)]
}

// value returns foreign data as the value of a label, cut at maxLabel characters.
func value(s string) string {
	if runes := []rune(phrase.Visible(s)); len(runes) > maxLabel {
		return string(runes[:maxLabel-1]) + "…"
	}
	return phrase.Visible(s)
}

// sorted returns alerts in the order of their ids.
func sorted(alerts map[string]alert) []alert {
	list := make([]alert, 0, len(alerts))
	for _, id := range slices.Sorted(maps.Keys(alerts)) {
		list = append(list, alerts[id])
	}
	return list
}

// ended returns the active alerts that are no longer open, with an end time.
func ended(active, open map[string]alert, now time.Time) []alert {
	over := maps.Clone(active)
	maps.DeleteFunc(over, func(id string, _ alert) bool { _, still := open[id]; return still })
	list := sorted(over)
	for i := range list {
		list[i].EndsAt = now
		list[i].StartsAt = slices.MinFunc([]time.Time{list[i].StartsAt, now}, time.Time.Compare)
	}
	return list
}

// reduced returns the alert without names and values from live systems.
func (a *alert) reduced() alert {
	short := *a
	short.Labels = maps.Clone(a.Labels)
	maps.DeleteFunc(short.Labels, func(name, _ string) bool { return !slices.Contains(ownLabels(), name) })
	short.Annotations = map[string]string{"summary": "Open finding, contents left out", "description": notify.ReducedNote}
	return short
}

// ownLabels returns the names of the labels without text from live systems.
func ownLabels() []string {
	return []string{"alertname", "finding", "source", "declaration", "verdict", "severity"}
}
