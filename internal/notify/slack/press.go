package slack

import (
	"context"
	"time"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// A press is somebody at a button, or with a form filled in.
type press struct {
	ref
	// channel and ts are the message's, trigger lets a form be opened.
	channel, ts, trigger string
	// user is the ID of who it is, name what came with it.
	user, name string
	// key is the same for the same press again.
	key string
	// asks is what is asked for; its Kind is "" where a form is.
	asks notify.Request
}

// readPress reads what somebody did with the buttons of a message; nil where
// that means nothing.
func readPress(c *slack.InteractionCallback, now time.Time) *press {
	for _, action := range c.ActionCallback.BlockActions {
		value, same := action.Value, action.ActionID
		p := &press{channel: c.Channel.ID, ts: c.Container.MessageTs, trigger: c.TriggerID, user: c.User.ID, name: c.User.Name}
		switch action.ActionID {
		case acknowledgeAction:
			p.asks.Kind = model.Acknowledge
		case snoozeAction:
			choice, rest := readOption(action.SelectedOption.Value)
			length, ok := find(snoozes(), choice)
			if !ok {
				continue
			}
			value, p.asks.Kind, p.asks.Until = rest, model.Snooze, now.Add(length.length)
			same += choice
		case acceptAction:
			same += c.TriggerID // a form may be opened again
		default:
			continue
		}
		if ref, ok := readRef(value); ok {
			p.ref, p.key = ref, same+" "+value+" "+p.user
			return p
		}
	}
	return nil
}

// work does what somebody asks for.
func (r *room) work(ctx context.Context, heard *press) {
	ctx, cancel := context.WithTimeout(ctx, working)
	defer cancel()
	e := r.peers.of(heard, r)
	if e == nil {
		r.whisper(ctx, heard, (&prose{}).say("This driftd does not answer for that message: its receiver is not configured here, or has another channel now."))
		return
	}
	may, err := e.mayPress(ctx, heard.user)
	switch {
	case err != nil:
		e.env.Log.Warn("nobody knows who may press buttons", "err", err)
		e.whisper(ctx, heard, (&prose{}).say("driftd could not find out whether you may do that: ").quote(err.Error(), maxReason))
	case !may && !e.hasButtons():
		e.whisper(ctx, heard, (&prose{}).say("Nobody may decide here any more: driftd's settings name neither users nor groups."))
	case !may:
		e.whisper(ctx, heard, e.those((&prose{}).say("You may not decide that here. Those who may: ")))
	case !e.once.first(heard.key, e.env.Now()):
		e.whisper(ctx, heard, (&prose{}).say("You did that a moment ago: it counts once."))
	case heard.asks.Kind == "":
		e.showForm(ctx, heard)
	default:
		e.carryOut(ctx, heard)
	}
}

// carryOut has the decision made, and says in the thread what was done.
func (e *ear) carryOut(ctx context.Context, heard *press) {
	request := heard.asks
	request.Receiver, request.Thread, request.Sequence = heard.receiver, heard.thread, heard.sequence
	request.By = e.called(ctx, heard.user, heard.name)
	answer, err := e.decide(ctx, request)
	if err != nil {
		e.once.forget(heard.key)
		e.whisper(ctx, heard, (&prose{}).say("That was not done: ").quote(err.Error(), maxReason))
		return
	}
	said := (&prose{}).quote(answer, maxAnswerText)
	if _, err := e.post(ctx, message{fallback(answer, maxReason), []slack.Block{block(said.section())}}, slack.MsgOptionTS(heard.ts)); err != nil {
		e.env.Log.Warn("an answer is not said in its thread", "err", err)
	}
}

// maxAnswerText bounds what is said of a decision, in characters.
const maxAnswerText = 2500

// whisper says something to who pressed, which nobody else sees.
func (r *room) whisper(ctx context.Context, heard *press, said *prose) {
	err := r.wire.call(ctx, "answer", func() error {
		m := message{"driftd has an answer for you.", []slack.Block{block(said.section())}}
		_, err := r.api.PostEphemeralContext(ctx, heard.channel, heard.user, m.options()...)
		return err
	})
	if err != nil {
		r.env.Log.Warn("an answer is not said", "err", err)
	}
}
