package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
)

// A webhook posts through an incoming webhook. It cannot edit messages, reply in threads or
// check whether a message has arrived, so an interrupted delivery is repeated.
type webhook struct {
	*apiClient
	address string
}

// Notify posts a message. It drops a quiet message, because it cannot edit the first one.
func (h *webhook) Notify(ctx context.Context, p model.OutboxEntry) (string, error) {
	if p.Message.Quiet {
		return "", nil
	}
	var m message
	switch {
	case p.Message.Action != nil:
		m = describeAction(p.Message)
	case p.Message.First:
		m = rootMessage(p.Message, false)
	default:
		m = newsMessage(p.Message)
	}
	return "", h.sendWithFallback(m, func(m message) error {
		if err := h.limiter.wait(ctx); err != nil {
			return fmt.Errorf("post message: %w", err)
		}
		return h.call(ctx, "post message", func() error { return h.send(ctx, m) })
	})
}

// send posts m.
func (h *webhook) send(ctx context.Context, m message) error {
	no := false
	body := slack.WebhookMessage{Text: m.text, Parse: "none", UnfurlLinks: &no, UnfurlMedia: &no}
	if len(m.blocks) > 0 {
		body.Blocks = &slack.Blocks{BlockSet: m.blocks}
	}
	encoded, err := json.Marshal(struct {
		slack.WebhookMessage
		Markdown bool `json:"mrkdwn"`
	}{WebhookMessage: body})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.address, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	response, err := h.Do(request)
	if err != nil {
		return err
	}
	// The body is not needed.
	_ = response.Body.Close()
	return nil
}
