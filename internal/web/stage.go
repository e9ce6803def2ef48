// Package web serves the web pages: the list of drift, each finding with its fields, the sources,
// the decisions, and a timeline.
package web

import (
	"context"
	"time"
)

// A Stage is the fake infrastructure of the demo. Visitors can change it and see the resulting findings. It
// is safe for concurrent use.
type Stage interface {
	// Acts returns the available acts, always in the same order.
	Acts() []Act
	// Do performs the act with the given ID. It returns after the change is made, possibly before driftd
	// has detected it.
	Do(ctx context.Context, id string) error
	// Messages returns the messages that were sent, newest first.
	Messages() []Message
}

// An Act is a change of the infrastructure that a visitor can make.
type Act struct {
	ID string
	// Title is a short description. Detail describes the actor, the resource, and the attribution that
	// driftd can derive.
	Title, Detail string
	// Done reports whether the act was performed and has not been undone.
	Done bool
}

// A Message is a message in the form in which Slack displays it.
type Message struct {
	At      time.Time
	Channel string
	// Edited reports whether the message was changed after it was sent. Reply reports whether it is a reply
	// in a thread.
	Edited, Reply bool
	Parts         []Part
}

// A Part is a piece of a message, in the order of Slack's Block Kit.
type Part struct {
	Kind PartKind
	// Text is in Slack's mrkdwn format. The text of a header is plain text. It is empty for Buttons.
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
