package slack

import (
	"context"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// An interaction is what somebody did: at a button, or with the modal.
type interaction struct {
	ref
	// channel and ts are the message's, trigger lets a modal be opened.
	channel, ts, trigger string
	// user is the ID of who it is, name what came with it.
	user, name string
	// count is about how many findings the message is that opens a modal.
	count int
	// key is the same for the same interaction again.
	key string
	// asks is what is asked for; its Kind is "" where the modal is.
	asks notify.Request
}

// readActions reads what somebody did with the buttons of a message; nil where
// that means nothing.
func readActions(callback *slack.InteractionCallback) *interaction {
	for _, action := range callback.ActionCallback.BlockActions {
		value, same := action.Value, action.ActionID
		it := &interaction{channel: callback.Channel.ID, ts: callback.Container.MessageTs, trigger: callback.TriggerID, user: callback.User.ID, name: callback.User.Name}
		switch action.ActionID {
		case acknowledgeAction:
			it.asks.Kind = model.Acknowledge
		case snoozeAction:
			var length string
			length, value, _ = strings.Cut(action.SelectedOption.Value, ":")
			if length == "" {
				continue
			}
			it.asks.Kind, it.asks.Until = model.Snooze, length
			same += length
		case acceptAction:
			same += callback.TriggerID // the modal may be opened again
			var count string
			count, value, _ = strings.Cut(value, ":")
			it.count, _ = strconv.Atoi(count) // without a number the modal says none
		default:
			continue
		}
		if ref, ok := readRef(value); ok {
			it.ref, it.key = ref, same+" "+value+" "+it.user
			return it
		}
	}
	return nil
}

// work does what somebody asks for.
func (c *channel) work(ctx context.Context, heard *interaction) {
	ctx, cancel := context.WithTimeout(ctx, working)
	defer cancel()
	l := c.peers.of(heard, c)
	if l == nil {
		c.postEphemeral(ctx, heard, (&prose{}).say("This driftd does not answer for that message: its receiver is not configured here, or has another channel now."))
		return
	}
	may, err := l.mayPress(ctx, heard.user)
	switch {
	case err != nil:
		l.env.Log.Warn("nobody knows who may press buttons", "err", err)
		l.postEphemeral(ctx, heard, (&prose{}).say("driftd could not find out whether you may do that: ").quote(err.Error(), maxReason))
	case !may && !l.hasButtons():
		l.postEphemeral(ctx, heard, (&prose{}).say("Nobody may decide here any more: driftd's settings name neither users nor groups."))
	case !may:
		l.postEphemeral(ctx, heard, l.those((&prose{}).say("You may not decide that here. Those who may: ")))
	case !l.once.first(heard.key, l.env.Now()):
		l.postEphemeral(ctx, heard, (&prose{}).say("You did that a moment ago: it counts once."))
	case heard.asks.Kind == "":
		l.openModal(ctx, heard)
	default:
		l.carryOut(ctx, heard)
	}
}

// carryOut has the decision made, and says in the thread what was done.
func (l *listener) carryOut(ctx context.Context, heard *interaction) {
	request := heard.asks
	request.Receiver, request.Thread, request.Sequence = heard.receiver, heard.thread, heard.sequence
	request.By = l.called(ctx, heard.user, heard.name)
	answer, err := l.decide(ctx, request)
	if err != nil {
		l.once.forget(heard.key)
		l.postEphemeral(ctx, heard, (&prose{}).say("That was not done: ").quote(err.Error(), maxReason))
		return
	}
	said := (&prose{}).quote(answer, maxAnswerText)
	if _, err := l.post(ctx, message{fallback(answer, maxReason), []slack.Block{block(said.section())}}, slack.MsgOptionTS(heard.ts)); err != nil {
		l.env.Log.Warn("an answer is not said in its thread", "err", err)
	}
}

// maxAnswerText bounds what is said of a decision, in characters.
const maxAnswerText = 2500

// postEphemeral says something to who pressed, which nobody else sees.
func (c *channel) postEphemeral(ctx context.Context, heard *interaction, said *prose) {
	err := c.wire.call(ctx, "answer", func() error {
		m := message{"driftd has an answer for you.", []slack.Block{block(said.section())}}
		_, err := c.api.PostEphemeralContext(ctx, heard.channel, heard.user, m.options()...)
		return err
	})
	if err != nil {
		c.env.Log.Warn("an answer is not said", "err", err)
	}
}
