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
	// maxEvent is the maximum size of an event, in bytes.
	maxEvent = 1 << 20
	// atOnce is the maximum number of interactions that are handled concurrently.
	atOnce = 16
	// working is the maximum duration of handling an interaction.
	working = 30 * time.Second
)

// Listen receives interactions over a Socket Mode connection until ctx ends. It returns earlier
// only if Slack refuses the app-level token.
func (c *channel) Listen(ctx context.Context, decide notify.Decide) error {
	defer c.peers.enter(&listener{c, decide})()
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	api := c.wire.connect(c.config.APIURL, "", slack.OptionAppLevelToken(c.appToken),
		slack.OptionHTTPClient(&unhurried{wire: c.wire, turns: pace{every: c.config.Pace}}))
	socket := socketmode.New(api, socketmode.OptionLog(silent{}), socketmode.OptionReadLimit(maxEvent))
	var group sync.WaitGroup
	group.Go(func() { c.handle(within, socket, stop) })
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

// unhurried limits the rate of new connections, in case Slack or a proxy closes them as soon as
// they are open.
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

// handle handles the events of the connections until ctx ends. It calls stop if Slack refuses
// the app-level token.
func (c *channel) handle(ctx context.Context, socket *socketmode.Client, stop context.CancelCauseFunc) {
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
				c.env.Log.Warn("too many concurrent interactions, one is ignored")
			}
		}
	}
}

// receive logs the state of the connections, acknowledges an event, and returns its interaction
// or nil.
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
		c.env.Log.Warn("acknowledge interaction", "err", err)
	}
	return heard
}

// read returns the interaction of an event, and the response to an invalid modal.
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
