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

// connectAction is the action that uses the app-level token.
const connectAction = "connect"

// errDeleted means that the message to edit or to reply to was deleted.
var errDeleted = errors.New("the message was deleted")

// errInvalidResponse replaces an error that may contain text of the server.
var errInvalidResponse = errors.New("the response is not from Slack: check the proxies between driftd and Slack")

// defaultPause is the pause after a rate limit error without a duration.
const defaultPause = time.Minute

// maxDetail is the maximum length of Slack's details in an error, in characters.
const maxDetail = 200

// A failure is an error response of Slack.
type failure struct {
	code, detail string
	// hint is the next step, or "".
	hint string
}

// Error returns the code, the detail and the next step.
func (f *failure) Error() string {
	text := f.code
	if f.detail != "" {
		text += " (" + f.detail + ")"
	}
	if f.hint != "" {
		text += "; " + f.hint
	}
	return text
}

// codeOf returns Slack's error code in err, or "" if there is none.
func codeOf(err error) string {
	if f := (*failure)(nil); errors.As(err, &f) {
		return f.code
	}
	return ""
}

// A classified error was returned by statusError.
type classified struct{ error }

// Unwrap returns the error.
func (c classified) Unwrap() error { return c.error }

// explain adds the failed action and the next step to err. It marks an error that a retry does not
// fix as permanent, and an error of a single message as refused.
func explain(what string, err error) error {
	var response slack.SlackErrorResponse
	switch {
	case err == nil:
		return nil
	case errors.As(err, &response):
		hint := permanentHint
		if what == connectAction {
			hint = permanentAppHint
		}
		err = codeError(response.Err, detail(response), hint)
	case !errors.As(err, new(classified)) && !errors.As(err, new(*httpclient.Timeout)):
		if err = post.Cause(err); errors.Is(err, post.ErrGarbled) {
			err = errInvalidResponse
		}
	}
	if hint := words().Hint(err); hint != "" {
		return fmt.Errorf("%s: %w; %s", what, err, hint)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// detail returns the details of an error response.
func detail(response slack.SlackErrorResponse) string {
	if response.Needed != "" {
		return "needed: " + response.Needed
	}
	return strings.Join(response.ResponseMetadata.Messages, ", ")
}

// words returns the words for errors of requests to Slack.
func words() httpclient.Words {
	return httpclient.Words{
		Server: "Slack", Address: "api_url",
		Authority: "this machine does not trust the certificate authority: check the proxies between driftd and Slack",
		Expired:   "check the clock of this machine",
		Host:      "the certificate is for another host: check api_url and the proxies between driftd and Slack",
	}
}

// codeError returns the error for an error code of Slack. hint returns the next step for a code. An
// error with a hint is permanent.
func codeError(code, detail string, hint func(code string) string) error {
	if len(code) > maxCode || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		code = "an unknown error"
	}
	f := &failure{code: code, detail: clean(detail, maxDetail), hint: hint(code)}
	switch {
	case f.hint != "":
		return notify.Permanent(f)
	case isMessageError(code):
		return notify.Refused(f)
	}
	switch code {
	case "message_not_found", "thread_not_found", "cannot_reply_to_message":
		return fmt.Errorf("%w: %w", errDeleted, f)
	case "ratelimited", "rate_limited", "message_limit_exceeded":
		return &notify.Later{After: defaultPause, Err: f}
	}
	return f
}

// isErrorCode reports whether code is a known error code of Slack.
func isErrorCode(code string) bool { return permanentHint(code) != "" || isMessageError(code) }

// isMessageError reports whether code means that Slack does not accept this message.
func isMessageError(code string) bool {
	switch code {
	case "msg_too_long", "msg_blocks_too_long", "no_text", "invalid_blocks", "invalid_blocks_format", "block_mismatch",
		"invalid_metadata_format", "invalid_metadata_schema", "metadata_too_large", "invalid_payload", "invalid_arguments",
		"invalid_array_arg", "invalid_form_data", "missing_text_or_fallback_or_attachments", "invalid_attachments":
		return true
	}
	return false
}

// permanentHint returns the next step for an error that a retry does not fix. It returns "" for
// other errors.
func permanentHint(code string) string {
	switch code {
	case "invalid_auth", "not_authed":
		return "the token is invalid: write the bot token (xoxb-…) from the app's settings in Slack into token_file"
	case "token_revoked", "token_expired", "account_inactive":
		return "install the app in the workspace again, and write its new bot token (xoxb-…) into token_file"
	case "not_allowed_token_type":
		return "token_file must contain a bot token (xoxb-…), and app_token_file an app-level token (xapp-…)"
	case "missing_scope", "no_permission":
		return "give the app the scopes that docs/slack.md lists, and install it again"
	case "channel_not_found":
		return "set channel to the ID of a channel of this workspace; invite the app to a private channel: /invite @driftd"
	case "not_in_channel":
		return "invite the app to the channel: /invite @driftd"
	case "is_archived", "is_inactive", "channel_is_archived":
		return "the channel is archived: unarchive it, or set another channel"
	case "no_service", "no_service_id", "no_active_hooks", "no_team", "team_disabled", "invalid_token", "user_not_found":
		return "the webhook was deleted: create a new one in the app's settings, and write its address into webhook_url_file"
	case "team_access_not_granted", "org_login_required", "ekm_access_denied", "access_denied", "enterprise_is_restricted",
		"action_prohibited", "posting_to_general_channel_denied", "team_added_to_org":
		return "the workspace does not allow the app to post: ask its administrators"
	}
	if strings.HasPrefix(code, "restricted_action") {
		return "the workspace does not allow the app to post in this channel: ask its administrators"
	}
	return ""
}

// permanentAppHint is permanentHint for requests with the app-level token.
func permanentAppHint(code string) string {
	switch code {
	case "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "not_allowed_token_type", "missing_scope", "no_permission":
		return "create an app-level token (xapp-…) with the scope connections:write in the app's settings in Slack, and write it into app_token_file"
	}
	return permanentHint(code)
}
