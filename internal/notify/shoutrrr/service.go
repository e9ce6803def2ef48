package shoutrrr

import (
	"mime"
	"net/url"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify/plain"
)

// An errand is the request to the process that sends a message.
type errand struct {
	Address string            `json:"address"`
	Text    string            `json:"text"`
	Params  map[string]string `json:"params"`
}

// A service describes the format of messages for a service.
type service struct {
	// limit is the maximum size of the text in bytes, and title the maximum length of a separate
	// title in characters, 0 if the service has none.
	limit, title int
	// quote escapes data of other systems. header encodes the title; nil leaves it.
	quote, header func(string) string
	// params returns the parameters of a message, which override those of the address. ok is
	// false if the message must not be sent.
	params func(*model.Message) (params map[string]string, ok bool)
	// updates is set if a later message updates the thread's entry without a notification. Then
	// quiet messages are sent too.
	updates bool
}

func same(s string) string { return s }

// fixed returns constant params from pairs of key and value.
func fixed(pairs ...string) func(*model.Message) (map[string]string, bool) {
	return func(*model.Message) (map[string]string, bool) {
		params := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			params[pairs[i]] = pairs[i+1]
		}
		return params, true
	}
}

const usualLimit = 4000

// serviceOf returns the format of a service. Unlisted services get plain text that begins with the
// title.
func serviceOf(name string) service {
	usual := service{limit: usualLimit, quote: plain.Unmention, params: fixed()}
	titled := usual
	titled.title = 200
	s, ok := map[string]service{
		"smtp": {limit: usualLimit, title: 200, quote: same, header: mailHeader, params: fixed("usehtml", "no")},
		// With a title, Discord shows an embed, in which mentions do not notify.
		"discord":    {limit: usualLimit, title: 200, quote: plain.Unmark, params: fixed("splitLines", "no", "json", "no")},
		"teams":      {limit: usualLimit, title: 200, quote: plain.Unmark, params: fixed()},
		"telegram":   {limit: 4096, quote: plain.Unmention, params: fixed("parsemode", "none", "preview", "no", "title", "")},
		"pagerduty":  {limit: 1024, quote: same, params: incident, updates: true},
		"opsgenie":   {limit: usualLimit, title: 130, quote: same, params: alert},
		"mattermost": {limit: usualLimit, quote: plain.Unmark, params: fixed()},
		"zulip":      {limit: usualLimit, quote: plain.Unmark, params: fixed()},
		"wecom":      {limit: 2048, quote: plain.Unmention, params: fixed()},
		"pushover":   {limit: 1024, title: 200, quote: plain.Unmention, params: fixed()},
		"join":       {limit: 1000, title: 100, quote: same, params: fixed()},
		"bark":       titled,
		"generic":    titled,
		"gotify":     titled,
		"ntfy":       titled,
		"pushbullet": titled,
	}[name]
	if !ok {
		return usual
	}
	return s
}

// errand returns the request for a message; ok is false if nothing must be sent.
func (s service) errand(m *model.Message) (e errand, ok bool) {
	e.Params, ok = s.params(m)
	ok = ok && (s.updates || !m.Quiet)
	t := plain.Text{Quote: s.quote, URL: m.URL}
	title := t.Line(m.Title, maxTitle)
	if s.title == 0 {
		e.Text = text(m, t, title, s.limit)
		return e, ok
	}
	e.Params["title"] = t.Line(m.Title, s.title)
	if s.header != nil {
		e.Params["title"] = s.header(e.Params["title"])
	}
	if e.Text = text(m, t, "", s.limit); e.Text == "" {
		e.Text = title
	}
	return e, ok
}

// over reports whether the thread has no open findings.
func over(m *model.Message) bool {
	return m.OpenCount == 0 && m.Kind != model.TestMessage && m.Kind != model.DigestMessage
}

// thread returns the key that the messages of one incident share.
func thread(m *model.Message) string {
	if m.Thread == "" {
		return m.Key
	}
	return m.Thread
}

// incident returns the params of PagerDuty, which has one incident per thread and resolves it.
func incident(m *model.Message) (map[string]string, bool) {
	severities := map[model.Severity]string{model.Critical: "critical", model.High: "error", model.Medium: "warning"}
	params := map[string]string{"action": "trigger", "dedup_key": "driftd-" + thread(m), "severity": "info", "source": "driftd", "client": "driftd"}
	if severity, ok := severities[m.Severity]; ok {
		params["severity"] = severity
	}
	if over(m) {
		params["action"] = "resolve"
	}
	if u, err := url.Parse(m.URL); err == nil && u.Host != "" {
		params["client_url"] = m.URL
	}
	return params, true
}

// alert returns the params of Opsgenie, which has one alert per thread. The library cannot close
// it, and a message about a resolved thread must not open one.
func alert(m *model.Message) (map[string]string, bool) {
	priorities := map[model.Severity]string{model.Critical: "P1", model.High: "P2", model.Medium: "P3", model.Low: "P4"}
	params := map[string]string{"alias": "driftd-" + thread(m), "priority": "P5", "source": "driftd"}
	if priority, ok := priorities[m.Severity]; ok {
		params["priority"] = priority
	}
	return params, !over(m)
}

// mailHeader encodes a line for a mail header (RFC 2047), folded.
func mailHeader(line string) string { return mime.QEncoding.Encode("utf-8", line) }
