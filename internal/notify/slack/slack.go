// Package slack posts findings to a Slack channel: a message for each thread, which is
// edited as its findings change, with news as replies, and buttons for decisions.
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

// Definition returns the receiver of type "slack". Its receivers exchange interactions,
// so that several may share one app.
func Definition() notify.Definition {
	listening := &peers{}
	return notify.Define(Type, Defaults(), func(env notify.Env, config Config) (notify.Receiver, error) {
		return open(env, config, listening)
	})
}

func open(env notify.Env, config Config, listening *peers) (notify.Receiver, error) {
	if err := config.check(); err != nil {
		return notify.Receiver{}, err
	}
	address, err := config.readWebhook()
	if err != nil {
		return notify.Receiver{}, err
	}
	wire := newWire(config, env)
	if address != "" {
		return notify.Receiver{Notifier: &webhook{wire, address}}, nil
	}
	token, err := read("token_file", config.TokenFile, "xoxb-", "xapp-")
	if err != nil {
		return notify.Receiver{}, err
	}
	appToken, err := read("app_token_file", config.AppTokenFile, "xapp-", "xoxb-")
	if err != nil {
		return notify.Receiver{}, err
	}
	if !strings.HasSuffix(config.APIURL, "/") {
		config.APIURL += "/"
	}
	c := &channel{env: env, config: config, wire: wire, api: wire.connect(config.APIURL, token), appToken: appToken, peers: listening}
	receiver := notify.Receiver{Notifier: c}
	if appToken != "" {
		receiver.Listener = c
	}
	return receiver, nil
}

// A channel is one as an app sees it. It is safe for concurrent use.
type channel struct {
	env      notify.Env
	config   Config
	wire     *wire
	api      *slack.Client
	appToken string
	peers    *peers
	groups   userGroups
	once     once
	// deaf is set where the connection for buttons has ended for good.
	deaf atomic.Bool
}

// Notify posts the first message of a thread. For a later one it edits the first, so
// that it shows the current state, and replies with the news. For a quiet one it only
// edits.
func (c *channel) Notify(ctx context.Context, p model.OutboxEntry) (string, error) {
	if root, ok := readReceipt(p.Receipt, c.config.Channel); ok {
		err := c.follow(ctx, p, root)
		if !errors.Is(err, errGone) {
			return "", err
		}
		c.env.Log.Info("the message of a thread was deleted: it is posted again", "thread", p.Message.Thread)
	}
	if p.Message.Quiet {
		return "", nil // there is no message to edit
	}
	return c.begin(ctx, p)
}

// begin posts the first message of a thread.
func (c *channel) begin(ctx context.Context, p model.OutboxEntry) (string, error) {
	m := p.Message
	if p.Begun {
		ts, err := c.arrived(ctx, m, "")
		if err != nil || ts != "" {
			return newReceipt(c.config.Channel, ts, m).String(), err
		}
	}
	ts, err := c.post(ctx, rootMessage(m, c.drawsButtons()), with(m.Key)...)
	if err != nil {
		return "", err
	}
	return newReceipt(c.config.Channel, ts, m).String(), nil
}

// follow updates the first message of a thread and replies with the news. It returns
// errGone where the first message was deleted.
func (c *channel) follow(ctx context.Context, p model.OutboxEntry, root receipt) error {
	m := p.Message
	if err := c.edit(ctx, root.TS, rootMessage(root.recall(m), c.drawsButtons())); err != nil {
		return err
	}
	if m.Quiet {
		return nil
	}
	if slices.ContainsFunc(m.News, func(it model.Item) bool { return !saidHere(it, m.Receiver) }) || len(m.News) == 0 {
		return c.reply(ctx, p, root)
	}
	return nil
}

// saidHere reports whether news is in the answer to a button already.
func saidHere(it model.Item, receiver string) bool {
	d := it.Finding.Decision
	return (model.Notified{News: it.News}).Muted() && it.Finding.Hidden == "" && d != nil && d.Via == receiver
}

// reply posts the news in the thread.
func (c *channel) reply(ctx context.Context, p model.OutboxEntry, root receipt) error {
	m := p.Message
	if p.Begun {
		if ts, err := c.arrived(ctx, m, root.TS); err != nil || ts != "" {
			return err
		}
	}
	options := append(with(m.Key), slack.MsgOptionTS(root.TS))
	if loud(m, root) {
		options = append(options, slack.MsgOptionBroadcast())
	}
	_, err := c.post(ctx, newsMessage(m), options...)
	return err
}

// loud reports whether a reply is shown in the channel too, since a reply notifies only
// participants of the thread: a reminder, a finding that is open again, and one that is
// worse than the first message of the thread.
func loud(m model.Message, root receipt) bool {
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

// drawsButtons reports whether messages get buttons: only where clicks are received.
func (c *channel) drawsButtons() bool { return c.hasButtons() && !c.deaf.Load() }

// hasButtons reports whether anyone may press buttons.
func (c *channel) hasButtons() bool {
	return c.appToken != "" && len(c.config.Users)+len(c.config.Groups) > 0
}

// post posts a message and returns its timestamp, which is its ID.
func (c *channel) post(ctx context.Context, m message, options ...slack.MsgOption) (ts string, err error) {
	err = c.wire.orBare(m, func(m message) error {
		return c.paced(ctx, "post message", func() error {
			_, ts, err = c.api.PostMessageContext(ctx, c.config.Channel, append(m.options(), options...)...)
			return err
		})
	})
	if err == nil && ts == "" {
		return "", errors.New("post message: the answer names no message")
	}
	return ts, err
}

// edit replaces a message. A message that Slack does not allow to edit any more stays
// as it is.
func (c *channel) edit(ctx context.Context, ts string, m message) error {
	err := c.wire.orBare(m, func(m message) error {
		return c.paced(ctx, "edit message", func() error {
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

// paced calls a method that counts as a message.
func (c *channel) paced(ctx context.Context, what string, call func() error) error {
	if err := c.wire.pace.wait(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return c.wire.call(ctx, what, call)
}
