package slack

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/post"
)

// connecting is what the app-level token is for.
const connecting = "connect"

// errGone says that the message that was to be edited or answered is not there
// any more.
var errGone = errors.New("the message is gone")

// errGarbled stands for an error that may quote the other side.
var errGarbled = errors.New("the answer is none of Slack's: see what lies between driftd and Slack")

// soon is when to try again where Slack asks to wait and does not say how long.
const soon = time.Minute

// maxDetail bounds what is repeated of Slack's own words, in characters.
const maxDetail = 200

// A failure is an answer of Slack that says why it did not do something.
type failure struct {
	code, detail string
	// hint is the next step, or "".
	hint string
}

// Error says what is wrong, and the next step.
func (f *failure) Error() string {
	said := f.code
	if f.detail != "" {
		said += " (" + f.detail + ")"
	}
	if f.hint != "" {
		said += "; " + f.hint
	}
	return said
}

// codeOf returns Slack's own word for a failure, or "".
func codeOf(err error) string {
	if f := (*failure)(nil); errors.As(err, &f) {
		return f.code
	}
	return ""
}

// A judged error says already what Slack means.
type judged struct{ error }

// Unwrap returns what it says.
func (j judged) Unwrap() error { return j.error }

// explain says what could not be done, and what to do about it. It marks what
// no repetition mends, and what is wrong with the message alone.
func explain(what string, err error) error {
	var said slack.SlackErrorResponse
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said):
		hint := standing
		if what == connecting {
			hint = standingOfApp
		}
		err = refusal(said.Err, detail(said), hint)
	case !errors.As(err, new(judged)) && !errors.As(err, new(*httpclient.Timeout)):
		if err = post.Cause(err); errors.Is(err, post.ErrGarbled) {
			err = errGarbled
		}
	}
	if hint := words().Hint(err); hint != "" {
		return fmt.Errorf("%s: %w; %s", what, err, hint)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// detail repeats what helps to mend it.
func detail(said slack.SlackErrorResponse) string {
	if said.Needed != "" {
		return "needed: " + said.Needed
	}
	return strings.Join(said.ResponseMetadata.Messages, ", ")
}

func words() httpclient.Words {
	return httpclient.Words{
		Server: "Slack", Address: "api_url",
		Authority: "this machine does not trust the certificate's authority: see what lies between driftd and Slack",
		Expired:   "see that this machine's clock is right",
		Host:      "the certificate is another host's: check api_url, and what lies between driftd and Slack",
	}
}

// refusal makes an error of Slack's own word for what is wrong, with a hint
// where that lasts until somebody does something.
func refusal(code, detail string, hint func(code string) string) error {
	if len(code) > maxCode || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		code = "an error that it does not name"
	}
	f := &failure{code: code, detail: clean(detail, maxDetail), hint: hint(code)}
	switch {
	case f.hint != "":
		return notify.Permanent(f)
	case unfit(code):
		return notify.Refused(f)
	}
	switch code {
	case "message_not_found", "thread_not_found", "cannot_reply_to_message":
		return fmt.Errorf("%w: %w", errGone, f)
	case "ratelimited", "rate_limited", "message_limit_exceeded":
		return &notify.Later{After: soon, Err: f}
	}
	return f
}

// known tells Slack's words from others.
func known(code string) bool { return standing(code) != "" || unfit(code) }

// unfit tells a message that Slack never takes, although it takes others.
func unfit(code string) bool {
	switch code {
	case "msg_too_long", "msg_blocks_too_long", "no_text", "invalid_blocks", "invalid_blocks_format", "block_mismatch",
		"invalid_metadata_format", "invalid_metadata_schema", "metadata_too_large", "invalid_payload", "invalid_arguments",
		"invalid_array_arg", "invalid_form_data", "missing_text_or_fallback_or_attachments", "invalid_attachments":
		return true
	}
	return false
}

// standing returns what to do about a failure that lasts until somebody does
// it; "" for one that may pass.
func standing(code string) string {
	switch code {
	case "invalid_auth", "not_authed":
		return "the token is not valid, or not any more: write the bot token (xoxb-…) from the app's settings in Slack into token_file"
	case "token_revoked", "token_expired", "account_inactive":
		return "install the app in the workspace again, and write its new bot token (xoxb-…) into token_file"
	case "not_allowed_token_type":
		return "token_file wants a bot token (xoxb-…), app_token_file an app-level token (xapp-…)"
	case "missing_scope", "no_permission":
		return "give the app the scopes that docs/slack.md lists, and install it again"
	case "channel_not_found":
		return "see that channel is the ID of a channel of this workspace; a private one must have the app in it: /invite @driftd"
	case "not_in_channel":
		return "invite the app to the channel: /invite @driftd"
	case "is_archived", "is_inactive", "channel_is_archived":
		return "the channel is archived: unarchive it, or set another channel"
	case "no_service", "no_service_id", "no_active_hooks", "no_team", "team_disabled", "invalid_token", "user_not_found":
		return "the webhook is gone: make a new one in the app's settings, and write its address into webhook_url_file"
	case "team_access_not_granted", "org_login_required", "ekm_access_denied", "access_denied", "enterprise_is_restricted",
		"action_prohibited", "posting_to_general_channel_denied", "team_added_to_org":
		return "the workspace does not let the app post: ask its administrators"
	}
	if strings.HasPrefix(code, "restricted_action") {
		return "the workspace does not let the app post in this channel: ask its administrators"
	}
	return ""
}

// standingOfApp is standing for what is done with the app-level token.
func standingOfApp(code string) string {
	switch code {
	case "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "not_allowed_token_type", "missing_scope", "no_permission":
		return "make an app-level token (xapp-…) with the scope connections:write in the app's settings in Slack, and write it into app_token_file"
	}
	return standing(code)
}
