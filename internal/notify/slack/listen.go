package slack

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/driftd/driftd/internal/notify"
)

const (
	// maxEvent bounds what Slack sends at once, in bytes.
	maxEvent = 1 << 20
	// atOnce is how many interactions are worked at together.
	atOnce = 16
	// working bounds how long one interaction is worked at.
	working = 30 * time.Second
)

// Listen hears of buttons until ctx ends, over a connection that this side
// opens. It returns earlier only when Slack refuses the app-level token.
func (c *channel) Listen(ctx context.Context, decide notify.Decide) error {
	defer c.peers.enter(&listener{c, decide})()
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	api := c.wire.connect(c.config.APIURL, "", slack.OptionAppLevelToken(c.appToken),
		slack.OptionHTTPClient(&unhurried{wire: c.wire, turns: pace{every: c.config.Pace}}))
	socket := socketmode.New(api, socketmode.OptionLog(silent{}), socketmode.OptionReadLimit(maxEvent))
	var group sync.WaitGroup
	group.Go(func() { c.hear(within, socket, stop) })
	err := socket.RunContext(within)
	stop(explain(connecting, err))
	group.Wait()
	c.wire.client.CloseIdleConnections()
	if ctx.Err() != nil {
		return nil
	}
	err = context.Cause(within)
	c.deaf.Store(errors.Is(err, notify.ErrPermanent))
	return err
}

// unhurried does not open one connection right after the other, when Slack, or
// what lies between, closes them as soon as they are open.
type unhurried struct {
	wire  *wire
	turns pace
}

// Do sends a request when it is its turn.
func (u *unhurried) Do(request *http.Request) (*http.Response, error) {
	if err := u.turns.wait(request.Context()); err != nil {
		return nil, err
	}
	return u.wire.Do(request)
}

// hear takes what comes over the connections, until ctx ends. It stops them when
// Slack will not have them.
func (c *channel) hear(ctx context.Context, socket *socketmode.Client, stop context.CancelCauseFunc) {
	var group sync.WaitGroup
	defer group.Wait()
	free := make(chan struct{}, atOnce)
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-socket.Events:
			heard := c.receive(ctx, socket, event, stop)
			if heard == nil {
				continue
			}
			select {
			case free <- struct{}{}:
				group.Go(func() {
					defer func() { <-free }()
					c.work(ctx, heard)
				})
			default:
				c.env.Log.Warn("too many buttons pressed at once: one is ignored")
			}
		}
	}
}

// receive logs how the connections do, acknowledges what somebody did, and
// returns what that asks for, or nil.
func (c *channel) receive(ctx context.Context, socket *socketmode.Client, event socketmode.Event, stop context.CancelCauseFunc) *interaction {
	switch data := event.Data.(type) {
	case *socketmode.ConnectedEvent:
		c.env.Log.Info("listening to buttons")
	case *slack.ConnectionErrorEvent:
		err := explain(connecting, data.ErrorObj)
		if errors.Is(err, notify.ErrPermanent) {
			stop(err)
			return nil
		}
		c.env.Log.Warn("connection for buttons lost", "err", err, "again_in", data.Backoff)
	}
	if event.Request == nil || event.Request.EnvelopeID == "" {
		return nil
	}
	heard, answer := c.read(event.Data)
	if err := socket.AckCtx(ctx, event.Request.EnvelopeID, answer); err != nil {
		c.env.Log.Warn("button not acknowledged", "err", err)
	}
	return heard
}

// read reads what somebody did, and what is to be answered at once: what is
// wrong with what was submitted.
func (c *channel) read(data any) (heard *interaction, answer any) {
	callback, ok := data.(slack.InteractionCallback)
	if !ok {
		return nil, nil
	}
	switch callback.Type {
	case slack.InteractionTypeBlockActions:
		return readActions(&callback), nil
	case slack.InteractionTypeViewSubmission:
		heard, wrong := readModal(&callback, c.env.Now())
		if len(wrong) > 0 {
			return nil, slack.NewErrorsViewSubmissionResponse(wrong)
		}
		return heard, nil
	}
	return nil, nil
}
