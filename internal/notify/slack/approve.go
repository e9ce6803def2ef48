package slack

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/phrase"
)

// The IDs of the buttons and of the modal for an action. digestEnd separates the digest from the rest of a
// button's value.
const (
	approveAction = "driftd_approve"
	declineAction = "driftd_decline"
	approveModal  = "driftd_approve_form"
	digestEnd     = " "
)

// actionTimeout is the maximum duration of carrying out an approved action.
const actionTimeout = 5 * time.Minute

// timeout returns the maximum duration of handling the interaction.
func (it *interaction) timeout() time.Duration {
	if it.action != nil {
		return actionTimeout
	}
	return interactionTimeout
}

// actionButtons returns the buttons for the answers to an action; nil if there are none.
func (c *channel) actionButtons(m model.Message) slack.Block {
	n := m.Action
	value := ref{m.Receiver, n.ID, n.Step}.String()
	if _, ok := readRef(value); !ok || !n.Waits || c.appToken == "" || c.listenFailed.Load() {
		return nil
	}
	var buttons []slack.BlockElement
	if len(c.config.Approvers) > 0 && n.Whole() {
		approve := slack.NewButtonBlockElement(approveAction, n.Digest+digestEnd+value, plainText("Approve…"))
		approve.Style = slack.StylePrimary
		buttons = append(buttons, approve)
	}
	if c.hasButtons() {
		decline := slack.NewButtonBlockElement(declineAction, value, plainText("Decline"))
		decline.Confirm = slack.NewConfirmationBlockObject(plainText("Decline?"), plainText("driftd does not propose it again while the finding stays the same."),
			plainText("Decline"), plainText("Cancel"))
		buttons = append(buttons, decline)
	}
	if len(buttons) == 0 {
		return nil
	}
	return slack.NewActionBlock("", buttons...)
}

// whyNotApprove returns why a member may not approve actions; nil if they may.
func (c *channel) whyNotApprove(user string) *richText {
	switch {
	case len(c.config.Approvers) == 0:
		return (&richText{}).words("Approvals are disabled here: no approvers are configured.")
	case !slices.Contains(c.config.Approvers, user):
		text := (&richText{}).words("You are not allowed to approve here. Allowed: ")
		for i, id := range c.config.Approvers {
			if i > 0 {
				text.words(", ")
			}
			text.member(id)
		}
		return text
	case c.person(user) == "":
		return (&richText{}).words("Only people of the configuration may approve: add your member ID to people.")
	}
	return nil
}

// person returns the person with a member ID; "" if there is none.
func (c *channel) person(user string) string {
	if c.env.Person == nil {
		return ""
	}
	return c.env.Person(user)
}

// handleAction opens the modal for an approval, or answers the action.
func (l *listener) handleAction(ctx context.Context, it *interaction) {
	answer := *it.action
	answer.Action, answer.Receiver = it.thread, it.receiver
	var err error
	switch {
	case answer.Approve && answer.Reason == "":
		err = l.openApproval(ctx, it)
	case answer.Approve:
		answer.By = l.person(it.user)
		err = l.handler.AnswerAction(ctx, answer)
	default:
		answer.By = l.author(ctx, it.user, it.name)
		err = l.handler.AnswerAction(ctx, answer)
	}
	if err != nil {
		l.interactions.forget(it.key)
		l.postEphemeral(ctx, it, (&richText{}).words("Not done: ").data(err.Error(), maxReason))
	}
}

// openApproval opens the form for an approval of what the message showed. The form shows the action as it
// is now.
func (l *listener) openApproval(ctx context.Context, it *interaction) error {
	n, err := l.handler.Action(it.thread)
	switch {
	case err != nil:
		return err
	case !n.Waits:
		l.postEphemeral(ctx, it, (&richText{}).words("It does not wait for an approval any more: ").data(phrase.ActionState(&n), maxReason))
		return nil
	case n.Digest != it.action.Digest:
		l.postEphemeral(ctx, it, (&richText{}).words("What would be done changed since: look again."))
		return nil
	}
	l.openView(ctx, it, n.Digest, func(from string) slack.ModalViewRequest { return approval(from, &n) })
	return nil
}

// approval returns the form for the approval of an action.
func approval(from string, n *model.ActionNotice) slack.ModalViewRequest {
	reason := slack.NewPlainTextInputBlockElement(plainText("Why this is put back"), inputAction)
	reason.Multiline, reason.MaxLength = true, maxInput
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: approveModal, PrivateMetadata: from,
		Title: plainText("Approve action"), Submit: plainText("Approve"), Close: plainText("Cancel"),
		Blocks: slack.Blocks{BlockSet: append(actionBlocks(n), slack.NewInputBlock(reasonInput, plainText("Reason"), nil, reason))},
	}
}

// readApproval sets the answer of the form for an approval, and returns error messages by input.
func (it *interaction) readApproval(input func(name string) slack.BlockAction, digest string) (wrong map[string]string) {
	it.action = &notify.ActionAnswer{Approve: true, Digest: digest, Reason: strings.TrimSpace(input(reasonInput).Value)}
	if it.action.Reason == "" {
		return map[string]string{reasonInput: "Enter a reason."}
	}
	return nil
}
