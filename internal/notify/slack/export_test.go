package slack

import (
	"context"
	"time"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// Render returns the text and the blocks of m. later selects the format of a reply.
func Render(m model.Message, later, buttons bool) (string, []slack.Block) {
	rendered := rootMessage(m, buttons)
	if later {
		rendered = newsMessage(m)
	}
	return rendered.text, rendered.blocks
}

// NewRateLimiter returns the wait method of a new rateLimiter.
func NewRateLimiter(interval time.Duration) func(context.Context) error {
	return (&rateLimiter{interval: interval}).wait
}

// Read returns the request and the thread of an interaction.
func Read(c slack.InteractionCallback, now time.Time) (request notify.Request, thread string, ok bool) {
	ch := &channel{env: notify.Env{Now: func() time.Time { return now }}}
	it, _ := ch.read(c)
	if it == nil {
		return notify.Request{}, "", false
	}
	return it.request, it.thread, true
}

// Spans returns the labels of the choices of a duration, by value.
func Spans() map[string]string {
	choices := map[string]string{}
	for _, s := range append(snoozes(), acceptances()...) {
		choices[s.value] = s.label
	}
	return choices
}
