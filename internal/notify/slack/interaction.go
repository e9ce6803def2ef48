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
	// channel and ts identify the message. trigger is the ID that opens a modal.
	channel, ts, trigger string
	// user is the ID of the person. name is the name in the event.
	user, name string
	// count is the number of findings of the message that opens a modal.
	count int
	// key is equal for repetitions of the interaction.
	key string
	// request is the requested decision. Its Kind is "" if the modal must be opened.
	request notify.Request
	// action is the answer to an action; nil if the interaction is about findings. Without a reason,
	// an approval opens the modal.
	action *notify.ActionAnswer
}

// readActions returns the interaction of a click. It returns nil for an unknown button.
func readActions(callback *slack.InteractionCallback) *interaction {
	for _, action := range callback.ActionCallback.BlockActions {
		value, same := action.Value, action.ActionID
		it := &interaction{channel: callback.Channel.ID, ts: callback.Container.MessageTs, trigger: callback.TriggerID, user: callback.User.ID, name: callback.User.Name}
		switch action.ActionID {
		case acknowledgeAction:
			it.request.Kind = model.Acknowledge
		case snoozeAction:
			var length string
			length, value, _ = strings.Cut(action.SelectedOption.Value, ":")
			if length == "" {
				continue
			}
			it.request.Kind, it.request.Until = model.Snooze, length
			same += length
		case acceptAction:
			same += callback.TriggerID // the modal may be opened again
			var count string
			count, value, _ = strings.Cut(value, ":")
			it.count, _ = strconv.Atoi(count) // without a number the modal has no count
		case approveAction:
			same += callback.TriggerID // the modal may be opened again
			it.action = &notify.ActionAnswer{Approve: true}
			it.action.Digest, value, _ = strings.Cut(value, digestEnd)
		case declineAction:
			it.action = &notify.ActionAnswer{}
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

// handleInteraction checks the permission of the person, and opens the modal or makes the decision.
func (c *channel) handleInteraction(ctx context.Context, it *interaction) {
	ctx, cancel := context.WithTimeout(ctx, it.timeout())
	defer cancel()
	l := c.listeners.find(it, c)
	if l == nil {
		c.postEphemeral(ctx, it, (&richText{}).words("This driftd does not handle that message: its receiver is not configured here, or has another channel."))
		return
	}
	why, err := l.whyNot(ctx, it)
	switch {
	case err != nil:
		l.env.Log.Warn("cannot check who may press buttons", "err", err)
		l.postEphemeral(ctx, it, (&richText{}).words("Your permission could not be checked: ").data(err.Error(), maxReason))
	case why != nil:
		l.postEphemeral(ctx, it, why)
	case !l.interactions.isNew(it.key, l.env.Now()):
		l.postEphemeral(ctx, it, (&richText{}).words("Already done: a repeated click counts once."))
	case it.action != nil:
		l.handleAction(ctx, it)
	case it.request.Kind == "":
		l.openModal(ctx, it)
	default:
		l.executeDecision(ctx, it)
	}
}

// whyNot returns why the person of an interaction may not make it; nil if they may.
func (l *listener) whyNot(ctx context.Context, it *interaction) (*richText, error) {
	if it.action != nil && it.action.Approve {
		return l.whyNotApprove(it.user), nil
	}
	allowed, err := l.isAllowed(ctx, it.user)
	switch {
	case err != nil:
		return nil, err
	case allowed:
		return nil, nil
	case !l.hasButtons():
		return (&richText{}).words("Decisions are disabled here: no users or groups are configured."), nil
	}
	return l.addAllowed((&richText{}).words("You are not allowed to decide here. Allowed: ")), nil
}

// executeDecision makes the decision and posts the answer in the thread.
func (l *listener) executeDecision(ctx context.Context, it *interaction) {
	request := it.request
	request.Receiver, request.Thread, request.Sequence = it.receiver, it.thread, it.sequence
	request.By = l.author(ctx, it.user, it.name)
	answer, err := l.handler.Decide(ctx, request)
	if err != nil {
		l.interactions.forget(it.key)
		l.postEphemeral(ctx, it, (&richText{}).words("The decision failed: ").data(err.Error(), maxReason))
		return
	}
	text := (&richText{}).data(answer, maxAnswerText)
	if _, err := l.post(ctx, message{fallback(answer, maxReason), []slack.Block{block(text.section())}}, slack.MsgOptionTS(it.ts)); err != nil {
		l.env.Log.Warn("answer not posted in its thread", "err", err)
	}
}

// maxAnswerText is the maximum length of the answer to a decision, in characters.
const maxAnswerText = 2500

// postEphemeral posts a text that only the person who clicked can see.
func (c *channel) postEphemeral(ctx context.Context, it *interaction, text *richText) {
	err := c.client.call(ctx, "answer", func() error {
		m := message{"Answer from driftd.", []slack.Block{block(text.section())}}
		_, err := c.api.PostEphemeralContext(ctx, it.channel, it.user, m.options()...)
		return err
	})
	if err != nil {
		c.env.Log.Warn("answer not posted", "err", err)
	}
}
