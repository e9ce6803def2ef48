package slack

import (
	"context"
	"errors"
	"strings"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify/plain"
	"github.com/driftd/driftd/internal/phrase"
)

// notifyAction posts the first message about an action in the thread of its finding, and edits it for a
// later one. An alarm is also posted as a reply that the channel shows.
func (c *channel) notifyAction(ctx context.Context, p model.OutboxEntry) (string, error) {
	first, posted := readReceipt(p.Receipt, c.config.Channel)
	if posted {
		err := c.edit(ctx, first.TS, c.actionMessage(p.Message))
		if err == nil && p.Message.Action.Alarm {
			_, err = c.postAction(ctx, p, first.Root)
		}
		if !errors.Is(err, errDeleted) {
			return "", err
		}
	}
	if p.Message.Quiet {
		return "", nil // there is no message to edit
	}
	root, _ := readReceipt(p.Parent, c.config.Channel)
	ts, err := c.postAction(ctx, p, root.TS)
	if root.TS != "" && errors.Is(err, errDeleted) {
		root.TS = ""
		ts, err = c.postAction(ctx, p, "")
	}
	if err != nil {
		return "", err
	}
	return receipt{Channel: c.config.Channel, TS: ts, Kind: model.ActionMessage, Severity: p.Message.Severity, Root: root.TS}.String(), nil
}

// postAction posts the message of p in the thread of the message root, "" for the channel, unless it was
// posted before. An alarm in a thread is also shown in the channel.
func (c *channel) postAction(ctx context.Context, p model.OutboxEntry, root string) (string, error) {
	m := p.Message
	if p.Begun {
		if ts, err := c.findMessage(ctx, m, root); err != nil || ts != "" {
			return ts, err
		}
	}
	options := metadataOption(m.Key)
	if root != "" {
		options = append(options, slack.MsgOptionTS(root))
		if m.Action.Alarm {
			options = append(options, slack.MsgOptionBroadcast())
		}
	}
	return c.post(ctx, c.actionMessage(m), options...)
}

// actionMessage returns the message about an action, with buttons while it waits for an approval.
func (c *channel) actionMessage(m model.Message) message {
	shown := describeAction(m)
	if buttons := c.actionButtons(m); buttons != nil {
		shown.blocks = append(shown.blocks, buttons)
	}
	return shown
}

// describeAction returns the message about an action without buttons.
func describeAction(m model.Message) message {
	n := m.Action
	next := (&richText{}).words("Next: ").code(phrase.ActionCommand(n))
	if page := plain.Page(m.URL, &model.Finding{ID: n.Finding}); page != "" {
		next.words(" · ")
		next.link(page, "details")
	}
	return message{"[action] " + fallback(m.Title, maxTitle), append(actionBlocks(n), block(next.section()))}
}

// actionBlocks returns what an action does, and its state.
func actionBlocks(n *model.ActionNotice) []slack.Block {
	title := &richText{}
	addHead(title, actionSign(n), actionWord(n))
	title.words(n.Resource.Source+": ").name(phrase.ActionSubject(n), maxTitle)
	if n.Outcome != "" {
		title.words("\n").data(n.Outcome, maxReason)
	}
	blocks := []slack.Block{block(title.section())}
	var changes []string
	for _, f := range phrase.ActionFields(n) {
		changes = append(changes, fieldText(f.Cut(maxValue)))
	}
	if more := n.Fields - len(n.Changes); more > 0 {
		changes = append(changes, "…"+andMore(more))
	}
	if len(changes) > 0 {
		blocks = append(blocks, block(lines(strings.Join(changes, "\n"))))
	}
	facts := &richText{}
	for i, fact := range phrase.ActionFacts(n) {
		if i > 0 {
			facts.words("\n")
		}
		facts.phrase(fact)
	}
	return append(blocks, block(facts.section()))
}

// actionWord returns the word for the state of an action.
func actionWord(n *model.ActionNotice) string {
	switch {
	case n.Waits && n.Needed > 1:
		return "APPROVE · " + phrase.Number(len(n.Approvers)) + " of " + phrase.Number(n.Needed)
	case n.Waits:
		return "APPROVE"
	}
	return strings.ToUpper(n.State)
}

// actionSign returns the symbol for the state of an action.
func actionSign(n *model.ActionNotice) string {
	switch {
	case n.Alarm:
		return "🔴"
	case n.Waits:
		return "⏳"
	case n.Converged:
		return "✅"
	}
	return "⚪"
}
