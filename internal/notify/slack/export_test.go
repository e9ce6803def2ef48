package slack

import (
	"context"
	"time"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// Render makes a message as Notify does.
func Render(m model.Message, later, buttons bool) (string, []slack.Block) {
	rendered := rootMessage(m, buttons)
	if later {
		rendered = newsMessage(m)
	}
	return rendered.text, rendered.blocks
}

// NewPace returns how to wait for one's turn.
func NewPace(every time.Duration) func(context.Context) error {
	return (&pace{every: every}).wait
}

// Read reads what somebody did.
func Read(c slack.InteractionCallback, now time.Time) (asks notify.Request, thread string, ok bool) {
	ch := &channel{env: notify.Env{Now: func() time.Time { return now }}}
	heard, _ := ch.read(c)
	if heard == nil {
		return notify.Request{}, "", false
	}
	return heard.asks, heard.thread, true
}

// Spans returns the choices of how long, with what they are called.
func Spans() map[string]string {
	choices := map[string]string{}
	for _, s := range append(snoozes(), acceptances()...) {
		choices[s.value] = s.words
	}
	return choices
}
