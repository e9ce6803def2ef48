package shoutrrr

import (
	"mime"
	"net/url"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify/plain"
)

// A sendRequest is the input of the process that sends a message.
type sendRequest struct {
	Address string            `json:"address"`
	Text    string            `json:"text"`
	Params  map[string]string `json:"params"`
}

// A service describes the format of messages for a service.
type service struct {
	// limit is the maximum size of the text in bytes. title is the maximum length of a separate
	// title in characters. It is 0 if the service has no separate title.
	limit, title int
	// quote escapes data of other systems. header encodes the title. It may be nil.
	quote, header func(string) string
	// params returns the parameters of a message, which override those of the address. ok is
	// false if the message must not be sent.
	params func(*model.Message) (params map[string]string, ok bool)
	// updates is set if a later message updates the thread's entry without a notification. Then
	// quiet messages are sent too.
	updates bool
}

// identity returns s.
func identity(s string) string { return s }

// fixed returns a params function with constant parameters, given as pairs of key and value.
func fixed(pairs ...string) func(*model.Message) (map[string]string, bool) {
	return func(*model.Message) (map[string]string, bool) {
		params := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			params[pairs[i]] = pairs[i+1]
		}
		return params, true
	}
}

// defaultLimit is the maximum size of a text in bytes, for services without a lower limit.
const defaultLimit = 4000

// serviceOf returns the format of a service. Unlisted services get plain text that begins with the
// title.
func serviceOf(name string) service {
	unformatted := service{limit: defaultLimit, quote: plain.Unmention, params: fixed()}
	titled := unformatted
	titled.title = 200
	s, ok := map[string]service{
		"smtp": {limit: defaultLimit, title: 200, quote: identity, header: mailHeader, params: fixed("usehtml", "no")},
		// With a title, Discord shows an embed, in which mentions do not notify.
		"discord":    {limit: defaultLimit, title: 200, quote: plain.Unmark, params: fixed("splitLines", "no", "json", "no")},
		"teams":      {limit: defaultLimit, title: 200, quote: plain.Unmark, params: fixed()},
		"telegram":   {limit: 4096, quote: plain.Unmention, params: fixed("parsemode", "none", "preview", "no", "title", "")},
		"pagerduty":  {limit: 1024, quote: identity, params: incident, updates: true},
		"opsgenie":   {limit: defaultLimit, title: 130, quote: identity, params: alert},
		"mattermost": {limit: defaultLimit, quote: plain.Unmark, params: fixed()},
		"zulip":      {limit: defaultLimit, quote: plain.Unmark, params: fixed()},
		"wecom":      {limit: 2048, quote: plain.Unmention, params: fixed()},
		"pushover":   {limit: 1024, title: 200, quote: plain.Unmention, params: fixed()},
		"join":       {limit: 1000, title: 100, quote: identity, params: fixed()},
		"bark":       titled,
		"generic":    titled,
		"gotify":     titled,
		"ntfy":       titled,
		"pushbullet": titled,
	}[name]
	if !ok {
		return unformatted
	}
	return s
}

// sendRequest returns the request for m. ok is false if m must not be sent.
func (s service) sendRequest(m *model.Message) (r sendRequest, ok bool) {
	r.Params, ok = s.params(m)
	ok = ok && (s.updates || !m.Quiet)
	t := plain.Text{Quote: s.quote, URL: m.URL}
	title := t.Line(m.Title, maxTitle)
	if s.title == 0 {
		r.Text = text(m, t, title, s.limit)
		return r, ok
	}
	r.Params["title"] = t.Line(m.Title, s.title)
	if s.header != nil {
		r.Params["title"] = s.header(r.Params["title"])
	}
	if r.Text = text(m, t, "", s.limit); r.Text == "" {
		r.Text = title
	}
	return r, ok
}

// allEnded reports whether the thread of m has no open findings. That of an action has none unless a
// person has to look at the action.
func allEnded(m *model.Message) bool {
	if m.Action != nil {
		return !m.Action.Alarm
	}
	return m.OpenCount == 0 && m.Kind != model.TestMessage && m.Kind != model.DigestMessage
}

// thread returns the key that the messages of one thread share.
func thread(m *model.Message) string {
	if m.Thread == "" {
		return m.Key
	}
	return m.Thread
}

// incident returns the params for PagerDuty: an incident for each thread, which is resolved with the
// last finding.
func incident(m *model.Message) (map[string]string, bool) {
	severities := map[model.Severity]string{model.Critical: "critical", model.High: "error", model.Medium: "warning"}
	params := map[string]string{"action": "trigger", "dedup_key": "driftd-" + thread(m), "severity": "info", "source": "driftd", "client": "driftd"}
	if severity, ok := severities[m.Severity]; ok {
		params["severity"] = severity
	}
	if allEnded(m) {
		params["action"] = "resolve"
	}
	if u, err := url.Parse(m.URL); err == nil && u.Host != "" {
		params["client_url"] = m.URL
	}
	// A proposal is no incident.
	return params, m.Action == nil || !m.Action.Waits
}

// alert returns the params for Opsgenie: an alert for each thread. The library cannot close it. The
// message that all findings have ended is not sent, because it would open the alert again.
func alert(m *model.Message) (map[string]string, bool) {
	priorities := map[model.Severity]string{model.Critical: "P1", model.High: "P2", model.Medium: "P3", model.Low: "P4"}
	params := map[string]string{"alias": "driftd-" + thread(m), "priority": "P5", "source": "driftd"}
	if priority, ok := priorities[m.Severity]; ok {
		params["priority"] = priority
	}
	return params, !allEnded(m)
}

// mailHeader encodes and folds a line for a mail header (RFC 2047).
func mailHeader(line string) string { return mime.QEncoding.Encode("utf-8", line) }
