package slack

import (
	"context"
	"strconv"
	"time"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
)

const (
	// eventType and keyField mark a message with its key, in its metadata.
	eventType = "driftd_message"
	keyField  = "key"
	// skew is how far this machine's clock and Slack's may be apart.
	skew = time.Hour
	// pageSize and maxPages bound how many messages are looked through.
	pageSize = 100
	maxPages = 50
)

// with marks a message with its key.
func with(key string) []slack.MsgOption {
	return []slack.MsgOption{slack.MsgOptionMetadata(slack.SlackMetadata{
		EventType: eventType, EventPayload: map[string]any{keyField: key}})}
}

// arrived looks for a message that may have been posted already: in the
// channel, or below the thread's first message. It returns "" when it is not
// there, and when the app may not look.
func (c *channel) arrived(ctx context.Context, m model.Message, thread string) (ts string, _ error) {
	oldest := strconv.FormatInt(m.At.Add(-skew).Unix(), 10)
	for cursor, page := "", 0; page < maxPages; page++ {
		var messages []slack.Message
		err := c.wire.call(ctx, "look for message", func() (err error) {
			messages, cursor, err = c.page(ctx, oldest, thread, cursor)
			return err
		})
		switch codeOf(err) {
		case "missing_scope", "no_permission", "not_in_channel", "channel_not_found", "thread_not_found", "not_allowed_token_type":
			c.env.Log.Warn("cannot check whether a message arrived: it is posted again", "err", err)
			return "", nil
		}
		if err != nil {
			return "", err
		}
		for i := range messages {
			if meta := messages[i].Metadata; meta.EventType == eventType && meta.EventPayload[keyField] == m.Key {
				return messages[i].Timestamp, nil
			}
		}
		if cursor == "" {
			return "", nil
		}
	}
	return "", nil
}

// page returns some of the messages that are there, and where the next ones
// begin.
func (c *channel) page(ctx context.Context, oldest, thread, cursor string) ([]slack.Message, string, error) {
	if thread != "" {
		messages, _, next, err := c.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
			ChannelID: c.config.Channel, Timestamp: thread, Oldest: oldest, Cursor: cursor, Limit: pageSize, IncludeAllMetadata: true})
		return messages, next, err
	}
	answer, err := c.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
		ChannelID: c.config.Channel, Oldest: oldest, Cursor: cursor, Limit: pageSize, IncludeAllMetadata: true})
	if err != nil {
		return nil, "", err
	}
	return answer.Messages, answer.ResponseMetaData.NextCursor, nil
}
