// Package web is the page that driftd shows to people: what drifts now, each
// finding field by field, the sources, and what came and went.
package web

import (
	"context"
	"time"
)

// A Stage is an estate of stand-ins that visitors may change, to see what
// driftd makes of it. It is safe for concurrent use.
type Stage interface {
	// Acts are what may be done, always the same in the same order.
	Acts() []Act
	// Do does what the act of that ID is; it returns when it is done, not when
	// driftd has noticed.
	Do(ctx context.Context, id string) error
	// Said are the messages that people were sent, newest first.
	Said() []Said
}

// An Act is one thing that somebody may do to the estate.
type Act struct {
	ID string
	// Title says it in a few words, Detail who does it, to what, and what driftd
	// can tell of it.
	Title, Detail string
	// Done tells that it was done, and not undone since.
	Done bool
}

// A Said is one message as Slack would show it.
type Said struct {
	At      time.Time
	Channel string
	// Edited tells that it was changed since it was sent, Reply that it stands in
	// a thread.
	Edited, Reply bool
	Parts         []Part
}

// A Part is a piece of a message, in the order of Slack's Block Kit.
type Part struct {
	Kind PartKind
	// Text is in Slack's mrkdwn; that of a header is plain. Of Buttons it is
	// empty.
	Text string
	// Buttons are the words on buttons that stand side by side.
	Buttons []string
}

// PartKind says what a Part is.
type PartKind string

// The kinds of parts.
const (
	Header  PartKind = "header"
	Section PartKind = "section"
	Context PartKind = "context"
	Divider PartKind = "divider"
	Buttons PartKind = "buttons"
)
