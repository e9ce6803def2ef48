package slack

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/credential"
)

// Config configures a slack receiver. It uses an app with a bot token
// (TokenFile with Channel), or an incoming webhook (WebhookURLFile), which can
// only post.
type Config struct {
	// TokenFile is a file with the bot token of the app, xoxb-…
	TokenFile string `mapstructure:"token_file" path:"true"`
	// Channel is the ID of the channel, C0123456789.
	Channel string `mapstructure:"channel"`
	// WebhookURLFile is a file with the address of an incoming webhook, which is secret. It replaces
	// TokenFile and Channel.
	WebhookURLFile string `mapstructure:"webhook_url_file" path:"true"`
	// AppTokenFile is a file with an app-level token, xapp-…. It is required to receive clicks on
	// buttons.
	AppTokenFile string `mapstructure:"app_token_file" path:"true"`
	// Users are the IDs of the people who may press buttons. Without users and
	// groups there are no buttons.
	Users []string `mapstructure:"users"`
	// Groups are the IDs of user groups whose members may press buttons.
	Groups []string `mapstructure:"groups"`
	// Approvers are the IDs of the people who may approve actions. Each must be in the table of people.
	// Without approvers, there is no button for approvals.
	Approvers []string `mapstructure:"approvers"`
	// APIURL is the address of Slack's API.
	APIURL string `mapstructure:"api_url"`
	// Timeout is the maximum duration of each request, including the response.
	Timeout time.Duration `mapstructure:"timeout"`
	// Pace is the minimum time between two messages. Slack accepts one a second in a
	// channel.
	Pace time.Duration `mapstructure:"pace"`
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{APIURL: slack.APIURL, Timeout: 10 * time.Second, Pace: time.Second}
}

// check returns the first error in the settings. Further errors may be consequences of it.
func (c *Config) check() error {
	for _, check := range []func() error{c.checkAccount, c.checkButtons, c.checkLimits} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkAccount() error {
	switch {
	case c.TokenFile != "" && c.WebhookURLFile != "":
		return errors.New("settings token_file and webhook_url_file exclude each other: keep one")
	case c.TokenFile == "" && c.WebhookURLFile == "":
		return errors.New("setting token_file is missing: set it and channel, or webhook_url_file; see docs/slack.md for how to create the app")
	case c.WebhookURLFile != "" && c.Channel != "":
		return errors.New("setting channel needs token_file: a webhook has a channel of its own")
	case c.WebhookURLFile != "" && c.AppTokenFile != "":
		return errors.New("setting app_token_file needs token_file: messages of a webhook have no buttons")
	case c.TokenFile != "" && c.Channel == "":
		return errors.New("setting channel is missing: set the ID of the channel, such as C0123456789")
	case c.Channel != "" && !isID(c.Channel, "CGD"):
		return fmt.Errorf("setting channel is %q: want the channel's ID, such as C0123456789; see the end of the channel's details in Slack", c.Channel)
	}
	return nil
}

func (c *Config) checkButtons() error {
	for name, ids := range map[string][]string{"users": c.Users, "groups": c.Groups, "approvers": c.Approvers} {
		if len(ids) > 0 && c.AppTokenFile == "" {
			return fmt.Errorf("setting %s needs app_token_file: without it there are no buttons", name)
		}
	}
	for name, ids := range map[string][]string{"users": c.Users, "approvers": c.Approvers} {
		for _, id := range ids {
			if !isID(id, "UW") {
				return fmt.Errorf("setting %s has %q: want member IDs, such as U0123456789; use \"Copy member ID\" in a member's profile", name, id)
			}
		}
	}
	for _, id := range c.Groups {
		if !isID(id, "S") {
			return fmt.Errorf("setting groups has %q: want IDs of user groups, such as S0123456789", id)
		}
	}
	return nil
}

// isID reports whether id is a Slack ID that begins with one of letters.
func isID(id, letters string) bool {
	return len(id) > 2 && strings.ContainsRune(letters, rune(id[0])) && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

func (c *Config) checkLimits() error {
	switch {
	case !isSecure(c.APIURL):
		return errors.New("setting api_url is not a valid address: want one such as " + slack.APIURL)
	case c.Timeout <= 0:
		return errors.New("setting timeout must be more than 0")
	case c.Pace < 0:
		return errors.New("setting pace must not be less than 0")
	}
	return nil
}

// isSecure reports whether a token may be sent to address: it uses https, or http to a loopback
// address.
func isSecure(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// readToken returns the token in file, which is the value of setting. It returns "" if file is "".
// prefix is the prefix of the token. other is the prefix of the other kind of token.
func readToken(setting, file, prefix, other string) (string, error) {
	if file == "" {
		return "", nil
	}
	token, err := credential.Read(file)
	switch {
	case err != nil:
		return "", fmt.Errorf("setting %s: %w", setting, err)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("setting %s: the file holds more than a token: leave one line, %s…", setting, prefix)
	case strings.HasPrefix(token, other):
		return "", fmt.Errorf("setting %s: the file holds another kind of token (%s…): want %s…", setting, other, prefix)
	}
	return token, nil
}

// readWebhook returns the address of the webhook, or "" if it is not configured.
func (c *Config) readWebhook() (string, error) {
	if c.WebhookURLFile == "" {
		return "", nil
	}
	address, err := credential.Read(c.WebhookURLFile)
	if err != nil {
		return "", fmt.Errorf("setting webhook_url_file: %w", err)
	}
	if !isSecure(address) {
		return "", errors.New("setting webhook_url_file: the file must contain an address such as https://hooks.slack.com/services/…")
	}
	return address, nil
}
