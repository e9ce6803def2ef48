package slack

import (
	"context"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// An interaction is a click on a button, or a submitted modal.
type interaction struct {
	ref
	// channel and ts are those of the message, trigger opens a modal.
	channel, ts, trigger string
	// user is the ID of the person, name the name in the request.
	user, name string
	// count is the number of findings of the message that opens a modal.
	count int
	// key is equal for a repetition of the interaction.
	key string
	// asks is the request; its Kind is "" where the modal is to be opened.
	asks notify.Request
}

// readActions returns the interaction of a click; nil for an unknown button.
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
			it.count, _ = strconv.Atoi(count) // without a number the modal has no count
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

// work handles an interaction.
func (c *channel) work(ctx context.Context, heard *interaction) {
	ctx, cancel := context.WithTimeout(ctx, working)
	defer cancel()
	l := c.peers.of(heard, c)
	if l == nil {
		c.postEphemeral(ctx, heard, (&richText{}).words("This driftd does not handle that message: its receiver is not configured here, or has another channel."))
		return
	}
	may, err := l.mayPress(ctx, heard.user)
	switch {
	case err != nil:
		l.env.Log.Warn("cannot check who may press buttons", "err", err)
		l.postEphemeral(ctx, heard, (&richText{}).words("Your permission could not be checked: ").data(err.Error(), maxReason))
	case !may && !l.hasButtons():
		l.postEphemeral(ctx, heard, (&richText{}).words("Decisions are disabled here: no users or groups are configured."))
	case !may:
		l.postEphemeral(ctx, heard, l.allowed((&richText{}).words("You are not allowed to decide here. Allowed: ")))
	case !l.once.first(heard.key, l.env.Now()):
		l.postEphemeral(ctx, heard, (&richText{}).words("Already done: a repeated click counts once."))
	case heard.asks.Kind == "":
		l.openModal(ctx, heard)
	default:
		l.carryOut(ctx, heard)
	}
}

// carryOut makes the decision, and posts the answer in the thread.
func (l *listener) carryOut(ctx context.Context, heard *interaction) {
	request := heard.asks
	request.Receiver, request.Thread, request.Sequence = heard.receiver, heard.thread, heard.sequence
	request.By = l.called(ctx, heard.user, heard.name)
	answer, err := l.decide(ctx, request)
	if err != nil {
		l.once.forget(heard.key)
		l.postEphemeral(ctx, heard, (&richText{}).words("The decision failed: ").data(err.Error(), maxReason))
		return
	}
	said := (&richText{}).data(answer, maxAnswerText)
	if _, err := l.post(ctx, message{fallback(answer, maxReason), []slack.Block{block(said.section())}}, slack.MsgOptionTS(heard.ts)); err != nil {
		l.env.Log.Warn("answer not posted in its thread", "err", err)
	}
}

// maxAnswerText bounds the answer to a decision, in characters.
const maxAnswerText = 2500

// postEphemeral posts a text that only the person who clicked can see.
func (c *channel) postEphemeral(ctx context.Context, heard *interaction, said *richText) {
	err := c.wire.call(ctx, "answer", func() error {
		m := message{"driftd has an answer for you.", []slack.Block{block(said.section())}}
		_, err := c.api.PostEphemeralContext(ctx, heard.channel, heard.user, m.options()...)
		return err
	})
	if err != nil {
		c.env.Log.Warn("answer not posted", "err", err)
	}
}
