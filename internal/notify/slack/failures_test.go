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
		// twice tells that bare text is not taken either.
		twice bool
	}{
		"revoked":        {"the app was taken out of the workspace", says("token_revoked"), permanent, "install the app", false},
		"inactive":       {"the same", says("account_inactive"), permanent, "install the app", false},
		"expired":        {"the same", says("token_expired"), permanent, "install the app", false},
		"invalid":        {"a wrong token", says("invalid_auth"), permanent, "the token is invalid", false},
		"none":           {"no token", says("not_authed"), permanent, "the token is invalid", false},
		"no channel":     {"the channel was deleted", says("channel_not_found"), permanent, "/invite @driftd", false},
		"outside":        {"the app is not in the channel", says("not_in_channel"), permanent, "invite the app to the channel: /invite @driftd", false},
		"archived":       {"nobody may post there", says("is_archived"), permanent, "unarchive", false},
		"restricted":     {"administrators say so", says("restricted_action_read_only_channel"), permanent, "administrators", false},
		"too long":       {"this message only", says("msg_blocks_too_long"), refused, "msg_blocks_too_long", true},
		"invalid blocks": {"this message only", says("invalid_blocks"), refused, "invalid_blocks", true},
		"slack is ill":   {"another try may do", says("internal_error"), plain, "internal_error", false},
		"unknown":        {"a word that nobody knows may pass", says("some_new_word"), plain, "some_new_word", false},
		"no word":        {"an unknown error code is not part of the error", says("s3cr3t \u202e <!here>"), plain, "an unknown error", false},
		"limited":        {"Slack says how long to wait", answers(429, "Retry-After", "7"), after(7 * time.Second), "429", false},
		"limited long":   {"but not for ever", answers(429, "Retry-After", "99999999"), after(time.Hour), "429", false},
		"limited a word": {"in a word, without how long", says("ratelimited"), after(time.Minute), "ratelimited", false},
		"500":            {"another try may do", answers(500), plain, "500", false},
		"401":            {"a proxy wants something", answers(401), permanent, "401", false},
		"redirect":       {"a token goes nowhere else", answers(302, "Location", "/elsewhere"), plain, "redirects are not followed", false},
		"no json":        {"a page of a proxy", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>s3cr3t") }, plain, "not from Slack", false},
		"broken off":     {"the connection ended", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, plain, "unexpected EOF", false},
		"no message":     {"an answer that names nothing", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"ok":true}`) }, plain, "names no message", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			to := mustOpen(t, w.settings(nil))
			w.fails("chat.postMessage", test.fault)
			if test.twice {
				w.fails("chat.postMessage", test.fault)
			}
			_, err := to.Notifier.Notify(t.Context(), model.OutboxEntry{Message: first()})
			if !test.is(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %v", test.reason, err)
			}
			if err != nil {
				hides(t, err.Error())
			}
			deliver(t, to, first(), "") // and then all is well
		})
	}
}

// TestMissingScope: the error names the scope.
func TestMissingScope(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.fails("chat.postMessage", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"ok":false,"error":"missing_scope","needed":"chat:write","provided":"x"}`)
	})
	_, err := mustOpen(t, w.settings(nil)).Notifier.Notify(t.Context(), model.OutboxEntry{Message: first()})
	if !errors.Is(err, notify.ErrPermanent) || !strings.Contains(err.Error(), "missing_scope (needed: chat:write)") {
		t.Errorf("error %v", err)
	}
}

func TestSlow(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.fails("chat.postMessage", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err := mustOpen(t, w.settings(settings{"timeout": 50 * time.Millisecond})).Notifier.Notify(t.Context(), model.OutboxEntry{Message: first()})
	if err == nil || !strings.Contains(err.Error(), "no full answer within 50ms; ") {
		t.Errorf("error %v", err)
	}
}

// TestPace: Slack takes one message a second in a channel; edits count.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wait := driftdslack.NewPace(time.Second)
		began := time.Now()
		var turns []time.Duration
		for range 3 {
			if err := wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			turns = append(turns, time.Since(began))
		}
		time.Sleep(10 * time.Second)
		if err := wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		turns = append(turns, time.Since(began))
		if diff := cmp.Diff([]time.Duration{0, time.Second, 2 * time.Second, 12 * time.Second}, turns); diff != "" {
			t.Errorf("turns (-want +got):\n%s", diff)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// TestPaced: posting and editing wait for their turn.
func TestPaced(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	to := mustOpen(t, w.settings(settings{"pace": time.Hour}))
	receipt := deliver(t, to, first(), "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := to.Notifier.Notify(ctx, model.OutboxEntry{Message: next(), Receipt: receipt}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n := len(w.called()); n != 1 {
		t.Errorf("%d calls", n)
	}
}
