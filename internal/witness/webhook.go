package witness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/notify/post"
)

// A webhook posts heads to a URL.
type webhook struct {
	s   Settings
	env Env
	// name contains the host of the URL, or the name of its file.
	name string
}

func newWebhook(s Settings, env Env) (*webhook, error) {
	w := &webhook{s: s, env: env, name: "the webhook in " + s.WebhookFile}
	if s.Webhook == "" {
		return w, nil
	}
	to, err := w.address()
	if err != nil {
		return nil, fmt.Errorf("open witness: %w", err)
	}
	w.name = "the webhook " + to.Scheme + "://" + to.Host
	return w, nil
}

// address returns the URL. An error does not contain it.
func (w *webhook) address() (*url.URL, error) {
	setting, text := "webhook", w.s.Webhook
	if w.s.WebhookFile != "" {
		var err error
		if text, err = credential.Read(w.s.WebhookFile); err != nil {
			return nil, fmt.Errorf("webhook_file: %w", err)
		}
		setting = "webhook_file"
	}
	to, err := post.Address(text)
	if err == nil && to.Scheme == "http" && w.s.TokenFile != "" && !httpclient.Loopback(to.Hostname()) {
		err = errors.New("would send the token in clear text: use https")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: the address %w", setting, err)
	}
	return to, nil
}

// Name implements Witness.
func (w *webhook) Name() string { return w.name }

// A message is the body of a request. Text makes it one for an incoming webhook of Slack.
type message struct {
	Origin string    `json:"origin"`
	Size   int64     `json:"size"`
	Root   string    `json:"root"`
	Note   string    `json:"note"`
	Time   time.Time `json:"time"`
	Text   string    `json:"text"`
}

// Publish implements Witness. It reads the files of the settings at each call.
func (w *webhook) Publish(ctx context.Context, h audit.Head, _ bool) error {
	to, err := w.address()
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/json; charset=UTF-8"}, "User-Agent": {"driftd/" + w.env.Version}}
	if w.s.TokenFile != "" {
		token, err := credential.Read(w.s.TokenFile)
		if err != nil {
			return fmt.Errorf("token_file: %w", err)
		}
		header.Set("Authorization", "Bearer "+token)
	}
	client, err := post.New(post.Options{Server: "the webhook", Timeout: w.env.Timeout, CAFile: w.s.CAFile, Now: w.env.Now})
	if err != nil {
		return err
	}
	defer client.Close()
	body, err := json.Marshal(message{
		Origin: h.Origin, Size: h.Size, Root: h.Root.String(), Note: string(h.Note), Time: w.env.Now().UTC(),
		Text: fmt.Sprintf("driftd audit head: %d entries, root %s (%s)", h.Size, h.Root, slackText(h.Origin)),
	})
	if err != nil {
		return fmt.Errorf("encode head: %w", err)
	}
	return client.Send(ctx, to, header, body)
}

// slackText escapes the characters that are special in a text of Slack.
// https://docs.slack.dev/messaging/formatting-message-text#escaping
func slackText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// Heads implements Witness.
func (w *webhook) Heads(context.Context, Parse) ([]audit.Head, error) { return nil, ErrWriteOnly }
