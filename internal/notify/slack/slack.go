// Package slack posts findings to a Slack channel. Each thread has a message with its
// findings and with buttons for decisions, which is edited when they change. News is posted
// as replies.
package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// Type is the receiver's type in the configuration.
const Type = "slack"

// Definition returns the definition of the receiver type "slack". Its receivers share their listeners, so
// that several receivers can use one app.
func Definition() notify.Definition {
	shared := &listeners{}
	return notify.Define(Type, Defaults(), func(env notify.Env, config Config) (notify.Receiver, error) {
		return open(env, config, shared)
	})
}

// open returns the receiver with the given settings.
func open(env notify.Env, config Config, shared *listeners) (notify.Receiver, error) {
	if err := config.check(); err != nil {
		return notify.Receiver{}, err
	}
	address, err := config.readWebhook()
	if err != nil {
		return notify.Receiver{}, err
	}
	client := newAPIClient(config, env)
	if address != "" {
		return notify.Receiver{Notifier: &webhook{client, address}}, nil
	}
	token, err := readToken("token_file", config.TokenFile, "xoxb-", "xapp-")
	if err != nil {
		return notify.Receiver{}, err
	}
	appToken, err := readToken("app_token_file", config.AppTokenFile, "xapp-", "xoxb-")
	if err != nil {
		return notify.Receiver{}, err
	}
	if !strings.HasSuffix(config.APIURL, "/") {
		config.APIURL += "/"
	}
	c := &channel{env: env, config: config, client: client, api: client.connect(config.APIURL, token), appToken: appToken, listeners: shared}
	for _, id := range config.Approvers {
		if c.person(id) == "" {
			return notify.Receiver{}, fmt.Errorf("setting approvers has %q, who is no person: add slack: %s to an entry of people", id, id)
		}
	}
	receiver := notify.Receiver{Notifier: c}
	if appToken != "" {
		receiver.Listener = c
	}
	return receiver, nil
}

// A channel posts to a channel as an app. It is safe for concurrent use.
type channel struct {
	env          notify.Env
	config       Config
	client       *apiClient
	api          *slack.Client
	appToken     string
	listeners    *listeners
	groups       userGroups
	interactions deduplicator
	// listenFailed is set after a permanent error of Listen.
	listenFailed atomic.Bool
}

// Notify posts the first message of a thread. For a later message it edits the first one,
// so that it shows the current state, and posts the news as a reply. For a quiet message it
// only edits.
func (c *channel) Notify(ctx context.Context, p model.OutboxEntry) (string, error) {
	if p.Message.Action != nil {
		return c.notifyAction(ctx, p)
	}
	if root, ok := readReceipt(p.Receipt, c.config.Channel); ok {
		err := c.updateThread(ctx, p, root)
		if !errors.Is(err, errDeleted) {
			return "", err
		}
		c.env.Log.Info("the message of a thread was deleted: it is posted again", "thread", p.Message.Thread)
	}
	if p.Message.Quiet {
		return "", nil // there is no message to edit
	}
	return c.postRoot(ctx, p)
}

// postRoot posts the first message of a thread.
func (c *channel) postRoot(ctx context.Context, p model.OutboxEntry) (string, error) {
	m := p.Message
	if p.Begun {
		ts, err := c.findMessage(ctx, m, "")
		if err != nil || ts != "" {
			return newReceipt(c.config.Channel, ts, m).String(), err
		}
	}
	ts, err := c.post(ctx, rootMessage(m, c.showsButtons()), metadataOption(m.Key)...)
	if err != nil {
		return "", err
	}
	return newReceipt(c.config.Channel, ts, m).String(), nil
}

// updateThread edits the first message of a thread and replies with the news. It returns
// errDeleted if the first message was deleted.
func (c *channel) updateThread(ctx context.Context, p model.OutboxEntry, root receipt) error {
	m := p.Message
	if err := c.edit(ctx, root.TS, rootMessage(root.restore(m), c.showsButtons())); err != nil {
		return err
	}
	if m.Quiet {
		return nil
	}
	if slices.ContainsFunc(m.News, func(it model.Item) bool { return !answeredHere(it, m.Receiver) }) || len(m.News) == 0 {
		return c.reply(ctx, p, root)
	}
	return nil
}

// answeredHere reports whether the answer to a button of receiver contains the news of it.
func answeredHere(it model.Item, receiver string) bool {
	d := it.Finding.Decision
	return (model.Notified{News: it.News}).Muted() && it.Finding.Hidden == "" && d != nil && d.Via == receiver
}

// reply posts the news in the thread.
func (c *channel) reply(ctx context.Context, p model.OutboxEntry, root receipt) error {
	m := p.Message
	if p.Begun {
		if ts, err := c.findMessage(ctx, m, root.TS); err != nil || ts != "" {
			return err
		}
	}
	options := append(metadataOption(m.Key), slack.MsgOptionTS(root.TS))
	if isBroadcast(m, root) {
		options = append(options, slack.MsgOptionBroadcast())
	}
	_, err := c.post(ctx, newsMessage(m), options...)
	return err
}

// isBroadcast reports whether a reply is also shown in the channel, because a reply
// notifies only participants of the thread. That is so for a reminder, a finding that is
// open again, and a finding that is worse than before or than the first message.
func isBroadcast(m model.Message, root receipt) bool {
	switch m.Kind {
	case model.ReminderMessage:
		return true
	case model.ResolvedMessage, model.DecidedMessage:
		return false
	}
	return m.Severity.Rank() < root.Severity.Rank() ||
		slices.ContainsFunc(m.News, func(it model.Item) bool {
			return it.News == model.Again || it.News == model.Returned || it.Worse()
		})
}

// showsButtons reports whether messages have buttons. They have none if clicks are not
// received.
func (c *channel) showsButtons() bool { return c.hasButtons() && !c.listenFailed.Load() }

// hasButtons reports whether buttons are configured.
func (c *channel) hasButtons() bool {
	return c.appToken != "" && len(c.config.Users)+len(c.config.Groups) > 0
}

// post posts m and returns its timestamp, which is its ID.
func (c *channel) post(ctx context.Context, m message, options ...slack.MsgOption) (ts string, err error) {
	err = c.client.sendWithFallback(m, func(m message) error {
		return c.callPaced(ctx, "post message", func() error {
			_, ts, err = c.api.PostMessageContext(ctx, c.config.Channel, append(m.options(), options...)...)
			return err
		})
	})
	if err == nil && ts == "" {
		return "", errors.New("post message: the response has no timestamp")
	}
	return ts, err
}

// edit replaces the message ts by m. If Slack does not allow to edit it any more, edit
// returns nil.
func (c *channel) edit(ctx context.Context, ts string, m message) error {
	err := c.client.sendWithFallback(m, func(m message) error {
		return c.callPaced(ctx, "edit message", func() error {
			_, _, _, err := c.api.UpdateMessageContext(ctx, c.config.Channel, ts, m.options()...)
			return err
		})
	})
	switch codeOf(err) {
	case "edit_window_closed", "cant_update_message":
		c.env.Log.Info("a message can no longer be edited", "err", err)
		return nil
	}
	return err
}

// callPaced calls a method that Slack's rate limit for messages applies to.
func (c *channel) callPaced(ctx context.Context, what string, call func() error) error {
	if err := c.client.limiter.wait(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return c.client.call(ctx, what, call)
}
