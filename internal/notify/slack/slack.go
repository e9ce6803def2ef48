// Package slack tells a Slack channel of findings: a message for each thread,
// which is edited as its findings change, with what is new as replies, and
// buttons for those who may decide.
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

// Definition returns the receiver of type "slack". Receivers that it opens hear
// of each other's buttons, so that several may share one app.
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
	// deaf tells that nobody hears of buttons any more.
	deaf atomic.Bool
}

// Notify posts the first message of a thread. For a later one it edits the
// first, so that it shows how all stands now, and says in the thread what is
// new. For a quiet one it only edits.
func (c *channel) Notify(ctx context.Context, p model.Parcel) (string, error) {
	if root, ok := readReceipt(p.Receipt, c.config.Channel); ok {
		err := c.follow(ctx, p, root)
		if !errors.Is(err, errGone) {
			return "", err
		}
		c.env.Log.Info("the message of a thread is gone: it is posted anew", "thread", p.Message.Thread)
	}
	if p.Message.Quiet {
		return "", nil // there is no message to edit
	}
	return c.begin(ctx, p)
}

// begin posts a message that begins a thread in Slack.
func (c *channel) begin(ctx context.Context, p model.Parcel) (string, error) {
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

// follow brings the first message of a thread up to date and says what is new
// below it. It returns errGone when the first message is not there any more.
func (c *channel) follow(ctx context.Context, p model.Parcel, root receipt) error {
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

// saidHere tells news that the buttons' answer told already.
func saidHere(it model.Item, receiver string) bool {
	d := it.Finding.Decision
	return (model.Told{News: it.News}).Muted() && it.Finding.Hidden == "" && d != nil && d.Via == receiver
}

// reply says in the thread what is new.
func (c *channel) reply(ctx context.Context, p model.Parcel, root receipt) error {
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

// loud tells of what is shown in the channel too, since nobody is called into a
// thread that they did not answer in: what is called to mind, what is back, and
// what is worse than what the thread began with.
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

// drawsButtons tells whether messages get buttons: where nobody hears of them,
// they would be a lie.
func (c *channel) drawsButtons() bool { return c.hasButtons() && !c.deaf.Load() }

// hasButtons tells whether there is anybody who may press them.
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

// edit puts a message in another's place. Where Slack does not let anybody edit
// it any more, it stays as it is.
func (c *channel) edit(ctx context.Context, ts string, m message) error {
	err := c.wire.orBare(m, func(m message) error {
		return c.paced(ctx, "edit message", func() error {
			_, _, _, err := c.api.UpdateMessageContext(ctx, c.config.Channel, ts, m.options()...)
			return err
		})
	})
	switch codeOf(err) {
	case "edit_window_closed", "cant_update_message":
		c.env.Log.Info("a message may not be edited any more", "err", err)
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
