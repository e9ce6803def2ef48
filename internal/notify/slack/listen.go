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
	// maxConcurrent is the maximum number of interactions that are handled concurrently.
	maxConcurrent = 16
	// interactionTimeout is the maximum duration of handling an interaction.
	interactionTimeout = 30 * time.Second
)

// Listen receives interactions over a Socket Mode connection until ctx ends. It returns earlier
// only if Slack refuses the app-level token.
func (c *channel) Listen(ctx context.Context, handler notify.Handler) error {
	defer c.listeners.add(&listener{c, handler})()
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	api := c.client.connect(c.config.APIURL, "", slack.OptionAppLevelToken(c.appToken),
		slack.OptionHTTPClient(&rateLimitedClient{client: c.client, limiter: rateLimiter{interval: c.config.Pace}}))
	socket := socketmode.New(api, socketmode.OptionLog(silent{}), socketmode.OptionReadLimit(maxEvent))
	var group sync.WaitGroup
	group.Go(func() { c.handle(within, socket, stop) })
	err := socket.RunContext(within)
	stop(explain(connectAction, err))
	group.Wait()
	c.client.http.CloseIdleConnections()
	if ctx.Err() != nil {
		return nil
	}
	err = context.Cause(within)
	c.listenFailed.Store(errors.Is(err, notify.ErrPermanent))
	return err
}

// A rateLimitedClient limits the rate of new connections, in case Slack or a proxy closes each one
// as soon as it is open.
type rateLimitedClient struct {
	client  *apiClient
	limiter rateLimiter
}

// Do sends a request after waiting for the rate limit.
func (c *rateLimitedClient) Do(request *http.Request) (*http.Response, error) {
	if err := c.limiter.wait(request.Context()); err != nil {
		return nil, err
	}
	return c.client.Do(request)
}

// handle handles the events of the connections until ctx ends. It calls stop if Slack refuses
// the app-level token.
func (c *channel) handle(ctx context.Context, socket *socketmode.Client, stop context.CancelCauseFunc) {
	var group sync.WaitGroup
	defer group.Wait()
	free := make(chan struct{}, maxConcurrent)
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-socket.Events:
			it := c.receive(ctx, socket, event, stop)
			if it == nil {
				continue
			}
			select {
			case free <- struct{}{}:
				group.Go(func() {
					defer func() { <-free }()
					c.handleInteraction(ctx, it)
				})
			default:
				c.env.Log.Warn("too many concurrent interactions, one is ignored")
			}
		}
	}
}

// receive logs the state of the connections and acknowledges event. It returns the interaction of
// event, or nil if there is none.
func (c *channel) receive(ctx context.Context, socket *socketmode.Client, event socketmode.Event, stop context.CancelCauseFunc) *interaction {
	switch data := event.Data.(type) {
	case *socketmode.ConnectedEvent:
		c.env.Log.Info("connection for buttons established")
	case *slack.ConnectionErrorEvent:
		err := explain(connectAction, data.ErrorObj)
		if errors.Is(err, notify.ErrPermanent) {
			stop(err)
			return nil
		}
		c.env.Log.Warn("connection for buttons lost", "err", err, "again_in", data.Backoff)
	}
	if event.Request == nil || event.Request.EnvelopeID == "" {
		return nil
	}
	it, answer := c.read(event.Data)
	if err := socket.AckCtx(ctx, event.Request.EnvelopeID, answer); err != nil {
		c.env.Log.Warn("interaction not acknowledged", "err", err)
	}
	return it
}

// read returns the interaction of an event. It returns an answer for a modal with invalid inputs.
func (c *channel) read(data any) (it *interaction, answer any) {
	callback, ok := data.(slack.InteractionCallback)
	if !ok {
		return nil, nil
	}
	switch callback.Type {
	case slack.InteractionTypeBlockActions:
		return readActions(&callback), nil
	case slack.InteractionTypeViewSubmission:
		it, wrong := readSubmission(&callback, c.env.Now())
		if len(wrong) > 0 {
			return nil, slack.NewErrorsViewSubmissionResponse(wrong)
		}
		return it, nil
	}
	return nil, nil
}
