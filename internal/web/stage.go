// Package web serves the web pages: the list of drift, each finding with its fields, the sources,
// the decisions, and a timeline.
package web

import (
	"context"
	"time"
)

// A Stage is the demo's estate, which visitors may change to see the findings that result. It is
// safe for concurrent use.
type Stage interface {
	// Acts returns the available acts, always in the same order.
	Acts() []Act
	// Do performs the act with that ID. It returns when the change is made, possibly before driftd
	// has detected it.
	Do(ctx context.Context, id string) error
	// The sent messages, newest first.
	Messages() []Message
}

// An Act is a change that a visitor can make to the estate.
type Act struct {
	ID string
	// Title is a short description, Detail names the actor, the resource, and the attribution that
	// driftd can derive.
	Title, Detail string
	// Done reports that the act was performed and not undone since.
	Done bool
}

// A Message is one message as Slack would show it.
type Message struct {
	At      time.Time
	Channel string
	// Edited reports that the message was changed after it was sent, Reply that it is in a thread.
	Edited, Reply bool
	Parts         []Part
}

// A Part is a piece of a message, in the order of Slack's Block Kit.
type Part struct {
	Kind PartKind
	// Text is in Slack's mrkdwn; that of a header is plain text. It is empty for Buttons.
	Text string
	// Buttons are the labels of buttons in a row.
	Buttons []string
}

// PartKind is the kind of a Part.
type PartKind string

// The kinds of parts.
const (
	Header  PartKind = "header"
	Section PartKind = "section"
	Context PartKind = "context"
	Divider PartKind = "divider"
	Buttons PartKind = "buttons"
)
