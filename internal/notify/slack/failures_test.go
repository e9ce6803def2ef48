package slack_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	driftdslack "github.com/driftd/driftd/internal/notify/slack"
)

// TestFailures checks the error and its mark for each failure.
func TestFailures(t *testing.T) {
	t.Parallel()
	plain := func(err error) bool {
		return err != nil && !errors.Is(err, notify.ErrPermanent) && !errors.Is(err, notify.ErrRefused) && !errors.As(err, new(*notify.Later))
	}
	permanent := func(err error) bool { return errors.Is(err, notify.ErrPermanent) }
	refused := func(err error) bool { return errors.Is(err, notify.ErrRefused) }
	after := func(d time.Duration) func(error) bool {
		return func(err error) bool {
			var later *notify.Later
			return errors.As(err, &later) && later.After == d
		}
	}
	tests := map[string]struct {
		reason string
		fault  http.HandlerFunc
		is     func(error) bool
		want   string
		// twice is set if the text without blocks is refused too.
		twice bool
	}{
		"revoked":        {"the app was removed from the workspace", slackError("token_revoked"), permanent, "install the app", false},
		"inactive":       {"the account was deactivated", slackError("account_inactive"), permanent, "install the app", false},
		"expired":        {"the token has expired", slackError("token_expired"), permanent, "install the app", false},
		"invalid":        {"the token is wrong", slackError("invalid_auth"), permanent, "the token is invalid", false},
		"none":           {"the token is missing", slackError("not_authed"), permanent, "the token is invalid", false},
		"no channel":     {"the channel was deleted", slackError("channel_not_found"), permanent, "/invite @driftd", false},
		"outside":        {"the app is not in the channel", slackError("not_in_channel"), permanent, "invite the app to the channel: /invite @driftd", false},
		"archived":       {"messages cannot be posted to an archived channel", slackError("is_archived"), permanent, "unarchive", false},
		"restricted":     {"administrators restrict the channel", slackError("restricted_action_read_only_channel"), permanent, "administrators", false},
		"too long":       {"only this message is refused", slackError("msg_blocks_too_long"), refused, "msg_blocks_too_long", true},
		"invalid blocks": {"only this message is refused", slackError("invalid_blocks"), refused, "invalid_blocks", true},
		"internal error": {"a retry may succeed", slackError("internal_error"), plain, "internal_error", false},
		"unknown":        {"an error with an unknown code is retried", slackError("some_new_word"), plain, "some_new_word", false},
		"invalid code":   {"an unknown error code is not part of the error", slackError("s3cr3t \u202e <!here>"), plain, "an unknown error", false},
		"limited":        {"the response has the pause", httpResponse(429, "Retry-After", "7"), after(7 * time.Second), "429", false},
		"limited long":   {"the pause is limited", httpResponse(429, "Retry-After", "99999999"), after(time.Hour), "429", false},
		"limited code":   {"the response has no pause", slackError("ratelimited"), after(time.Minute), "ratelimited", false},
		"500":            {"a retry may succeed", httpResponse(500), plain, "500", false},
		"401":            {"a proxy requires authentication", httpResponse(401), permanent, "401", false},
		"redirect":       {"a redirect would send the token to another address", httpResponse(302, "Location", "/elsewhere"), plain, "redirects are not followed", false},
		"no json":        {"a proxy responds with a page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>s3cr3t") }, plain, "not from Slack", false},
		"disconnected":   {"the connection ended", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, plain, "unexpected EOF", false},
		"no message":     {"the response has no timestamp", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"ok":true}`) }, plain, "has no timestamp", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.settings(nil))
			w.setFaults("chat.postMessage", test.fault)
			if test.twice {
				w.setFaults("chat.postMessage", test.fault)
			}
			_, err := to.Notifier.Notify(t.Context(), model.OutboxEntry{Message: firstMessage()})
			if !test.is(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %v", test.reason, err)
			}
			if err != nil {
				checkNoSecrets(t, err.Error())
			}
			deliver(t, to, firstMessage(), "") // the next delivery succeeds
		})
	}
}

// TestMissingScope checks that the error names the missing scope.
func TestMissingScope(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.setFaults("chat.postMessage", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"ok":false,"error":"missing_scope","needed":"chat:write","provided":"x"}`)
	})
	_, err := mustOpen(t, w.settings(nil)).Notifier.Notify(t.Context(), model.OutboxEntry{Message: firstMessage()})
	if !errors.Is(err, notify.ErrPermanent) || !strings.Contains(err.Error(), "missing_scope (needed: chat:write)") {
		t.Errorf("error %v", err)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.setFaults("chat.postMessage", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err := mustOpen(t, w.settings(settings{"timeout": 50 * time.Millisecond})).Notifier.Notify(t.Context(), model.OutboxEntry{Message: firstMessage()})
	if err == nil || !strings.Contains(err.Error(), "no full answer within 50ms; ") {
		t.Errorf("error %v", err)
	}
}

// TestRateLimiter checks the times at which calls continue.
func TestRateLimiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wait := driftdslack.NewRateLimiter(time.Second)
		began := time.Now()
		var times []time.Duration
		for range 3 {
			if err := wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			times = append(times, time.Since(began))
		}
		time.Sleep(10 * time.Second)
		if err := wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(began))
		if diff := cmp.Diff([]time.Duration{0, time.Second, 2 * time.Second, 12 * time.Second}, times); diff != "" {
			t.Errorf("times (-want +got):\n%s", diff)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// TestEditIsRateLimited checks that edits count for the rate limit too.
func TestEditIsRateLimited(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, w.settings(settings{"pace": time.Hour}))
	receipt := deliver(t, to, firstMessage(), "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := to.Notifier.Notify(ctx, model.OutboxEntry{Message: nextMessage(), Receipt: receipt}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n := len(w.calledMethods()); n != 1 {
		t.Errorf("got %d calls, want 1", n)
	}
}
