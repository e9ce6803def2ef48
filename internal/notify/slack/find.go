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
	// clockSkew is the tolerated difference between this machine's clock and Slack's.
	clockSkew = time.Hour
	// pageSize and maxPages limit the number of messages to search.
	pageSize = 100
	maxPages = 50
)

// metadataOption returns the option that stores the key in the message's metadata.
func metadataOption(key string) []slack.MsgOption {
	return []slack.MsgOption{slack.MsgOptionMetadata(slack.SlackMetadata{
		EventType: eventType, EventPayload: map[string]any{keyField: key}})}
}

// findMessage returns the timestamp of m if it was already posted, in the channel or in thread. It
// returns "" if m was not posted or if the app is not permitted to search.
func (c *channel) findMessage(ctx context.Context, m model.Message, thread string) (ts string, _ error) {
	oldest := strconv.FormatInt(m.At.Add(-clockSkew).Unix(), 10)
	for cursor, page := "", 0; page < maxPages; page++ {
		var messages []slack.Message
		err := c.client.call(ctx, "search for message", func() (err error) {
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

// page returns the page of messages at cursor, and the cursor of the next page.
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
