package notify

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// ActionMessages returns the messages about an action: one for each receiver that was notified of its
// finding, as a reply in the thread of the finding. An alarm is also sent to the receivers to which f, if
// it is not nil, is routed. threads contains the threads of all receivers.
//
// An alarm is sent at any time. Other messages do not interrupt quiet hours: during these, and when a
// person ends a proposal, the message only updates an earlier one.
func (p *Policy) ActionMessages(n *model.ActionNotice, f *model.Finding, threads []model.Thread, now time.Time) []model.Message {
	var messages []model.Message
	for _, receiver := range slices.Sorted(maps.Keys(p.Receivers)) {
		parent := threadOf(threads, receiver, n.Finding)
		if parent == nil && (!n.Alarm || f == nil || p.route(f, receiver) == nil) {
			continue
		}
		m := actionMessage(n, now)
		m.Receiver, m.URL = receiver, p.URL
		if parent != nil {
			m.Parent, m.Severity = parent.ID, parent.Members[n.Finding].Severity
		}
		if f != nil {
			m.Severity = f.Severity
		}
		pacing := p.Receivers[receiver]
		held := pacing.Quiet.contains(now.In(pacing.location())) && !pacing.Quiet.excepts(m.Severity)
		m.Quiet = !n.Alarm && (held || n.Known)
		messages = append(messages, m)
	}
	return messages
}

// threadOf returns the newest thread of a receiver with a finding; nil if there is none.
func threadOf(threads []model.Thread, receiver, finding string) (newest *model.Thread) {
	for i := range threads {
		t := &threads[i]
		if _, member := t.Members[finding]; member && t.Receiver == receiver && (newest == nil || t.Opened.After(newest.Opened)) {
			newest = t
		}
	}
	return newest
}

func actionMessage(n *model.ActionNotice, now time.Time) model.Message {
	thread := model.ActionThread + n.ID
	shown := *n
	shown.Changes = slices.Clone(n.Changes)
	for i := range shown.Changes {
		c := &shown.Changes[i]
		c.Recorded, c.Live = cut(c.Recorded), cut(c.Live)
	}
	m := model.Message{Key: thread + "." + strconv.Itoa(n.Step), Kind: model.ActionMessage, At: now, Thread: thread, First: n.Step == 1, Sequence: n.Step,
		Title: actionTitle(n), News: []model.Item{}, All: []model.Item{}, Notes: actionNotes(&shown), Action: &shown}
	m.Subject = m.Title
	return m
}

// actionTitle returns what is done to the resource of an action, and its state.
func actionTitle(n *model.ActionNotice) string {
	return n.Resource.Source + ": " + phrase.ActionSubject(n) + ": " + phrase.ActionState(n)
}

// actionNotes returns the lines about an action for receivers that show no buttons.
func actionNotes(n *model.ActionNotice) []string {
	notes := []string{}
	for _, f := range phrase.ActionFields(n) {
		notes = append(notes, f.Path+": "+f.Inline(func(value string) string { return value }))
	}
	if more := n.Fields - len(n.Changes); more > 0 {
		notes = append(notes, "and "+phrase.Count(more, "more field"))
	}
	for _, fact := range phrase.ActionFacts(n) {
		notes = append(notes, fact.String())
	}
	return append(notes, phrase.ActionCommand(n))
}
