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
	// atOnce is how many presses are worked at together.
	atOnce = 16
	// working bounds how long one press is worked at.
	working = 30 * time.Second
)

// Listen hears of buttons until ctx ends, over a connection that this side
// opens. It returns earlier only when Slack refuses the app-level token.
func (r *room) Listen(ctx context.Context, decide notify.Decide) error {
	defer r.peers.enter(&ear{r, decide})()
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	api := r.wire.connect(r.config.APIURL, "", slack.OptionAppLevelToken(r.appToken),
		slack.OptionHTTPClient(&unhurried{wire: r.wire, turns: pace{every: r.config.Pace}}))
	socket := socketmode.New(api, socketmode.OptionLog(silent{}), socketmode.OptionReadLimit(maxEvent))
	var group sync.WaitGroup
	group.Go(func() { r.hear(within, socket, stop) })
	err := socket.RunContext(within)
	stop(explain("connect", err))
	group.Wait()
	r.wire.client.CloseIdleConnections()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(within)
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
func (r *room) hear(ctx context.Context, socket *socketmode.Client, stop context.CancelCauseFunc) {
	var group sync.WaitGroup
	defer group.Wait()
	free := make(chan struct{}, atOnce)
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-socket.Events:
			heard := r.receive(ctx, socket, event, stop)
			if heard == nil {
				continue
			}
			select {
			case free <- struct{}{}:
				group.Go(func() {
					defer func() { <-free }()
					r.work(ctx, heard)
				})
			default:
				r.env.Log.Warn("too many buttons are pressed at once: one is left out")
			}
		}
	}
}

// receive logs how the connections do, acknowledges what somebody did, and
// returns what that asks for, or nil.
func (r *room) receive(ctx context.Context, socket *socketmode.Client, event socketmode.Event, stop context.CancelCauseFunc) *press {
	switch data := event.Data.(type) {
	case *socketmode.ConnectedEvent:
		r.env.Log.Info("listening to buttons")
	case *slack.ConnectionErrorEvent:
		err := explain("connect", data.ErrorObj)
		if errors.Is(err, notify.ErrPermanent) {
			stop(err)
			return nil
		}
		r.env.Log.Warn("buttons are not heard", "err", err, "again_in", data.Backoff)
	}
	if event.Request == nil || event.Request.EnvelopeID == "" {
		return nil
	}
	heard, answer := r.read(event.Data)
	if err := socket.AckCtx(ctx, event.Request.EnvelopeID, answer); err != nil {
		r.env.Log.Warn("a button is not acknowledged", "err", err)
	}
	return heard
}

// read reads what somebody did, and what is to be answered at once: what is
// wrong with a form.
func (r *room) read(data any) (heard *press, answer any) {
	callback, ok := data.(slack.InteractionCallback)
	if !ok {
		return nil, nil
	}
	switch callback.Type {
	case slack.InteractionTypeBlockActions:
		return readPress(&callback, r.env.Now()), nil
	case slack.InteractionTypeViewSubmission:
		heard, wrong := readForm(&callback, r.env.Now())
		if len(wrong) > 0 {
			return nil, slack.NewErrorsViewSubmissionResponse(wrong)
		}
		return heard, nil
	}
	return nil, nil
}
